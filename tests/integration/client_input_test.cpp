// What an application hands to a client: what is refused before anything is sent, and how the rest
// is quoted.
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "mcp_server.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

TEST_CASE("arguments that are no JSON object are refused and nothing is sent") {
  ScriptedServer server(mcp_server({}));
  Client client = connect(server);
  const auto arguments =
      GENERATE(as<std::string>(), "[]", "{", "1", "{\"a\":1} {}", "{\"a\":\"\xFF\"}");
  INFO(arguments);
  CHECK(client.call_tool("t", arguments).error().code == ErrorCode::invalid_argument);
  CHECK(client.request("m", arguments).error().code == ErrorCode::invalid_argument);
  CHECK(client.notify("m", arguments).error().code == ErrorCode::invalid_argument);
  std::optional<ErrorCode> tool_code;
  std::optional<ErrorCode> request_code;
  Gate done;
  const Call tool = client.start_tool("t", arguments, {}, [&](const Result<ToolResult>& outcome) {
    tool_code = outcome.error().code;
    done.open();
  });
  const Call request =
      client.start_request("m", arguments, {}, [&](const Result<Message>& outcome) {
        request_code = outcome.error().code;
        done.open();
      });
  REQUIRE(done.wait_for(2));
  CHECK(tool_code == ErrorCode::invalid_argument);
  CHECK(request_code == ErrorCode::invalid_argument);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("the depth that is refused is the one that was set") {
  ScriptedServer server(mcp_server({{"tools/call", answers(R"({"content":[]})")}}));
  auto options = client_options(server);
  options.limits.max_json_depth = 5;
  Client client = connect(options);
  CHECK(client.call_tool("t", R"({"a":{"b":[]}})"));
  const auto refused = client.call_tool("t", R"({"a":{"b":[[]]}})");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().detail ==
        "arguments: max_json_depth (5) exceeded with the 2 levels around it");
}

TEST_CASE("text that is no UTF-8 is refused and nothing is sent") {
  ScriptedServer server(mcp_server({}));
  Client client = connect(server);
  const std::string bad = "a\xFF";
  const auto refused = [](const auto& outcome) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == ErrorCode::invalid_argument);
    return outcome.error().detail;
  };
  CHECK(refused(client.call_tool(bad, "")) == "name: invalid UTF-8");
  CHECK(refused(client.get_prompt(bad, "")) == "name: invalid UTF-8");
  CHECK(refused(client.read_resource(bad)) == "uri: invalid UTF-8");
  CHECK(refused(client.subscribe_resource(bad)) == "uri: invalid UTF-8");
  CHECK(refused(client.unsubscribe_resource(bad)) == "uri: invalid UTF-8");
  CHECK(refused(client.complete("{}", bad, "")) == "argument: invalid UTF-8");
  CHECK(refused(client.complete("{}", "", bad)) == "value: invalid UTF-8");
  CHECK(refused(client.request(bad, "")) == "method: invalid UTF-8");
  CHECK(refused(client.notify(bad, "")) == "method: invalid UTF-8");
  std::string details;
  Gate done;
  const auto note = [&](const auto& outcome) {
    details += (outcome ? "done" : outcome.error().detail) + "; ";
    done.open();
  };
  const Call tool = client.start_tool(bad, "", {}, note);
  REQUIRE(done.wait_for(1));
  const Call request = client.start_request(bad, "", {}, note);
  REQUIRE(done.wait_for(2));
  SubscriptionFilter filter;
  filter.resource_subscriptions = {"a", bad};
  SubscriptionOptions callbacks;
  callbacks.on_end = [&](const SubscriptionEnd& end) {
    details += end.error ? end.error->detail : "done";
    done.open();
  };
  const Call subscription = client.subscribe(filter, std::move(callbacks));
  REQUIRE(done.wait_for(3));
  CHECK(details ==
        "name: invalid UTF-8; method: invalid UTF-8; resource_subscriptions: invalid UTF-8");
  auto options = client_options(server);
  (GENERATE(false, true) ? options.client_info.name : options.client_info.version) = bad;
  CHECK(refused(Client::connect(options)) == "client_info: invalid UTF-8");
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a log level is one of eight") {
  ScriptedServer server(mcp_server({{"logging/setLevel", answers("{}")}}));
  Client client = connect(server);
  for (const char* level :
       {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}) {
    CHECK(client.set_log_level(level));
  }
  for (const char* level : {"bogus", "", "Debug", "debug "}) {
    const auto refused = client.set_log_level(level);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
  }
  CHECK(server.requests().size() == 10);
}

TEST_CASE("names and methods are quoted as JSON asks for") {
  ScriptedServer server(mcp_server({{"tools/call", answers(R"({"content":[]})")}}));
  Client client = connect(server);
  REQUIRE(client.call_tool("a\"b\\c\n", ""));
  CHECK(body_of(server.requests().at(2))["params"]["name"] == "a\"b\\c\n");
}

TEST_CASE("options that break a rule are refused before anything is opened") {
  ScriptedServer server(mcp_server({}));
  struct Case {
    std::string name;
    std::function<void(ClientOptions&)> change;
  };
  const auto bad = GENERATE_REF(
      Case{"no URL", [](ClientOptions& options) { options.url = ""; }},
      Case{"user info", [](ClientOptions& options) { options.url = "http://a:b@127.0.0.1/"; }},
      Case{"a fragment", [](ClientOptions& options) { options.url += "#x"; }},
      Case{"another scheme", [](ClientOptions& options) { options.url = "ftp://127.0.0.1/"; }},
      Case{"a bearer token in the open",
           [](ClientOptions& options) {
             options.url = "http://192.0.2.1/mcp";
             options.bearer_token = "x";
           }},
      Case{"a header of ours",
           [](ClientOptions& options) {
             options.headers = {{"MCP-Protocol-Version", "1"}};
           }},
      Case{"a header of two lines",
           [](ClientOptions& options) {
             options.headers = {{"X-A", "b\nX-C: d"}};
           }},
      Case{"capabilities that are no object",
           [](ClientOptions& options) { options.capabilities = "[]"; }},
      Case{"a negative time", [](ClientOptions& options) { options.timeouts.connect = -1ms; }});
  INFO(bad.name);
  auto options = client_options(server);
  bad.change(options);
  auto client = Client::connect(options);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::invalid_argument);
  CHECK(server.connections_accepted() == 0);
}
