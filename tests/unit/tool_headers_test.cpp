#include "tool_headers.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace mcphttp;
using Strings = std::vector<std::string>;

namespace {

// "name=path.to.property" for each mirrored parameter; nothing if the schema is invalid.
std::optional<Strings> mirrored(const std::string& schema) {
  const auto headers = find_tool_headers(json::Value(schema));
  if (!headers) return std::nullopt;
  Strings out;
  for (const ToolHeader& header : *headers) {
    std::string line = header.name + "=";
    for (const std::string& step : header.path) line += (line.back() == '=' ? "" : ".") + step;
    out.push_back(line);
  }
  return out;
}

// A schema with one property, which has these members.
std::string with_property(const std::string& members) {
  return R"({"type":"object","properties":{"p":{)" + members + "}}}";
}

}  // namespace

// --- Value Encoding

TEST_CASE("header values are encoded as the examples of MCP 2026-07-28 show") {
  struct Case {
    std::string value;
    std::string encoded;
  };
  const std::vector<Case> cases = {
      {"us-west1", "us-west1"},
      {"Hello, \xE4\xB8\x96\xE7\x95\x8C", "=?base64?SGVsbG8sIOS4lueVjA==?="},
      {" padded ", "=?base64?IHBhZGRlZCA=?="},
      {"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
      {"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
      {"", "=?base64?\?="},
  };
  for (const Case& c : cases) {
    CAPTURE(c.value);
    CHECK(encode_header_value(c.value) == c.encoded);
  }
}

TEST_CASE("a value is encoded exactly where a header would not carry it unchanged") {
  for (const std::string as_it_is :
       {"a b", "a\tb", "~!@#$%^&*()", "=?base64?x", "x?=", "=?base64?=", "=?BASE64?x", "\"", ","}) {
    CAPTURE(as_it_is);
    CHECK(encode_header_value(as_it_is) == as_it_is);
  }
  for (const std::string& encoded :
       {std::string(" a"), std::string("a "), std::string("\ta"), std::string("a\t"),
        std::string(" "), std::string("a\rb"), std::string("a\x7F"), std::string("a\0b", 3),
        std::string("\xC3\xA4"), std::string("=?base64?\?=")}) {
    CAPTURE(encoded);
    const std::string value = encode_header_value(encoded);
    CHECK(value.substr(0, 9) == "=?base64?");
    CHECK(value.substr(value.size() - 2) == "?=");
  }
}

// --- Standard Request Headers

TEST_CASE("method and name of a message are mirrored") {
  struct Case {
    std::string method;
    std::string params;
    Strings lines;
  };
  const std::vector<Case> cases = {
      {"tools/list", "", {"Mcp-Method: tools/list"}},
      {"tools/list", R"({"name":"x","uri":"y"})", {"Mcp-Method: tools/list"}},
      {"tools/call", R"({"name":"t","uri":"y"})", {"Mcp-Method: tools/call", "Mcp-Name: t"}},
      {"prompts/get", R"({"name":"p"})", {"Mcp-Method: prompts/get", "Mcp-Name: p"}},
      {"resources/read",
       R"({"name":"x","uri":"file:///a"})",
       {"Mcp-Method: resources/read", "Mcp-Name: file:///a"}},
      {"tools/call", R"({"name":"\u0061"})", {"Mcp-Method: tools/call", "Mcp-Name: a"}},
      {"tools/call",
       R"({"name":"\u00e4"})",
       {"Mcp-Method: tools/call", "Mcp-Name: =?base64?w6Q=?="}},
      {"tools/call",
       R"({"name":"a\r\nX: y"})",
       {"Mcp-Method: tools/call", "Mcp-Name: =?base64?YQ0KWDogeQ==?="}},
      {"tools/call", "", {"Mcp-Method: tools/call"}},
      {"tools/call", R"({"name":1})", {"Mcp-Method: tools/call"}},
      {"tools/call", "{}", {"Mcp-Method: tools/call"}},
      {"a\nb", "", {"Mcp-Method: =?base64?YQpi?="}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.method, c.params);
    CHECK(standard_header_lines(c.method, c.params) == c.lines);
  }
}

// --- Schema Extension

TEST_CASE("annotated parameters are found along properties, however deep") {
  CHECK(mirrored("{}") == Strings{});
  CHECK(mirrored("null") == Strings{});
  CHECK(mirrored(R"({"type":"object","properties":{"a":{"type":"string"}}})") == Strings{});
  CHECK(mirrored(with_property(R"("type":"string","x-mcp-header":"Region")")) ==
        Strings{"Region=p"});
  CHECK(mirrored(with_property(R"("type":"integer","x-mcp-header":"N")")) == Strings{"N=p"});
  CHECK(mirrored(with_property(R"("type":"boolean","x-mcp-header":"B")")) == Strings{"B=p"});
  CHECK(mirrored(with_property(
            R"("type":"object","properties":{"q\u0071":{"type":"object","properties":)"
            R"({"r":{"type":"string","x-mcp-header":"Deep"}}}})")) == Strings{"Deep=p.qq.r"});
  CHECK(mirrored(with_property(R"("type":"string","\u0078-mcp-header":"Region")")) ==
        Strings{"Region=p"});
}

TEST_CASE("an annotation that breaks a rule makes the tool invalid") {
  const std::vector<std::string> members = {
      R"("type":"number","x-mcp-header":"A")",
      R"("type":"object","x-mcp-header":"A")",
      R"("type":"array","x-mcp-header":"A")",
      R"("type":"null","x-mcp-header":"A")",
      R"("x-mcp-header":"A")",
      R"("type":1,"x-mcp-header":"A")",
      R"("type":"string","x-mcp-header":"")",
      R"("type":"string","x-mcp-header":"a b")",
      R"("type":"string","x-mcp-header":"a:b")",
      R"("type":"string","x-mcp-header":"a\r\nb")",
      R"("type":"string","x-mcp-header":"\u00e4")",
      R"("type":"string","x-mcp-header":1)",
      R"("type":"string","x-mcp-header":null)",
      R"("type":"string","x-mcp-header":{})",
  };
  for (const std::string& member : members) {
    CAPTURE(member);
    const std::string schema = with_property(member);
    const auto headers = find_tool_headers(json::Value(schema));
    REQUIRE_FALSE(headers);
    CHECK(headers.error().code == ErrorCode::malformed_message);
    CHECK_FALSE(headers.error().detail.empty());
  }
}

TEST_CASE("an annotation that properties alone do not lead to makes the tool invalid") {
  const std::string annotated = R"({"type":"string","x-mcp-header":"A"})";
  const std::string object = R"({"type":"object","properties":{"q":)" + annotated + "}}";
  const std::vector<std::string> schemas = {
      annotated,
      with_property(R"("type":"array","items":)" + annotated),
      with_property(R"("type":"array","items":)" + object),
      with_property(R"("oneOf":[)" + annotated + "]"),
      with_property(R"("anyOf":[{"type":"null"},)" + object + "]"),
      with_property(R"("allOf":[)" + annotated + "]"),
      with_property(R"("not":)" + annotated),
      with_property(R"("type":"object","additionalProperties":)" + annotated),
      R"({"if":)" + object + "}",
      R"({"properties":{"p":{"$ref":"#/$defs/d"}},"$defs":{"d":)" + annotated + "}}",
      R"({"patternProperties":{"^p":)" + annotated + "}}",
      R"({"$defs":{"properties":)" + annotated + "}}",
  };
  for (const std::string& schema : schemas) {
    CAPTURE(schema);
    CHECK_FALSE(mirrored(schema));
  }
}

TEST_CASE("the same header name twice, whatever its case, makes the tool invalid") {
  const auto schema = [](const std::string& first, const std::string& second) {
    return R"({"properties":{"a":{"type":"string","x-mcp-header":")" + first +
           R"("},"b":{"properties":{"c":{"type":"string","x-mcp-header":")" + second + R"("}}}}})";
  };
  CHECK(mirrored(schema("Region", "Zone")) == Strings{"Region=a", "Zone=b.c"});
  CHECK_FALSE(mirrored(schema("Region", "Region")));
  CHECK_FALSE(mirrored(schema("Region", "rEGION")));
}

TEST_CASE("what is merely called like the annotation is none") {
  const std::vector<std::string> schemas = {
      R"({"properties":{"x-mcp-header":{"type":"string"}}})",
      R"({"properties":{"p":{"properties":{"x-mcp-header":{"type":"object"}}}}})",
      R"({"properties":{"properties":{"type":"object","properties":{"x-mcp-header":{}}}}})",
      R"({"$defs":{"x-mcp-header":{"type":"string"}}})",
      with_property(R"("type":"object","default":{"x-mcp-header":"A"})"),
      with_property(R"("const":{"x-mcp-header":"A"})"),
      with_property(R"("enum":["x-mcp-header",{"x-mcp-header":"A"}])"),
      with_property(R"("examples":[{"properties":{"q":{"x-mcp-header":"A"}}}])"),
      with_property(R"("description":"x-mcp-header")"),
  };
  for (const std::string& schema : schemas) {
    CAPTURE(schema);
    CHECK(mirrored(schema) == Strings{});
  }
  CHECK(mirrored(R"({"properties":{"default":{"type":"string","x-mcp-header":"A"}}})") ==
        Strings{"A=default"});
  CHECK(mirrored(R"({"properties":{"x-mcp-header":{"type":"string","x-mcp-header":"A"}}})") ==
        Strings{"A=x-mcp-header"});
}

// --- Custom Headers from Tool Parameters

TEST_CASE("the arguments of a call are mirrored, but for null, absent and compound ones") {
  struct Case {
    std::string arguments;
    Strings lines;
  };
  const std::vector<ToolHeader> headers = {{"A", {"a"}}, {"Deep", {"b", "c"}}};
  const std::vector<Case> cases = {
      {"{}", {}},
      {"null", {}},
      {R"({"a":null})", {}},
      {R"({"a":{},"b":{"c":[]}})", {}},
      {R"({"b":1})", {}},
      {R"({"b":{"d":1}})", {}},
      {R"({"a":"us-west1"})", {"Mcp-Param-A: us-west1"}},
      {R"({"a":"x\ny"})", {"Mcp-Param-A: =?base64?eAp5?="}},
      {R"({"a":""})", {"Mcp-Param-A: =?base64?\?="}},
      {R"({"a":true,"b":{"c":false}})", {"Mcp-Param-A: true", "Mcp-Param-Deep: false"}},
      {R"({"a":42})", {"Mcp-Param-A: 42"}},
      {R"({"a":-7})", {"Mcp-Param-A: -7"}},
      {R"({"a":9007199254740991})", {"Mcp-Param-A: 9007199254740991"}},
      {R"({"a":123456789012345678901234567890})", {"Mcp-Param-A: 123456789012345678901234567890"}},
      {R"({"b":{"c":"deep"},"a":1})", {"Mcp-Param-A: 1", "Mcp-Param-Deep: deep"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.arguments);
    CHECK(tool_header_lines(headers, json::Value(c.arguments)) == c.lines);
  }
}

// --- ToolHeaderTable

TEST_CASE("the table knows what was last said of a tool") {
  ToolHeaderTable table;
  CHECK(table.find("t").empty());
  table.remember("t", {{"A", {"a"}}});
  REQUIRE(table.find("t").size() == 1);
  CHECK(table.find("t")[0].name == "A");
  table.remember("t", {{"B", {"b"}}, {"C", {"c"}}});
  REQUIRE(table.find("t").size() == 2);
  CHECK(table.find("t")[0].path == Strings{"b"});
  CHECK(table.find("T").empty());
  table.remember("t", {});
  CHECK(table.find("t").empty());
}

TEST_CASE("the table is bounded, and what it knows can still be changed when it is full") {
  ToolHeaderTable table;
  for (std::size_t i = 0; i < ToolHeaderTable::max_tools + 10; ++i) {
    table.remember("t" + std::to_string(i), {{"A", {"a"}}});
  }
  CHECK_FALSE(table.find("t" + std::to_string(ToolHeaderTable::max_tools - 1)).empty());
  CHECK(table.find("t" + std::to_string(ToolHeaderTable::max_tools)).empty());
  table.remember("t0", {{"B", {"b"}}});
  CHECK(table.find("t0")[0].name == "B");
  table.remember("t0", {});
  table.remember("late", {{"A", {"a"}}});
  CHECK_FALSE(table.find("late").empty());
}
