#include "types.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace mcphttp;

TEST_CASE("a tool definition is read member by member") {
  const std::string text =
      R"({"name":"a\u0062","title":"T","description":"D\n","inputSchema":{"type":"object"},)"
      R"("outputSchema":{},"annotations":{"readOnlyHint":true},"_meta":{"x":1}})";
  const Tool tool = to_tool(json::Value(text));
  CHECK(tool.name == "ab");
  CHECK(tool.title == "T");
  CHECK(tool.description == "D\n");
  CHECK(tool.input_schema == R"({"type":"object"})");
  CHECK(tool.output_schema == "{}");
  CHECK(tool.annotations == R"({"readOnlyHint":true})");
  CHECK(tool.json == text);
}

TEST_CASE("members of a definition that are absent or of the wrong type are empty") {
  for (const std::string text :
       {"{}", "null", "5", "[]",
        R"({"name":1,"title":null,"description":[],"inputSchema":"x","outputSchema":null,)"
        R"("annotations":true})"}) {
    const Tool tool = to_tool(json::Value(text));
    CAPTURE(text);
    CHECK(tool.name.empty());
    CHECK(tool.title.empty());
    CHECK(tool.description.empty());
    CHECK(tool.input_schema.empty());
    CHECK(tool.output_schema.empty());
    CHECK(tool.annotations.empty());
    CHECK(tool.json == text);
  }
}

TEST_CASE("every type of content block is read") {
  struct Case {
    std::string json;
    ContentBlock expected;
  };
  const std::vector<Case> cases = {
      {R"({"type":"text","text":"a\"b"})", {"text", "a\"b", "", "", "", "", ""}},
      {R"({"type":"image","data":"QQ==","mimeType":"image/png"})",
       {"image", "", "QQ==", "image/png", "", "", ""}},
      {R"({"type":"audio","data":"Qg==","mimeType":"audio/wav"})",
       {"audio", "", "Qg==", "audio/wav", "", "", ""}},
      {R"({"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain"})",
       {"resource_link", "", "", "text/plain", "file:///a", "a", ""}},
      {R"({"type":"resource","resource":{"uri":"x:y","mimeType":"text/css","text":"t"}})",
       {"resource", "t", "", "text/css", "x:y", "", ""}},
      {R"({"type":"resource","resource":{"uri":"x:y","blob":"QQ=="}})",
       {"resource", "", "QQ==", "", "x:y", "", ""}},
      {R"({"type":"resource","resource":5,"text":"t"})", {"resource", "", "", "", "", "", ""}},
      {R"({"type":"resource","text":"t"})", {"resource", "t", "", "", "", "", ""}},
      {R"({"type":"text","text":"t","resource":{"text":"other"},"blob":"QQ=="})",
       {"text", "t", "", "", "", "", ""}},
      {R"({"type":"new","text":"t","uri":5})", {"new", "t", "", "", "", "", ""}},
      {R"({"text":"t"})", {"", "t", "", "", "", "", ""}},
      {"7", {"", "", "", "", "", "", ""}},
  };
  for (const Case& c : cases) {
    const std::string text = R"({"content":[)" + c.json + "]}";
    const ToolResult result = to_tool_result(json::Value(text));
    CAPTURE(c.json);
    REQUIRE(result.content.size() == 1);
    const ContentBlock& block = result.content[0];
    CHECK(block.type == c.expected.type);
    CHECK(block.text == c.expected.text);
    CHECK(block.data == c.expected.data);
    CHECK(block.mime_type == c.expected.mime_type);
    CHECK(block.uri == c.expected.uri);
    CHECK(block.name == c.expected.name);
    CHECK(block.json == c.json);
  }
}

TEST_CASE("a tool result keeps its blocks in order and its text whole") {
  const std::string text = R"({"content":[{"type":"text","text":"1"},{"type":"text","text":"2"}],)"
                           R"("structuredContent":{"n": 12345678901234567890},"isError":true})";
  const ToolResult result = to_tool_result(json::Value(text));
  REQUIRE(result.content.size() == 2);
  CHECK(result.content[0].text == "1");
  CHECK(result.content[1].text == "2");
  CHECK(result.structured_content == R"({"n": 12345678901234567890})");
  CHECK(result.is_error);
  CHECK(result.json == text);
}

TEST_CASE("a tool result of odd shape is empty, not an error") {
  for (const std::string text :
       {"{}", "[]", "null", R"({"content":{}})", R"({"content":null,"structuredContent":null})",
        R"({"content":[],"isError":"true","structuredContent":[1]})", R"({"isError":null})"}) {
    const ToolResult result = to_tool_result(json::Value(text));
    CAPTURE(text);
    CHECK(result.content.empty());
    CHECK(result.structured_content.empty());
    CHECK_FALSE(result.is_error);
    CHECK(result.json == text);
  }
}
