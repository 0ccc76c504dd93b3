#include "rpc.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace mcphttp;

namespace {

Message parse(const std::string& text) {
  auto message = Message::parse(text);
  REQUIRE(message);
  return std::move(*message);
}

const std::string result = R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})";
const std::string failure =
    R"({"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"n\u006f","data":{"d": 1}}})";

}  // namespace

TEST_CASE("members of meta join those that the params have, and win") {
  CHECK(rpc::with_meta("", "") == "");
  CHECK(rpc::with_meta(R"({"a":1})", "") == R"({"a":1})");
  CHECK(rpc::with_meta("", R"({"traceparent":"00-1"})") == R"({"_meta":{"traceparent":"00-1"}})");
  CHECK(rpc::with_meta(R"({"_meta":{"a":1,"b":2},"c":3})", R"({"b":[4],"d":5})") ==
        R"({"_meta":{"a":1,"b":[4],"d":5},"c":3})");
}

TEST_CASE("requests and notifications are JSON-RPC messages") {
  CHECK(rpc::make_request(7, "tools/call", R"({"a": 1})") ==
        R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a": 1}})");
  CHECK(rpc::make_request(-1, "ping", "") == R"({"jsonrpc":"2.0","id":-1,"method":"ping"})");
  CHECK(rpc::make_notification("n", "") == R"({"jsonrpc":"2.0","method":"n"})");
  CHECK(rpc::make_notification("n", "{}") == R"({"jsonrpc":"2.0","method":"n","params":{}})");
  const Message odd = parse(rpc::make_request(9223372036854775807, "a\"\n\xC3\xA4", "{}"));
  CHECK(odd.kind() == Message::Kind::request);
  CHECK(odd.id() == "9223372036854775807");
  CHECK(odd.method() == "a\"\n\xC3\xA4");
}

TEST_CASE("a progress token joins the caller's parameters and touches nothing else") {
  struct Case {
    std::string params;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"", R"({"_meta":{"progressToken":5}})"},
      {"{}", R"({"_meta":{"progressToken":5}})"},
      {R"({"a": 1.0})", R"({"a": 1.0,"_meta":{"progressToken":5}})"},
      {R"({"_meta":{"x":1},"a":2})", R"({"_meta":{"x":1,"progressToken":5},"a":2})"},
      {R"({"_meta":{"progressToken":"mine"}})", R"({"_meta":{"progressToken":5}})"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.params);
    CHECK(nlohmann::json::parse(rpc::with_progress_token(c.params, 5)) ==
          nlohmann::json::parse(c.expected));
  }
  CHECK(rpc::with_progress_token(R"({ "a" : 1e2 })", 5).find(R"("a" : 1e2)") != std::string::npos);
}

TEST_CASE("params are one JSON object within the depth, or absent") {
  for (const char* good : {"", "{}", R"({"a":[1]})", R"( {"a":1} )"}) {
    CAPTURE(good);
    CHECK(rpc::check_params("params", good, 2));
  }
  for (const char* bad :
       {"[]", "1", "null", "{", "{}x", " ", R"({"a":[[]]})", "{\"a\":\"\xFF\"}"}) {
    const auto checked = rpc::check_params("arguments", bad, 2);
    CAPTURE(bad);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::invalid_argument);
    CHECK(checked.error().detail.substr(0, 11) == "arguments: ");
    CHECK(checked.error().delivery == Delivery::not_sent);
  }
}

TEST_CASE("a result stays a result; an error response becomes an error") {
  const auto good = rpc::to_result(parse(result), 200);
  REQUIRE(good);
  CHECK(good->result() == R"({"a":1})");

  const auto bad = rpc::to_result(parse(failure), 400);
  REQUIRE_FALSE(bad);
  const Error& error = bad.error();
  CHECK(error.code == ErrorCode::rpc_error);
  CHECK(error.rpc_code == -32001);
  CHECK(error.rpc_message == "no");
  CHECK(error.rpc_data == R"({"d": 1})");
  CHECK(error.http_status == 400);
  CHECK(error.delivery == Delivery::answered);
  CHECK(error.detail == "JSON-RPC error -32001");
}

TEST_CASE("an error response without data has none") {
  const auto bad =
      rpc::to_result(parse(R"({"jsonrpc":"2.0","id":null,"error":{"code":5,"message":""}})"), 200);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().rpc_data.empty());
}
