// What an application sees of a server: handshake, tools, progress, results and refusals.
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "mcp_server.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

// Progress of this call and of another, a notification, and the result.
void report_progress(Connection& connection, const Request& request) {
  const std::string token = body_of(request)["params"]["_meta"]["progressToken"].dump();
  begin_stream(connection);
  send_event(connection, progress_json(token, 1));
  send_event(connection, progress_json("\"" + token + "\"", 100));
  send_event(connection, progress_json("123456", 200));
  send_event(connection, R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
  send_event(connection, progress_json(token, 2));
  send_event(connection, result_json(id_of(request), R"({"content":[]})"));
  connection.end_chunks();
}

}  // namespace

// --- Handshake

TEST_CASE("connect initializes, then says so, and sends session and revision from then on") {
  ScriptedServer server(
      mcp_server({{"initialize",
                   [](Connection& connection, const Request& request) {
                     connection.write_response(
                         200, {{"Content-Type", "application/json"}, {"MCP-Session-Id", "s-1"}},
                         result_json(id_of(request), initialize_result));
                   }},
                  {"ping", answers("{}")}}));
  auto options = client_options(server);
  options.capabilities = R"({"roots":{}})";
  Client client = connect(options);
  CHECK(client.session_id() == "s-1");
  CHECK(client.server().implementation.name == "scripted");
  CHECK(client.server().implementation.version == "1.2");
  CHECK(client.server().protocol_version == "2025-11-25");
  CHECK(client.server().instructions == "be kind");
  CHECK(Json::parse(client.server().capabilities) ==
        Json::parse(R"({"tools":{"listChanged":true}})"));
  REQUIRE(client.request("ping", ""));

  const auto requests = server.requests();
  REQUIRE(requests.size() == 3);
  CHECK(method_of(requests[0]) == "initialize");
  const Json params = body_of(requests[0])["params"];
  CHECK(params["protocolVersion"] == "2025-11-25");
  CHECK(params["capabilities"] == Json::parse(options.capabilities));
  CHECK(params["clientInfo"] == Json::parse(R"({"name":"tester","version":"3.1"})"));
  CHECK(method_of(requests[1]) == "notifications/initialized");
  CHECK(id_of(requests[1]) == "null");
  for (std::size_t i : {1U, 2U}) {
    CHECK(requests[i].header("MCP-Session-Id") == "s-1");
    CHECK(requests[i].header("MCP-Protocol-Version") == "2025-11-25");
  }
  CHECK(server.connections_accepted() == 1);
}

TEST_CASE("a handshake that fails says why") {
  struct Case {
    std::string name;
    ScriptedServer::Handler initialize;
    ErrorCode code;
  };
  const auto failing =
      GENERATE(Case{"a revision of before", answers(R"({"protocolVersion":"2024-11-05"})"),
                    ErrorCode::unsupported_version},
               Case{"no revision", answers("{}"), ErrorCode::malformed_message},
               Case{"a JSON-RPC error",
                    [](Connection& connection, const Request& request) {
                      connection.write_response(
                          200, {{"Content-Type", "application/json"}},
                          R"({"jsonrpc":"2.0","id":)" + id_of(request) +
                              R"(,"error":{"code":-32000,"message":"closed today","data":[1]}})");
                    },
                    ErrorCode::rpc_error},
               Case{"an HTML page",
                    [](Connection& connection, const Request&) {
                      connection.write_response(200, {{"Content-Type", "text/html"}}, "<html>");
                    },
                    ErrorCode::bad_content_type},
               Case{"401",
                    [](Connection& connection, const Request&) {
                      connection.write_response(401, {{"WWW-Authenticate", "Bearer"}}, "");
                    },
                    ErrorCode::unauthorized});
  INFO(failing.name);
  ScriptedServer server(mcp_server({{"initialize", failing.initialize}}));
  auto client = Client::connect(client_options(server));
  REQUIRE_FALSE(client);
  CHECK(code_of(client) == failing.code);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("a handshake is answered by an event stream as well") {
  ScriptedServer server(mcp_server({{"initialize",
                                     [](Connection& connection, const Request& request) {
                                       answer_events(connection, request, initialize_result);
                                     }},
                                    {"ping", answers("{}")}}));
  Client client = connect(server);
  CHECK(client.request("ping", ""));
}

// --- Tools

TEST_CASE("a tool's result comes with all its content") {
  ScriptedServer server(mcp_server({{"tools/call", answers(R"({"content":[
    {"type":"text","text":"h\u00e9"},
    {"type":"image","data":"aGk=","mimeType":"image/png"},
    {"type":"audio","data":"bG8=","mimeType":"audio/wav"},
    {"type":"resource_link","uri":"file:///x","name":"x","mimeType":"text/plain"},
    {"type":"resource","resource":{"uri":"file:///y","mimeType":"text/plain","text":"why"}},
    {"type":"resource","resource":{"uri":"file:///z","blob":"eno="}},
    {"type":"hologram","data":"?"}
  ],"structuredContent":{"a":[1,2]}})")}}));
  Client client = connect(server);
  auto called = client.call_tool("t", R"({"x":1})");
  REQUIRE(called);
  CHECK_FALSE(called->is_error);
  CHECK(called->structured_content == R"({"a":[1,2]})");
  const auto& content = called->content;
  REQUIRE(content.size() == 7);
  CHECK(content[0].text == "h\xC3\xA9");
  CHECK(content[1].data == "aGk=");
  CHECK(content[1].mime_type == "image/png");
  CHECK(content[2].type == "audio");
  CHECK(content[3].uri == "file:///x");
  CHECK(content[3].name == "x");
  CHECK(content[4].type == "resource");
  CHECK(content[4].uri == "file:///y");
  CHECK(content[4].text == "why");
  CHECK(content[5].data == "eno=");
  CHECK(content[6].type == "hologram");
  CHECK(content[6].json == R"({"type":"hologram","data":"?"})");
  CHECK(Json::parse(called->json)["content"].size() == 7);
  const Json sent = body_of(server.requests().at(2));
  CHECK(sent["method"] == "tools/call");
  CHECK(sent["params"] == Json::parse(R"({"name":"t","arguments":{"x":1}})"));
}

TEST_CASE("a tool that failed by its own account is a result, not an error") {
  ScriptedServer server(mcp_server(
      {{"tools/call", answers(R"({"content":[{"type":"text","text":"no"}],"isError":true})")}}));
  Client client = connect(server);
  auto called = client.call_tool("t", "");
  REQUIRE(called);
  CHECK(called->is_error);
  CHECK_FALSE(body_of(server.requests().at(2))["params"].contains("arguments"));
}

TEST_CASE("a JSON-RPC error is rpc_error with its code, message and data") {
  ScriptedServer server(
      mcp_server({{"tools/call", [](Connection& connection, const Request& request) {
                     connection.write_response(
                         200, {{"Content-Type", "application/json"}},
                         R"({"jsonrpc":"2.0","id":)" + id_of(request) +
                             R"(,"error":{"code":-32602,"message":"b\u0061d","data":{"a":1}}})");
                   }}}));
  Client client = connect(server);
  auto called = client.call_tool("t", "");
  REQUIRE_FALSE(called);
  CHECK(code_of(called) == ErrorCode::rpc_error);
  CHECK(called.error().delivery == Delivery::answered);
  CHECK(called.error().rpc_code == -32602);
  CHECK(called.error().rpc_message == "bad");
  CHECK(called.error().rpc_data == R"({"a":1})");
  CHECK(called.error().http_status == 200);
}

TEST_CASE("a result that is no object is no result in typed form") {
  const auto text = GENERATE(as<std::string>(), "null", "[]", "7", R"("ok")");
  CAPTURE(text);
  std::map<std::string, ScriptedServer::Handler> methods;
  for (const char* method :
       {"tools/call", "prompts/get", "resources/read", "completion/complete", "tools/list",
        "resources/list", "resources/templates/list", "prompts/list"}) {
    methods[method] = answers(text);
  }
  ScriptedServer server(mcp_server(methods));
  Client client = connect(server);
  const auto malformed = [](const auto& outcome) {
    return !outcome && outcome.error().code == ErrorCode::malformed_message &&
           outcome.error().delivery == Delivery::answered;
  };
  CHECK(malformed(client.call_tool("t", "")));
  CHECK(malformed(client.get_prompt("p", "")));
  CHECK(malformed(client.read_resource("a:b")));
  CHECK(malformed(client.complete("{}", "a", "b")));
  CHECK(malformed(client.list_tools()));
  CHECK(malformed(client.list_resources()));
  CHECK(malformed(client.list_resource_templates()));
  CHECK(malformed(client.list_prompts()));
  const auto raw = client.request("tools/call", "");
  REQUIRE(raw);
  CHECK(raw->result() == text);
}

// --- Progress and notifications

TEST_CASE("progress is matched by token, everything else goes to on_notification, in order") {
  ScriptedServer server(mcp_server({{"tools/call", report_progress}}));
  Client client = connect(server);
  std::vector<std::string> seen;
  CallOptions options;
  options.on_progress = [&](const Progress& progress) {
    CHECK(progress.total == 5.0);
    CHECK(progress.message == "step");
    seen.push_back("progress " + std::to_string(static_cast<int>(progress.progress)));
  };
  options.on_notification = [&](const Message& message) { seen.emplace_back(message.method()); };
  REQUIRE(client.call_tool("t", R"({"_meta":{"mine":1}})", options));
  CHECK(seen == std::vector<std::string>{"progress 1", "notifications/progress",
                                         "notifications/progress", "notifications/message",
                                         "progress 2"});
}

TEST_CASE("the caller's own _meta is kept beside the progress token") {
  ScriptedServer server(mcp_server({{"m", answers("{}")}}));
  Client client = connect(server);
  CallOptions options;
  options.on_progress = [](const Progress&) {};
  REQUIRE(client.request("m", R"({"a":1,"_meta":{"mine":2}})", options));
  const Json params = body_of(server.requests().at(2))["params"];
  CHECK(params["a"] == 1);
  CHECK(params["_meta"]["mine"] == 2);
  CHECK(params["_meta"]["progressToken"].is_number_integer());
}

TEST_CASE("without on_progress no token is sent") {
  ScriptedServer server(mcp_server({{"m", answers("{}")}}));
  Client client = connect(server);
  REQUIRE(client.request("m", R"({"a":1})"));
  CHECK(body_of(server.requests().at(2))["params"] == Json::parse(R"({"a":1})"));
}

TEST_CASE("a callback of a blocking call that throws ends the call only") {
  ScriptedServer server(mcp_server({{"tools/call", report_progress}, {"ping", answers("{}")}}));
  Client client = connect(server);
  CallOptions options;
  options.on_progress = [](const Progress&) { throw 1; };
  auto called = client.call_tool("t", "", options);
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::callback_threw);
  CHECK(client.request("ping", ""));
}

TEST_CASE("notify returns once the server has accepted, and tells a refusal") {
  ScriptedServer server(
      mcp_server({{"refused", [](Connection& connection, const Request&) {
                     connection.write_response(
                         400, {{"Content-Type", "application/json"}},
                         R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}})");
                   }}}));
  Client client = connect(server);
  REQUIRE(client.notify("notifications/x", R"({"a":1})"));
  CHECK(server.requests().at(2).body ==
        R"({"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}})");
  auto refused = client.notify("refused", "");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().http_status == 400);
}

// --- Asynchronous calls

TEST_CASE("an asynchronous tool call reports progress, then is done exactly once") {
  ScriptedServer server(mcp_server({{"tools/call", report_progress}}));
  Client client = connect(server);
  std::vector<std::string> seen;
  Gate done;
  CallOptions options;
  options.on_progress = [&](const Progress&) { seen.emplace_back("progress"); };
  options.on_notification = [&](const Message&) { seen.emplace_back("notification"); };
  Call call = client.start_tool("t", "", options, [&](const Result<ToolResult>& outcome) {
    seen.emplace_back(outcome ? "done" : "failed");
    done.open();
  });
  REQUIRE(done.wait());
  call = Call();
  CHECK(seen == std::vector<std::string>{"progress", "notification", "notification", "notification",
                                         "progress", "done"});
  CHECK(done.times_opened() == 1);
}

TEST_CASE("an asynchronous request gives the result message, or the JSON-RPC error") {
  ScriptedServer server(mcp_server({{"m", answers(R"({"a":1})")}}));
  Client client = connect(server);
  Gate done;
  std::string text;
  std::optional<Error> error;
  const Call good = client.start_request("m", "", {}, [&](const Result<Message>& outcome) {
    if (outcome) text = outcome->result();
    done.open();
  });
  REQUIRE(done.wait_for(1));
  const Call bad = client.start_request("unknown", "", {}, [&](const Result<Message>& outcome) {
    if (!outcome) error = outcome.error();
    done.open();
  });
  REQUIRE(done.wait_for(2));
  CHECK(text == R"({"a":1})");
  REQUIRE(error);
  CHECK(error->code == ErrorCode::rpc_error);
  CHECK(error->rpc_code == -32601);
}

TEST_CASE("a callback of an asynchronous call that throws ends it with callback_threw") {
  ScriptedServer server(mcp_server({{"tools/call", report_progress}, {"ping", answers("{}")}}));
  Client client = connect(server);
  Gate done;
  std::optional<ErrorCode> code;
  CallOptions options;
  options.on_progress = [](const Progress&) { throw 1; };
  const Call call = client.start_tool("t", "", options, [&](const Result<ToolResult>& outcome) {
    if (!outcome) code = outcome.error().code;
    done.open();
  });
  REQUIRE(done.wait());
  CHECK(code == ErrorCode::callback_threw);
  CHECK(client.request("ping", ""));
}

TEST_CASE("a cancelled asynchronous call is done as cancelled, also when the client goes") {
  enum class By { call, stop_token, client };
  const By by = GENERATE(By::call, By::stop_token, By::client);
  ScriptedServer server(mcp_server({{"tools/call", [](Connection& connection, const Request&) {
                                       connection.peer_closed(guard);
                                     }}}));
  std::optional<Client> client = connect(server);
  Gate done;
  std::optional<ErrorCode> code;
  std::stop_source stop;
  CallOptions options;
  options.stop = stop.get_token();
  Call call = client->start_tool("t", "", options, [&](const Result<ToolResult>& outcome) {
    if (!outcome) code = outcome.error().code;
    done.open();
  });
  REQUIRE(server.wait_for_requests(3, guard));
  if (by == By::call) call = Call();
  if (by == By::stop_token) stop.request_stop();
  if (by == By::client) client.reset();
  if (by != By::stop_token) CHECK(done.times_opened() == 1);
  REQUIRE(done.wait());
  CHECK(code == ErrorCode::cancelled);
  CHECK(done.times_opened() == 1);
}

TEST_CASE("one client serves many threads at the same time") {
  ScriptedServer server(mcp_server({{"tools/call", report_progress}}));
  Client client = connect(server);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        int steps = 0;
        CallOptions options;
        options.on_progress = [&](const Progress&) { ++steps; };
        if (client.call_tool("t", "", options) && steps == 2) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 120);
}

TEST_CASE("a call over a limit ends in a clear error, and the next call goes on") {
  ScriptedServer server(mcp_server(
      {{"tools/call",
        answers(R"({"content":[{"type":"text","text":")" + std::string(5000, 'x') + "\"}]}")},
       {"ping", answers("{}")}}));
  auto options = client_options(server);
  options.limits.max_json_response_size = 2000;
  Client client = connect(options);
  auto called = client.call_tool("t", "");
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::json_too_large);
  CHECK(called.error().detail.find("max_json_response_size (2000 bytes)") != std::string::npos);
  CHECK(client.request("ping", ""));
}
