// Batches of MCP 2025-03-26, through Client and Transport.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

const std::string server_ping = R"({"jsonrpc":"2.0","id":"p","method":"ping"})";
const std::string news = R"({"jsonrpc":"2.0","method":"notifications/news"})";

// A server of `version` whose answer to tools/call is a batch that asks, tells and answers: a JSON
// body or one event.
ScriptedServer::Handler batching(const std::string& version, bool as_event) {
  return [version, as_event](Connection& connection, const Request& request) {
    if (request.body.empty()) return void(connection.write_response(405, {}, ""));
    if (request.body.find("\"result\"") != std::string::npos) return accept_message(connection);
    const std::string method = method_of(request);
    if (method == "initialize") {
      return answer_json(connection, request,
                         R"({"protocolVersion":")" + version +
                             R"(","capabilities":{},"serverInfo":{"name":"s","version":"1"}})");
    }
    if (id_of(request) == "null") return accept_message(connection);
    const std::string batch = "[" + result_json(id_of(request), R"({"content":[]})") + "," +
                              server_ping + "," + news + "]";
    const std::string type = as_event ? "text/event-stream" : "application/json";
    connection.write_response(200, {{"Content-Type", type}}, as_event ? event(batch) : batch);
  };
}

bool was_pinged(const ScriptedServer& server) {
  return eventually([&server] {
    for (const Request& request : server.requests()) {
      if (request.body == R"({"jsonrpc":"2.0","id":"p","result":{}})") return true;
    }
    return false;
  });
}

ClientOptions options_of(const ScriptedServer& server) {
  ClientOptions options;
  options.url = server.url();
  options.era = Era::legacy;
  return options;
}

}  // namespace

TEST_CASE("a batch answers a call, tells its notifications and has its requests answered") {
  const bool as_event = GENERATE(true, false);
  const bool blocking = GENERATE(true, false);
  CAPTURE(as_event, blocking);
  ScriptedServer server(batching("2025-03-26", as_event));
  auto client = Client::connect(options_of(server));
  REQUIRE(client);
  std::vector<std::string> told;
  CallOptions options;
  options.on_notification = [&](const Message& message) { told.emplace_back(message.method()); };
  if (blocking) {
    CHECK(client->call_tool("t", "", options));
  } else {
    Gate done;
    bool ok = false;
    const Call call = client->start_tool("t", "", options, [&](const Result<ToolResult>& result) {
      ok = result.has_value();
      done.open();
    });
    REQUIRE(done.wait());
    CHECK(ok);
  }
  CHECK(told == std::vector<std::string>{"notifications/news"});
  CHECK(was_pinged(server));
}

TEST_CASE("the message of a response is the answer, whatever else its batch holds") {
  const bool as_event = GENERATE(true, false);
  ScriptedServer server(batching("2025-03-26", as_event));
  auto options = options_for(server);
  options.protocol_version = "2025-03-26";
  options.session_id = "s";
  Transport transport = make_transport(options);
  const auto message = exchange(transport, call_json(7));
  REQUIRE(message);
  CHECK(message->id() == "7");
}

TEST_CASE("a server of another revision answers with no batch") {
  const bool as_event = GENERATE(true, false);
  ScriptedServer server(batching("2025-06-18", as_event));
  auto client = Client::connect(options_of(server));
  REQUIRE(client);
  const auto result = client->call_tool("t", "");
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::malformed_message);
}
