#include "handshake.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>

using namespace mcphttp;

namespace {

Message answer_with(const std::string& result) {
  auto message = Message::parse(R"({"jsonrpc":"2.0","id":1,"result":)" + result + "}");
  REQUIRE(message);
  return std::move(*message);
}

}  // namespace

TEST_CASE("initialize proposes the newest revision with a handshake, and says who calls") {
  ClientOptions options;
  options.client_info = {"my \"agent\"\n", "1.0"};
  options.capabilities = R"({"roots":{"listChanged":true}})";
  const auto params = nlohmann::json::parse(handshake::make_params(options));
  CHECK(params == nlohmann::json{{"protocolVersion", "2025-11-25"},
                                 {"capabilities", {{"roots", {{"listChanged", true}}}}},
                                 {"clientInfo", {{"name", "my \"agent\"\n"}, {"version", "1.0"}}}});
}

TEST_CASE("without capabilities an empty object is proposed") {
  const auto params = nlohmann::json::parse(handshake::make_params(ClientOptions()));
  CHECK(params["capabilities"] == nlohmann::json::object());
}

TEST_CASE("the server's result is read") {
  const auto info = handshake::read_result(answer_with(
      R"({"protocolVersion":"2025-06-18","capabilities":{"tools": {}},)"
      R"("serverInfo":{"name":"s","version":"2","title":"S"},"instructions":"Be \u0062rief."})"));
  REQUIRE(info);
  CHECK(info->protocol_version == "2025-06-18");
  CHECK(info->capabilities == R"({"tools": {}})");
  CHECK(info->implementation.name == "s");
  CHECK(info->implementation.version == "2");
  CHECK(info->instructions == "Be brief.");
}

TEST_CASE("all a server must say is its revision") {
  for (const char* rest : {"", R"(,"serverInfo":5,"capabilities":[],"instructions":{})",
                           R"(,"serverInfo":null,"capabilities":null)"}) {
    const auto info = handshake::read_result(
        answer_with(R"({"protocolVersion":"2025-03-26")" + std::string(rest) + "}"));
    CAPTURE(rest);
    REQUIRE(info);
    CHECK(info->implementation.name.empty());
    CHECK(info->implementation.version.empty());
    CHECK(info->capabilities.empty());
    CHECK(info->instructions.empty());
  }
}

TEST_CASE("every revision with a handshake is spoken, no other") {
  struct Case {
    std::string version;
    bool spoken;
  };
  for (const Case& c : std::vector<Case>{{"2025-11-25", true},
                                         {"2025-06-18", true},
                                         {"2025-03-26", true},
                                         {"2024-11-05", false},
                                         {"2026-07-28", false},
                                         {"2025-11-25 ", false},
                                         {"SECRET", false}}) {
    const auto info =
        handshake::read_result(answer_with(R"({"protocolVersion":")" + c.version + "\"}"));
    CAPTURE(c.version);
    CHECK(info.has_value() == c.spoken);
    if (info) continue;
    CHECK(info.error().code == ErrorCode::unsupported_version);
    CHECK(info.error().delivery == Delivery::answered);
    CHECK(info.error().detail.find("SECRET") == std::string::npos);
  }
}

TEST_CASE("a result that names no revision is malformed") {
  for (const char* result : {"{}", "[]", "null", R"({"protocolVersion":""})",
                             R"({"protocolVersion":20251125})", R"({"protocolVersion":null})"}) {
    const auto info = handshake::read_result(answer_with(result));
    CAPTURE(result);
    REQUIRE_FALSE(info);
    CHECK(info.error().code == ErrorCode::malformed_message);
  }
}
