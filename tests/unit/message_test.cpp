#include "message.hpp"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using mcphttp::ErrorCode;
using mcphttp::IdMatch;
using mcphttp::Message;
using mcphttp::Result;
using Kind = mcphttp::Message::Kind;
namespace json = mcphttp::json;

namespace {

constexpr std::size_t usual_depth = 128;

std::string rpc(std::string_view members) {
  return R"({"jsonrpc":"2.0")" + std::string(members) + "}";
}

Message must_parse(const std::string& text) {
  Result<Message> message = Message::parse(text);
  if (!message) FAIL(text << ": " << message.error().detail);
  return std::move(*message);
}

Result<std::vector<Message>> parse_batch(const std::string& text, std::size_t max_messages = 1000,
                                         std::size_t max_depth = usual_depth) {
  json::Checker checker;
  return mcphttp::parse_batch(std::string(text), max_depth, max_messages, checker);
}

}  // namespace

TEST_CASE("the kind of a message follows from its members") {
  struct Case {
    std::string members;
    Kind kind;
    std::string id;
    std::string method;
  };
  const std::vector<Case> cases = {
      {R"(,"id":7,"method":"ping")", Kind::request, "7", "ping"},
      {R"(,"id":"a","method":"ping","params":{})", Kind::request, "\"a\"", "ping"},
      {R"(,"id":"","method":"")", Kind::request, "\"\"", ""},
      {R"(,"id":-1,"method":"m","params":[])", Kind::request, "-1", "m"},
      {R"(,"id":123456789012345678901234567890,"method":"m")", Kind::request,
       "123456789012345678901234567890", "m"},
      {R"(,"method":"notifications/progress","params":{"a":1})", Kind::notification, "",
       "notifications/progress"},
      {R"(,"\u006dethod":"a\u002fb")", Kind::notification, "", "a/b"},
      {R"(,"id":1,"result":{})", Kind::result, "1", ""},
      {R"(,"result":{},"id":1)", Kind::result, "1", ""},
      {R"(,"\u0069d":1,"result":null)", Kind::result, "1", ""},
      {R"(,"id":1,"result":[],"extra":{"id":2},"params":3)", Kind::result, "1", ""},
      {R"(,"id":1,"error":{"code":-32600,"message":"x"})", Kind::error, "1", ""},
      {R"(,"id":null,"error":{"code":0,"message":""})", Kind::error, "null", ""},
      {R"(,"error":{"message":"x","code":1,"data":[1]})", Kind::error, "", ""},
  };
  for (const Case& c : cases) {
    const std::string text = rpc(c.members);
    CAPTURE(text);
    const Result<Message> message = Message::parse(text);
    REQUIRE(message);
    CHECK(message->kind() == c.kind);
    CHECK(message->id() == c.id);
    CHECK(message->method() == c.method);
    CHECK(message->is_response() == (c.kind == Kind::result || c.kind == Kind::error));
    CHECK(message->json() == text);
  }
}

TEST_CASE("JSON that is no JSON-RPC message is refused with the rule it breaks") {
  struct Case {
    std::string text;
    std::string detail;
  };
  const std::vector<Case> cases = {
      {"[]", "a message must be an object"},
      {"[" + rpc(R"(,"method":"m")") + "]", "a message must be an object"},
      {"1", "a message must be an object"},
      {"\"x\"", "a message must be an object"},
      {"null", "a message must be an object"},
      {"{}", "\"jsonrpc\" is not \"2.0\""},
      {R"({"id":1,"method":"m"})", "\"jsonrpc\" is not \"2.0\""},
      {R"({"jsonrpc":2.0,"id":1,"method":"m"})", "\"jsonrpc\" is not \"2.0\""},
      {R"({"jsonrpc":"1.0","id":1,"method":"m"})", "\"jsonrpc\" is not \"2.0\""},
      {R"({"jsonrpc":"2.0 ","id":1,"method":"m"})", "\"jsonrpc\" is not \"2.0\""},
      {rpc(""), "none of \"method\", \"result\" and \"error\" is present"},
      {rpc(R"(,"id":1)"), "none of \"method\", \"result\" and \"error\" is present"},
      {rpc(R"(,"id":null,"method":"m")"), "\"id\" is neither a string nor a number"},
      {rpc(R"(,"id":true,"method":"m")"), "\"id\" is neither a string nor a number"},
      {rpc(R"(,"id":[1],"method":"m")"), "\"id\" is neither a string nor a number"},
      {rpc(R"(,"id":1.0,"method":"m")"), "\"id\" is not an integer"},
      {rpc(R"(,"id":1e2,"method":"m")"), "\"id\" is not an integer"},
      {rpc(R"(,"id":1E2,"result":1)"), "\"id\" is not an integer"},
      {rpc(R"(,"id":1,"method":2)"), "\"method\" is not a string"},
      {rpc(R"(,"method":null)"), "\"method\" is not a string"},
      {rpc(R"(,"method":"m","params":null)"), "\"params\" is neither an object nor an array"},
      {rpc(R"(,"method":"m","params":"p")"), "\"params\" is neither an object nor an array"},
      {rpc(R"(,"id":1,"method":"m","result":1)"),
       "\"method\" stands beside \"result\" or \"error\""},
      {rpc(R"(,"id":1,"method":"m","error":null)"),
       "\"method\" stands beside \"result\" or \"error\""},
      {rpc(R"(,"id":1,"result":1,"error":null)"), "both \"result\" and \"error\" are present"},
      {rpc(R"(,"result":1)"), "\"result\" has no \"id\""},
      {rpc(R"(,"id":null,"result":1)"), "\"id\" is neither a string nor a number"},
      {rpc(R"(,"id":1,"error":null)"), "\"error\" is not an object"},
      {rpc(R"(,"id":1,"error":"e")"), "\"error\" is not an object"},
      {rpc(R"(,"id":1,"error":{"message":"m"})"), "the code of \"error\" is not an integer"},
      {rpc(R"(,"id":1,"error":{"code":"1","message":"m"})"),
       "the code of \"error\" is not an integer"},
      {rpc(R"(,"id":1,"error":{"code":1.5,"message":"m"})"),
       "the code of \"error\" is not an integer"},
      {rpc(R"(,"id":1,"error":{"code":9223372036854775808,"message":"m"})"),
       "the code of \"error\" is not an integer"},
      {rpc(R"(,"id":1,"error":{"code":1})"), "the message of \"error\" is not a string"},
      {rpc(R"(,"id":1,"error":{"code":1,"message":null})"),
       "the message of \"error\" is not a string"},
      {rpc(R"(,"id":false,"error":{"code":1,"message":"m"})"),
       "\"id\" is neither a string nor a number"},
      {rpc(R"(,"id":1,"id":1,"result":1)"), "\"id\" occurs twice"},
      {rpc(R"(,"id":1,"\u0069d":2,"result":1)"), "\"id\" occurs twice"},
      {rpc(R"(,"id":1,"result":1,"result":2)"), "\"result\" occurs twice"},
      {rpc(R"(,"method":"m","m\u0065thod":"n")"), "\"method\" occurs twice"},
      {rpc(R"(,"error":{"code":1,"message":""},"error":null)"), "\"error\" occurs twice"},
      {rpc(R"(,"jsonrpc":"2.0","method":"m")"), "\"jsonrpc\" occurs twice"},
      {rpc(R"(,"method":"m","params":{},"params":{})"), "\"params\" occurs twice"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const Result<Message> message = Message::parse(c.text);
    REQUIRE_FALSE(message);
    CHECK(message.error().code == ErrorCode::malformed_message);
    CHECK(message.error().detail == c.detail);
  }
}

TEST_CASE("text that is no JSON is refused as such, also behind a complete envelope") {
  for (const std::string& text :
       {std::string(), std::string(" "), std::string("x"), rpc(R"(,"id":1,"result":tru)"),
        rpc(R"(,"id":1,"result":1)") + "{}", rpc(R"(,"id":1,"id":01)"),
        rpc(",\"id\":1,\"result\":\"\xff\"")}) {
    CAPTURE(text);
    const Result<Message> message = Message::parse(text);
    REQUIRE_FALSE(message);
    CHECK(message.error().code == ErrorCode::malformed_json);
  }
}

TEST_CASE("depth counts the message itself") {
  const std::string text = rpc(R"(,"id":1,"result":[[]])");
  CHECK(Message::parse(text, 3));
  const Result<Message> message = Message::parse(text, 2);
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::json_too_deep);
  CHECK(message.error().detail == "max_json_depth (2) exceeded");
  CHECK_FALSE(Message::parse(text, 0));
}

TEST_CASE("no prefix of a message is a message") {
  const std::string text = rpc(R"(,"id":"\u00e9","result":{"a":[1,2.5,{"b":"c\\"}],"d":null})");
  REQUIRE(Message::parse(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    const Result<Message> message = Message::parse(text.substr(0, size));
    REQUIRE_FALSE(message);
    CHECK(message.error().code == ErrorCode::malformed_json);
  }
}

TEST_CASE("fields are handed out raw, white space around them dropped") {
  const Message call = must_parse(
      "{ \"jsonrpc\" : \"2.0\" , \"id\" : 7 , \"params\" : { \"a\" : 1 } , \"method\" : \"m\" } "
      "\n");
  CHECK(call.id() == "7");
  CHECK(call.params() == "{ \"a\" : 1 }");
  CHECK(call.result().empty());
  CHECK(call.error().empty());
  CHECK(call.error_code() == 0);
  CHECK(call.error_message().empty());
  CHECK(call.error_data().empty());

  const Message result = must_parse(rpc(R"(,"result" : { "x" : "\ud800" } ,"id":1)"));
  CHECK(result.result() == R"({ "x" : "\ud800" })");
  CHECK(result.params().empty());
}

TEST_CASE("an error gives its code, message and data") {
  const Message error = must_parse(
      rpc(R"(,"id":1,"error":{"code":-32601,"message":"no \"x\"\ud800\n","data": {"a":[1]} })"));
  CHECK(error.error_code() == -32601);
  CHECK(error.error_message() == "no \"x\"\xEF\xBF\xBD\n");
  CHECK(error.error_data() == "{\"a\":[1]}");
  CHECK(error.error() == R"({"code":-32601,"message":"no \"x\"\ud800\n","data": {"a":[1]} })");
  CHECK(must_parse(rpc(R"(,"error":{"code":1,"message":""})")).error_data().empty());
}

TEST_CASE("the text is kept byte for byte, a byte order mark apart") {
  const std::string text = "  " + rpc(R"(,"id":1,"result":1.00)") + "\r\n";
  const Message message = must_parse("\xEF\xBB\xBF" + text);
  CHECK(message.json() == text);
  CHECK(message.result() == "1.00");
  CHECK_FALSE(Message::parse("\xEF\xBB\xBF\xEF\xBB\xBF" + text));
  CHECK(must_parse(text).release() == text);
}

TEST_CASE("views are right after copies and moves, and empty in what was moved from") {
  STATIC_REQUIRE(std::is_copy_constructible_v<Message>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<Message>);
  for (const std::string& method : {std::string("a/b"), std::string(R"(a\u002fb)")}) {
    Message first =
        must_parse(rpc(",\"id\":\"x\",\"method\":\"" + method + "\",\"params\":{\"a\":1}"));
    const Message copy = first;
    Message second = std::move(first);
    CHECK(first.id().empty());  // NOLINT(bugprone-use-after-move): that is what is tested
    CHECK(first.params().empty());
    CHECK(first.method().empty());
    std::vector<Message> many;
    many.push_back(std::move(second));
    many.push_back(copy);
    for (const Message& message : many) {
      CHECK(message.id() == "\"x\"");
      CHECK(message.method() == "a/b");
      CHECK(message.params() == "{\"a\":1}");
      CHECK(message.id().data() > message.json().data());
    }
  }
}

TEST_CASE("a result of 16 MiB is a message") {
  const std::string big = "\"" + std::string(std::size_t{16} * 1024 * 1024, 'A') + "\"";
  CHECK(must_parse(rpc(",\"id\":1,\"result\":" + big)).result().size() == big.size());
}

TEST_CASE("an array is unpacked in order, each message with its own text") {
  const std::string first = rpc(R"(,"method":"m")");
  const std::string second = rpc(R"(,"id":1,"result":[ 1 ])");
  const Result<std::vector<Message>> batch =
      parse_batch("\xEF\xBB\xBF [" + first + " , " + second + "] ");
  REQUIRE(batch);
  REQUIRE(batch->size() == 2);
  CHECK((*batch)[0].json() == first);
  CHECK((*batch)[1].json() == second);
  CHECK((*batch)[1].result() == "[ 1 ]");

  const Result<std::vector<Message>> single = parse_batch(" " + second);
  REQUIRE(single);
  REQUIRE(single->size() == 1);
  CHECK((*single)[0].json() == " " + second);
}

TEST_CASE("a batch is bounded in number and depth and refused as a whole") {
  const std::string message = rpc(R"(,"id":1,"result":[])");
  CHECK(parse_batch("[" + message + "," + message + "]", 2));
  struct Case {
    std::string text;
    ErrorCode code;
    std::string detail;
  };
  const std::vector<Case> cases = {
      {"[]", ErrorCode::malformed_message, "a batch without a message"},
      {"1", ErrorCode::malformed_message, "a message must be an object"},
      {"{}", ErrorCode::malformed_message, "\"jsonrpc\" is not \"2.0\""},
      {"[" + message + "," + message + "," + message + "]", ErrorCode::malformed_message,
       "a batch of more than 2 messages"},
      {"[" + message + ",1]", ErrorCode::malformed_message,
       "message 2 of the batch: a message must be an object"},
      {"[{\"jsonrpc\":\"2\"}]", ErrorCode::malformed_message,
       "message 1 of the batch: \"jsonrpc\" is not \"2.0\""},
      {"[" + message + ",[" + message + "]]", ErrorCode::malformed_message,
       "message 2 of the batch: a message must be an object"},
      {"[" + rpc(R"(,"id":1,"id":2,"result":1)") + "]", ErrorCode::malformed_message,
       "message 1 of the batch: \"id\" occurs twice"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const Result<std::vector<Message>> batch = parse_batch(c.text, 2);
    REQUIRE_FALSE(batch);
    CHECK(batch.error().code == c.code);
    CHECK(batch.error().detail == c.detail);
  }
  CHECK(parse_batch("[" + message + "]", 1, 2));
  const Result<std::vector<Message>> deep = parse_batch("[" + message + "]", 1, 1);
  REQUIRE_FALSE(deep);
  CHECK(deep.error().detail == "max_json_depth (1) exceeded");
  CHECK_FALSE(parse_batch(message, 1, 1));
}

TEST_CASE("ids match by their characters, and a changed type is told apart") {
  struct Case {
    std::string expected;
    std::string received;
    IdMatch match;
  };
  const std::vector<Case> cases = {
      {"1", "1", IdMatch::same},
      {"\"a\"", "\"a\"", IdMatch::same},
      {"\"a\"", "\"\\u0061\"", IdMatch::same},
      {"1", "\"1\"", IdMatch::type_changed},
      {"\"1\"", "1", IdMatch::type_changed},
      {"1", "\"\\u0031\"", IdMatch::type_changed},
      {"1", "2", IdMatch::different},
      {"1", "10", IdMatch::different},
      {"10", "\"1\"", IdMatch::different},
      {"\"a\"", "\"b\"", IdMatch::different},
      {"\"a\"", "\"A\"", IdMatch::different},
      {"1", "null", IdMatch::different},
      {"1", "", IdMatch::different},
      {"\"null\"", "null", IdMatch::different},
      {"\"\"", "", IdMatch::different},
  };
  for (const Case& c : cases) {
    CAPTURE(c.expected, c.received);
    CHECK(mcphttp::match_ids(c.expected, c.received) == c.match);
  }
}

TEST_CASE(
    "the progress token of a request is found where it belongs, and compared as it was sent") {
  const auto token_of = [](const std::string& params) {
    const auto request = Message::parse(R"({"jsonrpc":"2.0","id":1,"method":"m")" + params + "}");
    REQUIRE(request);
    return std::string(mcphttp::progress_token_of(request->params()));
  };
  CHECK(token_of("").empty());
  CHECK(token_of(R"(,"params":{"progressToken":7})").empty());
  CHECK(token_of(R"(,"params":{"_meta":7})").empty());
  CHECK(token_of(R"(,"params":{"_meta":{"progressToken": 7 }})") == "7");
  CHECK(token_of(R"(,"params":{"_meta":{"progressToken":"7"}})") == "\"7\"");

  const auto is_progress = [](const std::string& method, const std::string& params,
                              const std::string& token) {
    const auto message =
        Message::parse(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}");
    REQUIRE(message);
    return mcphttp::is_progress(*message, token);
  };
  CHECK(is_progress("notifications/progress", R"({"progressToken": 7 })", "7"));
  CHECK_FALSE(is_progress("notifications/progress", R"({"progressToken":"7"})", "7"));
  CHECK_FALSE(is_progress("notifications/progress", R"({"progressToken":70})", "7"));
  CHECK_FALSE(is_progress("notifications/progress", "{}", ""));
  CHECK_FALSE(is_progress("notifications/message", R"({"progressToken":7})", "7"));
}
