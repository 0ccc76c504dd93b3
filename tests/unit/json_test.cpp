#include "json.hpp"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mcphttp/options.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using mcphttp::ErrorCode;
using mcphttp::Result;
namespace json = mcphttp::json;
using namespace std::string_literals;

namespace {

constexpr std::size_t usual_depth = 128;

// Stands for "no error".
constexpr ErrorCode passed = static_cast<ErrorCode>(0);

ErrorCode verdict(std::string text, std::size_t max_depth = usual_depth) {
  json::Checker checker;
  const Result<json::Value> root = checker.check(text, max_depth);
  return root ? passed : root.error().code;
}

std::string detail(std::string text, std::size_t max_depth = usual_depth) {
  json::Checker checker;
  const Result<json::Value> root = checker.check(text, max_depth);
  return root ? "" : root.error().detail;
}

std::string nested(std::size_t depth, const std::string& open, const std::string& close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

std::string as_literal(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out;
}

// Writes down what it is told.
class Recorder final : public json::RootSink {
 public:
  void on_member(json::RawString name, json::Value value) override {
    seen += name.unescaped() + "=" + std::string(value.raw()) + ";";
  }
  void on_element(json::Value value) override { seen += std::string(value.raw()) + ";"; }

  std::string seen;
};

std::string recorded(std::string text) {
  json::Checker checker;
  Recorder recorder;
  if (!checker.check(text, usual_depth, &recorder)) return "refused";
  return recorder.seen;
}

std::vector<std::string> good_texts() {
  return {
      "null",
      "true",
      "false",
      "0",
      "-0",
      "-1",
      "10",
      "1.5",
      "1e5",
      "1E+5",
      "1e-05",
      "0.0",
      "-0.0e0",
      "1e400",
      "-1e-400",
      "18446744073709551616",
      "9223372036854775808",
      std::string(400, '7'),
      "\"\"",
      "\"a\"",
      "\"\\\"\"",
      "\"\\\\\"",
      "\"\\\\\\\"\"",
      "\"\\b\\f\\n\\r\\t\\/\"",
      "\"\\u0000\"",
      "\"\\uABcd\"",
      "\"\\ud83d\\ude00\"",
      "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
      "\"\x7f\"",
      "\"{[,:]}\"",
      // Lone surrogate escapes.
      "\"\\ud800\"",
      "\"\\udc00\"",
      "\"\\ud800x\"",
      "\"\\ud800\\n\"",
      "\"\\ud800\\ud800\"",
      "\"\\udc00\\ud800\"",
      "{\"\\ud800\":1}",
      "[]",
      "{}",
      "[[]]",
      "[{}]",
      "{\"a\":{}}",
      "{\"a\":[]}",
      "[1]",
      "[1,2]",
      "{\"a\":1}",
      "{\"a\":1,\"a\":2}",
      "{\"\":0}",
      " \t\r\n[ 1 , \"x\" , { \"a\" : null } ]\n ",
      " 1 ",
      "\xEF\xBB\xBF{}",
      "\xEF\xBB\xBF \"a\"",
      R"({"id":1,"result":{"a":[1]}})",
      R"([["a",1],{"b":"c"},"d",true])",
  };
}

std::vector<std::string> bad_texts() {
  return {
      "",
      " ",
      "\n",
      "\xEF\xBB\xBF",
      "\xEF\xBB\xBF\xEF\xBB\xBF{}",
      "{\xEF\xBB\xBF}",
      "\xEF\xBB{}",
      // What On-Demand lets pass when it skips.
      R"({"x": tru, "y":1})",
      R"({"y":[1,,2]})",
      R"({"z":01})",
      R"({"x": tru, "y":[1,,2], "z":01})",
      R"({"a":1}{"b":2})",
      R"([["a":1]]])",
      R"([["a":1],2])",
      R"({"a":["b":1]})",
      R"([{"a":{"b","c":1}}])",
      // Numbers and literals.
      "01",
      "-",
      "-01",
      "1.",
      ".5",
      "1e",
      "1e+",
      "+1",
      "1.e5",
      "0x1",
      "1a",
      "1 2",
      "--1",
      "NaN",
      "Infinity",
      "-Infinity",
      "00",
      "[01]",
      "[-]",
      "[1.]",
      "[.5]",
      "[1e]",
      "[+1]",
      "[1_0]",
      "tru",
      "truee",
      "True",
      "nul",
      "nulll",
      "[tru]",
      "[true1]",
      "[nullx]",
      "[1\"a\"]",
      "[\"a\"1]",
      "[\"a\"\"b\"]",
      "[1 2]",
      "[true false]",
      // Structure.
      "[",
      "]",
      "{",
      "}",
      "[1",
      "[1,",
      "[1,]",
      "[,1]",
      "[,]",
      "[1,,2]",
      "[1}",
      "{]",
      "{\"a\"}",
      "{\"a\":}",
      "{\"a\":1,}",
      "{,}",
      "{a:1}",
      "{1:2}",
      "{'a':1}",
      "{\"a\" 1}",
      "{\"a\"::1}",
      "{\"a\":1 \"b\":2}",
      "{\"a\":1:2}",
      "{\"a\",1}",
      "{[]:1}",
      "[:]",
      "[\"a\":1]",
      ":",
      ",",
      "[]]",
      "[[]",
      "{}}",
      "{{}",
      "{\"a\":{}",
      "[{]}",
      "[[1]",
      "[1]]",
      "{\"a\":[}]",
      "[/**/]",
      "[1]//",
      "[]x",
      "[] x",
      "[]1",
      "[]\"a\"",
      "{}[]",
      "\"a\" \"b\"",
      "1,2",
      "null null",
      "\"a\"x",
      "x\"a\"",
      // Strings.
      "\"",
      "\"a",
      "\"a\\\"",
      "'a'",
      "\"\\x41\"",
      "\"\\u\"",
      "\"\\u123\"",
      "\"\\u12g4\"",
      "\"\\U0041\"",
      "\"\\a\"",
      "\"\\'\"",
      "\"\\\n\"",
      "[\"\\u00\"]",
      "{\"\\q\":1}",
      "\"\\ud800\\u\"",
      "\"\n\"",
      "\"\t\"",
      "\"\x01\"",
      "\"\x1f\"",
      "\"\0\""s,
      "[\"a\nb\"]",
      "{\"a\nb\":1}",
      // Bytes outside strings.
      "\0"s,
      "[1\0]"s,
      "[1]\0"s,
      "[1\x0c]",
      "[\x0b]",
      "\x0c[]",
      "[1]\x1a",
      "[\xc2\xa0"
      "1]",
      "[1\x0c,2]",
      // Invalid UTF-8.
      "\"\x80\"",
      "\"\xff\"",
      "\"\xc0\x80\"",
      "\"\xc1\xbf\"",
      "\"\xe0\x80\x80\"",
      "\"\xf0\x80\x80\x80\"",
      "\"\xed\xa0\x80\"",
      "\"\xed\xbf\xbf\"",
      "\"\xf4\x90\x80\x80\"",
      "\"\xf5\x80\x80\x80\"",
      "\"\xc3\"",
      "\"\xe2\x82\"",
      "\"\xf0\x9f\x98\"",
      "\"\xc3",
      "{\"\xff\":1}",
      "[\"a\xe2\x28\xa1\"]",
  };
}

}  // namespace

TEST_CASE("every well-formed text passes, alone and as a member or element") {
  for (const std::string& text : good_texts()) {
    CAPTURE(text);
    CHECK(verdict(text) == passed);
    if (text.substr(0, 1) == "\xEF") continue;
    CHECK(verdict("[" + text + "]") == passed);
    CHECK(verdict("{\"a\":" + text + ",\"b\":[0," + text + "]}") == passed);
  }
}

TEST_CASE("every malformed text is refused, alone and as an element") {
  for (const std::string& text : bad_texts()) {
    CAPTURE(text);
    CHECK(verdict(text) == ErrorCode::malformed_json);
  }
  for (const std::string& text :
       {"01"s, "-"s, "1."s, "tru"s, "\"\\x\""s, "[1,]"s, "{\"a\"}"s, "\"\xff\""s}) {
    CAPTURE(text);
    CHECK(verdict("[" + text + ",1]") == ErrorCode::malformed_json);
    CHECK(verdict("{\"a\":[[" + text + "]]}") == ErrorCode::malformed_json);
  }
}

TEST_CASE("a fault is told with its place in our own words") {
  CHECK(detail("{\"a\": tru}") == "malformed JSON at byte 6: neither a literal nor a number");
  CHECK(detail("\xEF\xBB\xBF[01]") == "malformed JSON at byte 4: neither a literal nor a number");
  CHECK(detail("[\"ab\\q\"]") == "malformed JSON at byte 4: an escape that is none");
  CHECK(detail("{}  {}") == "malformed JSON at byte 4: something follows the value");
  CHECK(detail("\"\xff\"") == "malformed JSON: invalid UTF-8");
  CHECK(detail("[[1]]", 1) == "max_json_depth (1) exceeded");
}

TEST_CASE("depth counts open arrays and objects") {
  const std::vector<std::pair<std::string, std::string>> containers = {
      {"[", "]"}, {"{\"a\":", "}"}, {"[{\"a\":", "}]"}};
  for (const auto& container : containers) {
    const std::size_t levels = container.first == "[{\"a\":" ? 2 : 1;
    for (const std::size_t max_depth :
         {std::size_t{2}, std::size_t{128}, std::size_t{1024}, std::size_t{10000}}) {
      CAPTURE(container.first, max_depth);
      const std::size_t times = max_depth / levels;
      CHECK(verdict(nested(times, container.first, container.second), max_depth) == passed);
      CHECK(verdict(nested(times + 1, container.first, container.second), max_depth) ==
            ErrorCode::json_too_deep);
    }
  }
  CHECK(verdict("1", 0) == passed);
  CHECK(verdict("[]", 0) == ErrorCode::json_too_deep);
  CHECK(verdict("{}", 0) == ErrorCode::json_too_deep);
  CHECK(verdict("[[],[],[[]],{\"a\":{}}]", 3) == passed);
}

TEST_CASE("each bracket must close what is innermost, at any depth") {
  constexpr std::size_t depth = 200;
  // Arrays and objects in an order that does not repeat itself every 64 levels.
  const auto is_object = [](std::size_t level) { return level % 3 == 0 || level % 7 == 2; };
  std::string open;
  std::string close;
  for (std::size_t level = 0; level < depth; ++level) {
    open += is_object(level) ? R"({"":)" : "[";
    close.insert(close.begin(), is_object(level) ? '}' : ']');
  }
  CHECK(verdict(open + "1" + close, depth) == passed);
  for (char& bracket : close) {
    const char right = std::exchange(bracket, bracket == '}' ? ']' : '}');
    CHECK(verdict(open + "1" + close, depth) == ErrorCode::malformed_json);
    bracket = right;
  }
}

TEST_CASE("what ends or spoils a string is found wherever it stands") {
  for (std::size_t size = 0; size < 300; ++size) {
    CAPTURE(size);
    const std::string plain(size, 'x');
    const std::string rest(130, 'y');
    CHECK(verdict('"' + plain + '"') == passed);
    CHECK(verdict('"' + plain + "\\n" + rest + '"') == passed);
    CHECK(verdict('"' + plain + "\xC3\xA9" + rest + '"') == passed);
    CHECK(verdict('"' + plain + '"' + rest + '"') == ErrorCode::malformed_json);
    CHECK(verdict('"' + plain + '\x1F' + rest + '"') == ErrorCode::malformed_json);
    CHECK(verdict('"' + plain + '\0' + rest + '"') == ErrorCode::malformed_json);
    CHECK(verdict('"' + plain + "\\x" + rest + '"') == ErrorCode::malformed_json);
    CHECK(verdict('"' + plain) == ErrorCode::malformed_json);
  }
}

TEST_CASE("a million open brackets are refused quickly") {
  CHECK(verdict(nested(1000000, "[", "]")) == ErrorCode::json_too_deep);
  CHECK(verdict(nested(1000000, "{\"a\":", "}")) == ErrorCode::json_too_deep);
  CHECK(verdict(nested(1000000, "[", "]"), mcphttp::unlimited) == ErrorCode::json_too_deep);
  CHECK(verdict(std::string(1000000, '[')) != passed);
  CHECK(verdict(nested(json::greatest_depth, "[", "]"), json::greatest_depth) == passed);
}

TEST_CASE("a text cut at any byte is refused") {
  const std::string text =
      R"({"jsonrpc":"2.0","id":"\u00e9\"","result":{"a":[1,-2.5e+3,true,null,"\\"],"b":{}}})";
  REQUIRE(verdict(text) == passed);
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK(verdict(text.substr(0, size)) == ErrorCode::malformed_json);
  }
}

TEST_CASE("bytes behind the text make no difference") {
  for (const std::string& tail : {"]"s, "}"s, "\""s, "1"s, ",1]"s}) {
    for (const std::string& text : {"[1"s, "[[]"s, "{\"a\":{}"s, "[\"a"s, "1"s, "[1]"s}) {
      std::string buffer;
      buffer.reserve(text.size() + 2 * json::padding);
      buffer = text + tail;
      buffer.resize(text.size());
      CAPTURE(text, tail);
      json::Checker checker;
      CHECK(checker.check(buffer, usual_depth).has_value() == (text == "1" || text == "[1]"));
      CHECK(buffer == text);
    }
  }
}

TEST_CASE("the top level is reported in the same pass") {
  CHECK(recorded(R"( { "a" : 1 , "\u0062" : [ 1, {} ] , "c":"x\"" , "d": {"e":2} } )") ==
        "a=1;b=[ 1, {} ];c=\"x\\\"\";d={\"e\":2};");
  CHECK(recorded("[ 1 , [2 , 3 ] ,{} , \"s\" ]") == "1;[2 , 3 ];{};\"s\";");
  CHECK(recorded("{}").empty());
  CHECK(recorded("[]").empty());
  CHECK(recorded("7").empty());
  CHECK(recorded("\xEF\xBB\xBF{\"a\":null}") == "a=null;");
}

TEST_CASE("the root is returned as a trimmed view into the text") {
  json::Checker checker;
  std::string text = "\xEF\xBB\xBF {\"a\":1} \n";
  const Result<json::Value> root = checker.check(text, usual_depth);
  REQUIRE(root);
  CHECK(root->raw() == "{\"a\":1}");
  CHECK(root->raw().data() == text.data() + 4);
}

TEST_CASE("one checker serves texts of all sizes and after faults, and moves") {
  json::Checker checker;
  std::string big = "[\"" + std::string(std::size_t{3} * 1024 * 1024, 'x') + "\"]";
  std::string bad = "[1,";
  std::string good = "[1]";
  std::string deep = nested(2000, "[", "]");
  for (int round = 0; round < 3; ++round) {
    CHECK(checker.check(good, 1));
    CHECK_FALSE(checker.check(bad, 1));
    CHECK(checker.check(deep, 2000));
    CHECK(checker.check(big, 1));
    CHECK_FALSE(checker.check(deep, 1999));
    json::Checker moved = std::move(checker);
    CHECK(moved.check(good, 1));
    CHECK(checker.check(good, 1));
    checker = std::move(moved);
  }
}

TEST_CASE("a string of 16 MiB passes, with escapes to the brim too") {
  constexpr std::size_t size = std::size_t{16} * 1024 * 1024;
  CHECK(verdict("\"" + std::string(size, 'A') + "\"") == passed);
  CHECK(verdict("[\"" + std::string(size, '\\') + "\"]") == passed);
  CHECK(verdict("[\"" + std::string(size - 1, '\\') + "\"]") == ErrorCode::malformed_json);
}

// Where both should agree: not on lone surrogates and numbers beyond double, which nlohmann
// refuses.
TEST_CASE("random mutations are judged as nlohmann judges them") {
  std::mt19937 random(20261);  // fixed: a failure can be repeated
  const std::vector<std::string> seeds = {
      R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}})",
      R"([["a",1],{"b":"c"},-1.5e3,true,false,null,[],{},[[[]]],"\"\\\/\n"])",
      "{\"k\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\",\"\":[0,-0,10,1e5]}",
      R"([["a",1]])",
  };
  const std::string alphabet = "[]{}:,\"\\ \n\t0123456789-+.eEtrufalsn\x01\x0c\x80\xc3\xe2/bx"s;
  json::Checker checker;
  std::size_t accepted = 0;
  for (int round = 0; round < 60000; ++round) {
    std::string text = seeds[random() % seeds.size()];
    for (std::size_t edits = random() % 4; edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 3 == 0) {
        text.erase(at, 1);
      } else if (random() % 2 == 0) {
        text.insert(at, 1, c);
      } else {
        text[at] = c;
      }
    }
    if (text.find("\\u") != std::string::npos || text.find("e5") != std::string::npos) continue;
    const bool expected = nlohmann::json::accept(text);
    const bool actual = checker.check(text, usual_depth).has_value();
    accepted += actual ? 1 : 0;
    if (expected != actual) FAIL("differs on: " << text);
  }
  CHECK(accepted > 1000);
}

TEST_CASE("a value knows its type and converts only exactly") {
  struct Case {
    std::string text;
    json::Type type;
  };
  const std::vector<Case> cases = {{"null", json::Type::null},       {"true", json::Type::boolean},
                                   {"false", json::Type::boolean},   {"-1", json::Type::number},
                                   {"\"\"", json::Type::string},     {" [ ] ", json::Type::array},
                                   {"{\"a\":1}", json::Type::object}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(json::Value(c.text).type() == c.type);
  }
  CHECK(json::Value().raw() == "null");
  CHECK(json::Value("-9223372036854775808").as_int64() == std::numeric_limits<std::int64_t>::min());
  CHECK(json::Value("9223372036854775807").as_int64() == std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"9223372036854775808", "1.0", "1e2", "\"1\"", "null"}) {
    CAPTURE(text);
    CHECK(json::Value(text).as_int64() == std::nullopt);
  }
  CHECK(json::Value("1.5e1").as_double() == 15.0);
  CHECK(json::Value("7").as_double() == 7.0);
  CHECK(json::Value("1e400").as_double() == std::nullopt);
  CHECK(json::Value("\"1\"").as_double() == std::nullopt);
  CHECK(json::Value("true").as_bool() == true);
  CHECK(json::Value("false").as_bool() == false);
  CHECK(json::Value("0").as_bool() == std::nullopt);
  CHECK(json::Value("1").as_string() == std::nullopt);
}

TEST_CASE("strings are unescaped to valid UTF-8") {
  struct Case {
    std::string raw;
    std::string characters;
  };
  const std::vector<Case> cases = {
      {"", ""},
      {"plain", "plain"},
      {R"(\"\\\/\b\f\n\r\t)", "\"\\/\b\f\n\r\t"},
      {R"(a\u0041b)", "aAb"},
      {R"(\u0000)", "\0"s},
      {R"(\u00e9\u20AC)", "\xc3\xa9\xe2\x82\xac"},
      {R"(\ud83d\ude00)", "\xf0\x9f\x98\x80"},
      {R"(\udbff\udfff)", "\xf4\x8f\xbf\xbf"},
      {R"(\ud800)", "\xEF\xBF\xBD"},
      {R"(\udc00x)", "\xEF\xBF\xBDx"},
      {R"(\ud800\ud83d\ude00)", "\xEF\xBF\xBD\xf0\x9f\x98\x80"},
      {R"(\ud800\u0041)",
       "\xEF\xBF\xBD"
       "A"},
      {R"(\ud800\n)", "\xEF\xBF\xBD\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.raw);
    const json::RawString string(c.raw);
    CHECK(string.unescaped() == c.characters);
    CHECK(string == c.characters);
    CHECK_FALSE(string == c.characters + "x");
    if (!c.characters.empty()) CHECK_FALSE(string == c.characters.substr(1));
    CHECK(json::Value("\"" + c.raw + "\"").as_string() == c.characters);
  }
}

TEST_CASE("members are found by their unescaped name, the first one wins") {
  const json::Value object(
      R"({ "a" : 1, "b}" : "]\"}" , "\u0063":[1,{"a":2}] ,"a":3,"d":{"e":{}} })");
  CHECK(object.find("a")->raw() == "1");
  CHECK(object.find("b}")->as_string() == "]\"}");
  CHECK(object.find("c")->raw() == "[1,{\"a\":2}]");
  CHECK(object.find("d")->find("e")->raw() == "{}");
  CHECK_FALSE(object.find("e"));
  CHECK_FALSE(object.find(""));
  CHECK_FALSE(json::Value("[1]").find("a"));
  CHECK_FALSE(json::Value("{}").find("a"));

  std::string names;
  object.for_each_member(
      [&names](json::RawString name, json::Value) { names += name.unescaped() + " "; });
  CHECK(names == "a b} c a d ");
}

TEST_CASE("several members are found in one pass, as one by one") {
  const json::Value object(R"({"b":1,"\u0061":null,"a":2,"other":3,"b":4})");
  const auto [a, b, absent] = json::find_members<3>(object, {"a", "b", "absent"});
  CHECK(a.type() == json::Type::null);
  CHECK(b.raw() == "1");
  CHECK(absent.type() == json::Type::null);
  CHECK(json::find_members<1>(json::Value("[1]"), {"a"})[0].type() == json::Type::null);
}

TEST_CASE("elements are visited in order") {
  const std::string text = " [ 1 , \"a,]\" ,[],{ \"x\" : [ 2 ] }, null ] ";
  std::string seen;
  json::Value(text).for_each_element(
      [&seen](json::Value value) { seen += std::string(value.raw()) + ";"; });
  CHECK(seen == "1;\"a,]\";[];{ \"x\" : [ 2 ] };null;");
  json::Value("[ ]").for_each_element([](json::Value) { FAIL("an empty array has no element"); });
  json::Value("{\"a\":1}").for_each_element([](json::Value) { FAIL("an object has no elements"); });
  json::Value("[1]").for_each_member(
      [](json::RawString, json::Value) { FAIL("an array has no members"); });
}

TEST_CASE("any text is quoted as a string that means it") {
  CHECK(as_literal("") == "\"\"");
  CHECK(as_literal("a\"\\/\b\f\n\r\t\x01\x1f\x7f") ==
        "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
  CHECK(as_literal("\0"s) == "\"\\u0000\"");
  CHECK(as_literal("\xc3\xa9\xf0\x9f\x98\x80") == "\"\xc3\xa9\xf0\x9f\x98\x80\"");
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(as_literal("a\xff"
                   "b") == "\"a" + mark + "b\"");
  CHECK(as_literal("\xc0\x80") == "\"" + mark + mark + "\"");
  CHECK(as_literal("\xed\xa0\x80") == "\"" + mark + mark + mark + "\"");
  CHECK(as_literal("\xf0\x9f\x98") == "\"" + mark + "\"");
  CHECK(as_literal("\xf0\x9f\x98x") == "\"" + mark + "x\"");
  CHECK(as_literal("\xe2\x82") == "\"" + mark + "\"");

  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 20, '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(random() % 3 == 0 ? random() % 256 : 0x80 + random() % 128);
    const std::string literal = as_literal(bytes);
    REQUIRE(verdict(literal) == passed);
    CHECK(nlohmann::json::parse(literal).get<std::string>() == json::Value(literal).as_string());
  }
}

TEST_CASE("a member is set in place and every other byte stays") {
  CHECK(json::set_member("{}", "a", "1") == "{\"a\":1}");
  CHECK(json::set_member(" { } ", "a", "1") == " {\"a\":1 } ");
  CHECK(json::set_member("{\"a\":1}", "b", "[2]") == "{\"a\":1,\"b\":[2]}");
  CHECK(json::set_member("{ \"a\" : 1 }", "b", "2") == "{ \"a\" : 1,\"b\":2 }");
  CHECK(json::set_member("{ \"a\" : 1 , \"b\":2}", "a", "{}") == "{ \"a\" : {} , \"b\":2}");
  CHECK(json::set_member("{\"\\u0061\":1}", "a", "2") == "{\"\\u0061\":2}");
  CHECK(json::set_member("{\"a\":1,\"b\":0,\"a\":2}", "a", "3") == "{\"a\":3,\"b\":0,\"a\":3}");
  CHECK(json::set_member("{}", "a\"\n", "1") == "{\"a\\\"\\n\":1}");
}

TEST_CASE("a member is set one level down") {
  const auto with_token = [](std::string_view params) {
    return json::set_member_of(params, "_meta", "progressToken", "7");
  };
  CHECK(with_token("{}") == R"({"_meta":{"progressToken":7}})");
  CHECK(with_token(R"({"a":1})") == R"({"a":1,"_meta":{"progressToken":7}})");
  CHECK(with_token(R"({"_meta": {"x":1} ,"a":1})") ==
        R"({"_meta": {"x":1,"progressToken":7} ,"a":1})");
  CHECK(with_token(R"({"_meta":{"progressToken":1}})") == R"({"_meta":{"progressToken":7}})");
  CHECK(with_token(R"({"_meta":null})") == R"({"_meta":{"progressToken":7}})");
}

TEST_CASE("what a caller hands in must be one JSON object") {
  json::Checker checker;
  CHECK(json::check_object(R"( {"a":[1]} )", 2, checker));
  for (const std::string& text :
       {""s, "[]"s, "1"s, "{"s, "{} {}"s, "{\"a\":[1]}"s, "{\"a\":\"\xff\"}"s, "\xEF\xBB\xBF{}"s}) {
    CAPTURE(text);
    const Result<void> result = json::check_object(text, 1, checker);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::invalid_argument);
    CHECK_FALSE(result.error().detail.empty());
  }
}
