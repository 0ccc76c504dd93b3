// What a client does with a server of the modern era, and how it finds out which era a server is
// of.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

constexpr std::string_view discovery =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},)"
    R"("instructions":"be kind","_meta":{"io.modelcontextprotocol/serverInfo":)"
    R"({"name":"modern","version":"2"}}})";

Json body_of(const Request& request) { return Json::parse(request.body, nullptr, false); }

ScriptedServer::Handler rpc_error(int status, int code, std::string data = "null") {
  return [status, code, data = std::move(data)](Connection& connection, const Request& request) {
    connection.write_response(status, {{"Content-Type", "application/json"}},
                              R"({"jsonrpc":"2.0","id":)" + id_of(request) +
                                  R"(,"error":{"code":)" + std::to_string(code) +
                                  R"(,"message":"no","data":)" + data + "}}");
  };
}

ScriptedServer::Handler page(int status, std::string body = "<html>no</html>") {
  return [status, body = std::move(body)](Connection& connection, const Request&) {
    connection.write_response(status, {{"Content-Type", "text/html"}}, body);
  };
}

// A modern server with the methods given; others succeed.
ScriptedServer::Handler modern_server(Methods methods = {}) {
  return dispatch(std::move(methods), [](Connection& connection, const Request& request) {
    const bool asks_for_era = method_of(request) == "server/discover";
    answer_json(connection, request,
                asks_for_era ? discovery : R"({"resultType":"complete","content":[]})");
  });
}

// A legacy server that answers server/discover so.
ScriptedServer::Handler legacy_server(const ScriptedServer::Handler& discover) {
  return modern_server(
      {{"server/discover", discover},
       {"initialize", answers(R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                              R"("serverInfo":{"name":"legacy","version":"1"}})")}});
}

std::vector<Request> received(const ScriptedServer& server, const std::string& method) {
  std::vector<Request> found;
  for (const Request& request : server.requests()) {
    if (request.method == method || method_of(request) == method) found.push_back(request);
  }
  return found;
}

std::size_t count(const ScriptedServer& server, const std::string& method) {
  return received(server, method).size();
}

ClientOptions client_options(const ScriptedServer& server) {
  ClientOptions options;
  options.url = server.url();
  options.client_info = {"tester", "3.1"};
  return options;
}

Client connect(const ScriptedServer& server) { return test::connect(client_options(server)); }

Json meta_of(const Request& request) { return body_of(request)["params"]["_meta"]; }

const std::string prefix = "io.modelcontextprotocol/";

// Answers tools/call with these results, one after the other, and with the last one for ever.
ScriptedServer::Handler results(std::vector<std::string> texts) {
  auto next = std::make_shared<std::atomic<std::size_t>>(0);
  return [texts = std::move(texts), next](Connection& connection, const Request& request) {
    answer_json(connection, request, texts[std::min((*next)++, texts.size() - 1)]);
  };
}

const std::string complete = R"({"resultType":"complete","content":[{"type":"text","text":"t"}]})";

}  // namespace

// --- Requests

TEST_CASE("a modern server is told in each request what a handshake would have told it") {
  ScriptedServer server(modern_server());
  auto options = client_options(server);
  options.era = GENERATE(Era::automatic, Era::modern);
  options.capabilities = R"({"roots":{}})";
  Client client = connect(options);
  CHECK(client.server().implementation.name == "modern");
  CHECK(client.server().protocol_version == "2026-07-28");
  CHECK(client.server().instructions == "be kind");
  REQUIRE(client.call_tool("t", R"({"a":1})"));
  REQUIRE(client.request("x/y", R"({"a":1,"_meta":{"mine":2}})"));
  REQUIRE(client.read_resource("file:///a"));

  const auto requests = server.requests();
  REQUIRE(requests.size() == 4);
  for (const Request& request : requests) {
    CAPTURE(request.body);
    CHECK(request.method == "POST");
    CHECK(request.header("MCP-Protocol-Version") == "2026-07-28");
    CHECK(request.header("Mcp-Method") == method_of(request));
    CHECK(request.header_count("Mcp-Method") == 1);
    const Json meta = meta_of(request);
    CHECK(meta[prefix + "protocolVersion"] == "2026-07-28");
    CHECK(meta[prefix + "clientInfo"] == Json::parse(R"({"name":"tester","version":"3.1"})"));
    CHECK(meta[prefix + "clientCapabilities"] == Json::parse(R"({"roots":{}})"));
  }
  CHECK(requests[1].header("Mcp-Name") == "t");
  CHECK(meta_of(requests[2])["mine"] == 2);
  CHECK(body_of(requests[2])["params"]["a"] == 1);
  CHECK(requests[2].header_count("Mcp-Name") == 0);
  CHECK(requests[3].header("Mcp-Name") == "file:///a");
}

TEST_CASE("there is no session, no stream of messages and nothing to end") {
  const auto with_session = [](Connection& connection, const Request& request) {
    connection.write_response(200,
                              {{"Content-Type", "application/json"}, {"MCP-Session-Id", "s-1"}},
                              result_json(id_of(request), discovery));
  };
  ScriptedServer server(modern_server({{"server/discover", with_session}}));
  auto options = client_options(server);
  options.on_notification = [](const Message&) {};
  Client client = connect(options);
  REQUIRE(client.call_tool("t", ""));
  REQUIRE(client.notify("notifications/x", ""));
  CHECK(client.session_id().empty());
  CHECK(client.close());
  std::this_thread::sleep_for(50ms);
  CHECK(server.requests().size() == 3);
  for (const Request& request : server.requests()) {
    CHECK(request.method == "POST");
    CHECK(request.header_count("MCP-Session-Id") == 0);
  }
  CHECK(server.requests()[2].header("Mcp-Method") == "notifications/x");
}

TEST_CASE("the log level goes with each request, and ping asks what every server answers") {
  ScriptedServer server(modern_server());
  Client client = connect(server);
  REQUIRE(client.set_log_level("debug"));
  CHECK(server.requests().size() == 1);
  REQUIRE(client.ping());
  REQUIRE(server.requests().size() == 2);
  CHECK(method_of(server.requests()[1]) == "server/discover");
  CHECK(meta_of(server.requests()[1])[prefix + "logLevel"] == "debug");
  CHECK_FALSE(meta_of(server.requests()[0]).contains(prefix + "logLevel"));
}

TEST_CASE("a call is cancelled by closing its connection, and by no message") {
  Gate closed;
  ScriptedServer server(modern_server({{"tools/call", [&](Connection& connection, const Request&) {
                                          begin_stream(connection);
                                          if (connection.peer_closed(guard)) closed.open();
                                        }}}));
  Client client = connect(server);
  std::stop_source stop;
  std::thread stopper([&] {
    server.wait_for_requests(2, guard);
    stop.request_stop();
  });
  CallOptions options;
  options.stop = stop.get_token();
  const auto called = client.call_tool("t", "", options);
  stopper.join();
  CHECK(called.error().code == ErrorCode::cancelled);
  CHECK(closed.wait());
  std::this_thread::sleep_for(50ms);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a result of an unknown type is no result") {
  const auto type = GENERATE(as<std::string>(), R"("later")", "1", "null", R"("Complete")");
  ScriptedServer server(modern_server({{"m", answers(R"({"resultType":)" + type + "}")}}));
  Client client = connect(server);
  const auto answer = client.request("m", "");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::malformed_message);
  CHECK(answer.error().delivery == Delivery::answered);
}

TEST_CASE("a list cannot ask for input") {
  ScriptedServer server(modern_server(
      {{"tools/list", answers(R"({"resultType":"input_required","requestState":"s"})")}}));
  Client client = connect(server);
  const auto tools = client.list_tools();
  REQUIRE_FALSE(tools);
  CHECK(tools.error().code == ErrorCode::malformed_message);
}

// --- Rounds of input

TEST_CASE("input that the server asks for is supplied by the handlers, and its state returned") {
  ScriptedServer server(modern_server(
      {{"tools/call",
        results({R"({"resultType":"input_required","requestState":"s\u0074\/1","inputRequests":{)"
                 R"("one":{"method":"elicitation/create","params":{"message":"name?"}},)"
                 R"("t\"wo":{"method":"roots/list"}}})",
                 R"({"resultType":"input_required","inputRequests":{)"
                 R"("three":{"method":"roots/list"}}})",
                 complete})}}));
  auto options = client_options(server);
  std::mutex mutex;
  std::string asked;
  options.request_handlers["elicitation/create"] = [&](const Message& request,
                                                       Responder responder) {
    const std::lock_guard lock(mutex);
    asked = std::string(request.params());
    responder.result(R"({"action":"accept"})");
  };
  options.request_handlers["roots/list"] = [](const Message&, Responder responder) {
    std::thread([answer = std::make_shared<Responder>(std::move(responder))] {
      answer->result(R"({"roots":[]})");
    }).detach();
  };
  Client client = connect(options);
  const auto called = client.call_tool("t", R"({"a":1})");
  REQUIRE(called);
  CHECK(called->content.at(0).text == "t");
  CHECK(asked == R"({"message":"name?"})");

  const auto calls = received(server, "tools/call");
  REQUIRE(calls.size() == 3);
  CHECK(id_of(calls[0]) != id_of(calls[1]));
  CHECK(id_of(calls[1]) != id_of(calls[2]));
  CHECK_FALSE(body_of(calls[0])["params"].contains("inputResponses"));
  CHECK(body_of(calls[1])["params"]["inputResponses"] ==
        Json::parse(R"({"one":{"action":"accept"},"t\"wo":{"roots":[]}})"));
  CHECK(calls[1].body.find(R"("requestState":"s\u0074\/1")") != std::string::npos);
  CHECK(body_of(calls[2])["params"]["inputResponses"] == Json::parse(R"({"three":{"roots":[]}})"));
  CHECK_FALSE(body_of(calls[2])["params"].contains("requestState"));
  for (const Request& call : calls) {
    CHECK(body_of(call)["params"]["arguments"] == Json::parse(R"({"a":1})"));
    CHECK(call.header("Mcp-Name") == "t");
    CHECK(meta_of(call)[prefix + "protocolVersion"] == "2026-07-28");
  }
}

TEST_CASE("rounds go on in streams too, with progress by the same token") {
  auto round = std::make_shared<std::atomic<int>>(0);
  ScriptedServer server(modern_server(
      {{"tools/call", [round](Connection& connection, const Request& request) {
          const bool first = (*round)++ == 0;
          begin_stream(connection);
          send_event(connection, progress_json(meta_of(request)["progressToken"].dump(), 1));
          send_event(connection,
                     result_json(id_of(request), first ? R"({"resultType":"input_required",)"
                                                         R"("requestState":"x"})"
                                                       : complete));
          connection.end_chunks();
        }}}));
  Client client = connect(server);
  int steps = 0;
  CallOptions options;
  options.on_progress = [&](const Progress&) { ++steps; };
  REQUIRE(client.call_tool("t", "", options));
  CHECK(steps == 2);
}

TEST_CASE("a server that asks for input without end is given up after ten rounds") {
  ScriptedServer server(
      modern_server({{"tools/call", answers(R"({"resultType":"input_required","inputRequests":)"
                                            R"({"k":{"method":"roots/list"}}})")}}));
  auto options = client_options(server);
  options.request_handlers["roots/list"] = [](const Message&, Responder responder) {
    responder.result(R"({"roots":[]})");
  };
  Client client = connect(options);
  const auto called = client.call_tool("t", "");
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::malformed_message);
  CHECK(count(server, "tools/call") == 11);
}

TEST_CASE("a server that only hands out state is asked again at a growing pace") {
  const std::string state = R"({"resultType":"input_required","requestState":"x"})";
  ScriptedServer server(modern_server({{"tools/call", results({state, state, complete})}}));
  Client client = connect(server);
  REQUIRE(client.call_tool("t", ""));
  const auto calls = received(server, "tools/call");
  REQUIRE(calls.size() == 3);
  CHECK(calls[1].received_at - calls[0].received_at >= 50ms);
  CHECK(calls[2].received_at - calls[1].received_at >= 100ms);
  CHECK_FALSE(body_of(calls[1])["params"].contains("inputResponses"));
  CHECK(body_of(calls[1])["params"]["requestState"] == "x");
}

TEST_CASE("an application that wants to supply the input itself is given the request for it") {
  const std::string required = R"({"resultType":"input_required","requestState":"x"})";
  ScriptedServer server(modern_server({{"tools/call", answers(required)}}));
  Client client = connect(server);
  CallOptions options;
  options.return_input_required = true;
  const auto answer = client.request("tools/call", R"({"name":"t"})", options);
  REQUIRE(answer);
  CHECK(answer->result() == required);
  CHECK(count(server, "tools/call") == 1);
}

TEST_CASE("a call whose input nobody supplies ends, and is not repeated") {
  const auto method = GENERATE(as<std::string>(), "no/handler", "fails", "drops", "throws");
  CAPTURE(method);
  ScriptedServer server(modern_server(
      {{"tools/call", answers(R"({"resultType":"input_required","inputRequests":{"k":{"method":")" +
                              method + R"("}}})")}}));
  auto options = client_options(server);
  options.request_handlers["fails"] = [](const Message&, Responder responder) {
    responder.error(-1, "no");
  };
  options.request_handlers["drops"] = [](const Message&, const Responder&) {};
  options.request_handlers["throws"] = [](const Message&, const Responder&) { throw 7; };
  Client client = connect(options);
  const auto called = client.call_tool("t", "");
  REQUIRE_FALSE(called);
  note_seen(called.error());
  CHECK(called.error().code == ErrorCode::input_refused);
  CHECK(called.error().delivery == Delivery::answered);
  CHECK(count(server, "tools/call") == 1);
}

TEST_CASE("nobody is asked for input if there is a request that has no handler or is none") {
  const auto requests = GENERATE(as<std::string>(), "[1,2]", "7", "null", R"({"a":7})",
                                 R"({"a":{"method":7}})", R"({"a":{"method":"ask","params":7}})",
                                 R"({"a":{"method":"ask"},"b":{"method":"nobody"}})",
                                 R"({"a":{"method":"ask"},"\u0061":{"method":"ask"}})");
  CAPTURE(requests);
  ScriptedServer server(
      modern_server({{"tools/call", answers(R"({"resultType":"input_required","inputRequests":)" +
                                            requests + R"(,"requestState":"x"})")}}));
  auto options = client_options(server);
  std::atomic<int> asked{0};
  options.request_handlers["ask"] = [&](const Message&, Responder responder) {
    ++asked;
    responder.result("{}");
  };
  Client client = connect(options);
  const auto called = client.call_tool("t", "");
  REQUIRE_FALSE(called);
  const bool lacks_handler = requests.find("nobody") != std::string::npos;
  CHECK(called.error().code ==
        (lacks_handler ? ErrorCode::input_refused : ErrorCode::malformed_message));
  CHECK(asked == 0);
  CHECK(count(server, "tools/call") == 1);
}

// --- Mirrored parameters

namespace {

const std::string tools_with_header =
    R"({"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object","properties":)"
    R"({"region":{"type":"string","x-mcp-header":"Region"}}}}]})";

}  // namespace

TEST_CASE("parameters of a listed tool are mirrored into headers") {
  ScriptedServer server(modern_server({{"tools/list", answers(tools_with_header)}}));
  Client client = connect(server);
  REQUIRE(client.list_tools());
  REQUIRE(client.call_tool("t", R"({"region":"us-west1"})"));
  REQUIRE(client.call_tool("t", R"({"region":null})"));
  const auto calls = received(server, "tools/call");
  CHECK(calls.at(0).header("Mcp-Param-Region") == "us-west1");
  CHECK(calls.at(1).header_count("Mcp-Param-Region") == 0);
}

TEST_CASE("headers that do not fit lead to one list of tools and one more try") {
  const bool ever_fits = GENERATE(true, false);
  CAPTURE(ever_fits);
  ScriptedServer server(
      modern_server({{"tools/list", answers(tools_with_header)},
                     {"tools/call", [ever_fits](Connection& connection, const Request& request) {
                        if (ever_fits && request.header("Mcp-Param-Region"))
                          return answer_json(connection, request, complete);
                        rpc_error(400, -32020)(connection, request);
                      }}}));
  Client client = connect(server);
  const auto called = client.call_tool("t", R"({"region":"r"})");
  CHECK(called.has_value() == ever_fits);
  if (!ever_fits) {
    CHECK(called.error().code == ErrorCode::rpc_error);
    CHECK(called.error().rpc_code == -32020);
  }
  CHECK(count(server, "tools/list") == 1);
  const auto calls = received(server, "tools/call");
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].header_count("Mcp-Param-Region") == 0);
  CHECK(calls[1].header("Mcp-Param-Region") == "r");
  CHECK(id_of(calls[0]) != id_of(calls[1]));
}

TEST_CASE("a tool without a name is left out with a warning, and its annotations with it") {
  ScriptedServer server(modern_server(
      {{"tools/list",
        answers(R"({"resultType":"complete","tools":[7,{"name":7},{"name":"t"}]})")}}));
  auto options = client_options(server);
  int warnings = 0;
  options.on_warning = [&](const Warning& warning) {
    note_seen(warning);
    warnings += warning.kind == WarningKind::invalid_tool ? 1 : 0;
  };
  Client client = connect(options);
  const auto tools = client.list_tools();
  REQUIRE(tools);
  REQUIRE(tools->size() == 1);
  CHECK(tools->front().name == "t");
  CHECK(warnings == 2);
  CHECK(client.set_log_level("bogus").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("a tool whose annotations break a rule is left out with a warning") {
  ScriptedServer server(modern_server(
      {{"tools/list",
        answers(R"({"resultType":"complete","tools":[{"name":"good","inputSchema":{}},)"
                R"({"name":"bad","inputSchema":{"properties":)"
                R"({"n":{"type":"number","x-mcp-header":"N"}}}}]})")}}));
  auto options = client_options(server);
  std::vector<Warning> warnings;
  options.on_warning = [&](const Warning& warning) {
    note_seen(warning);
    warnings.push_back(warning);
  };
  Client client = connect(options);
  const auto tools = client.list_tools();
  REQUIRE(tools);
  REQUIRE(tools->size() == 1);
  CHECK(tools->front().name == "good");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].kind == WarningKind::invalid_tool);
  CHECK(warnings[0].text.find("bad") != std::string::npos);
}

// --- Which era

TEST_CASE("a server that knows nothing of the modern era is spoken to in the legacy one") {
  struct Case {
    std::string name;
    ScriptedServer::Handler discover;
  };
  const auto answer = GENERATE_REF(
      Case{"an unknown method", rpc_error(200, -32601)},
      Case{"an unknown method under 404", rpc_error(404, -32601)},
      Case{"no session", rpc_error(400, -32000)}, Case{"a page under 404", page(404)},
      Case{"a page under 406", page(406)}, Case{"a page under 415", page(415)},
      Case{"a page under 405", page(405)}, Case{"an empty 400", page(400, "")},
      Case{"a page over the limit", page(404, std::string(5000, 'x'))},
      Case{"a page that never ends",
           [](Connection& connection, const Request&) {
             connection.write_head(
                 404, {{"Content-Type", "text/html"}, {"Transfer-Encoding", "chunked"}});
             while (connection.write_chunk("x") && connection.pause(5ms)) {
             }
           }},
      Case{"a flood of a page",
           [](Connection& connection, const Request&) {
             connection.write_head(404, {{"Content-Type", "text/html"}});
             write_for_ever(connection, std::string(10'000, 'x'));
           }},
      Case{"legacy versions", answers(R"({"supportedVersions":["2025-11-25"]})")},
      Case{"anything", answers("{}")});
  CAPTURE(answer.name);
  ScriptedServer server(legacy_server(answer.discover));
  auto options = client_options(server);
  options.limits.max_error_response_size = 1000;
  options.timeouts.diagnostic = 100ms;
  Client client = connect(options);
  CHECK(client.server().implementation.name == "legacy");
  REQUIRE(client.call_tool("t", ""));
  CHECK(count(server, "initialize") == 1);
  const auto calls = received(server, "tools/call");
  CHECK(calls.at(0).header("MCP-Protocol-Version") == "2025-11-25");
  CHECK(calls.at(0).header_count("Mcp-Method") == 0);
  CHECK_FALSE(body_of(calls.at(0))["params"].contains("_meta"));
  CHECK(received(server, "initialize").at(0).header_count("MCP-Protocol-Version") == 0);
}

TEST_CASE("what is no sign of an era is reported and does not lead to a handshake") {
  struct Case {
    std::string name;
    ScriptedServer::Handler discover;
    ErrorCode code;
  };
  const auto answer = GENERATE_REF(
      Case{"503", page(503), ErrorCode::http_error}, Case{"429", page(429), ErrorCode::http_error},
      Case{"401", page(401), ErrorCode::unauthorized},
      Case{"403", page(403), ErrorCode::http_error}, Case{"407", page(407), ErrorCode::http_error},
      Case{"408", page(408), ErrorCode::http_error}, Case{"425", page(425), ErrorCode::http_error},
      Case{"500", page(500), ErrorCode::http_error},
      Case{"headers that do not fit", rpc_error(400, -32020), ErrorCode::rpc_error},
      Case{"a cut in the body",
           [](Connection& connection, const Request&) {
             connection.write(
                 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                 "Content-Length: 100\r\n\r\n{");
             connection.close();
           },
           ErrorCode::body_truncated},
      Case{"a reset", [](Connection& connection, const Request&) { connection.reset(); },
           ErrorCode::connection_lost},
      Case{"a JSON-RPC error under 500", rpc_error(500, -32603), ErrorCode::rpc_error},
      Case{"a missing capability", rpc_error(400, -32021), ErrorCode::rpc_error},
      Case{"no version in common", rpc_error(400, -32022, R"({"supported":["2099-01-01"]})"),
           ErrorCode::unsupported_version},
      Case{"an oversized JSON error", rpc_error(400, -32601, '"' + std::string(5000, 'x') + '"'),
           ErrorCode::json_too_large},
      Case{"a cut", [](Connection& connection, const Request&) { connection.close(); },
           ErrorCode::connection_lost},
      Case{"a redirect",
           [](Connection& connection, const Request&) {
             connection.write_response(302, {{"Location", "/other"}}, "");
           },
           ErrorCode::redirect_refused});
  CAPTURE(answer.name);
  ScriptedServer server(legacy_server(answer.discover));
  auto options = client_options(server);
  options.limits.max_json_response_size = 2000;
  const auto client = Client::connect(options);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == answer.code);
  CHECK(count(server, "initialize") == 0);
}

TEST_CASE("a server of 2024-11-05 is named as one") {
  const int status = GENERATE(400, 404, 405);
  const bool is_older = GENERATE(true, false);
  ScriptedServer server([=](Connection& connection, const Request& request) {
    if (request.method == "POST") return page(status)(connection, request);
    begin_stream(connection);
    connection.write_chunk(is_older ? "event: endpoint\ndata: /messages?s=1\n\n" : "data: {}\n\n");
    connection.peer_closed(guard);
  });
  const auto client = Client::connect(client_options(server));
  REQUIRE_FALSE(client);
  CHECK(client.error().http_status == status);
  CHECK(client.error().code == (is_older ? ErrorCode::unsupported_version : ErrorCode::http_error));
  CHECK((client.error().detail.find("2024-11-05") != std::string::npos) == is_older);
}

TEST_CASE("a time-out while asking for the era tells how not to ask") {
  ScriptedServer server(
      legacy_server([](Connection& connection, const Request&) { connection.peer_closed(guard); }));
  auto options = client_options(server);
  options.timeouts.headers = 50ms;
  const auto client = Client::connect(options);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::timeout_header);
  CHECK(client.error().detail.find("Era::legacy") != std::string::npos);
  CHECK(count(server, "initialize") == 0);
}

TEST_CASE("a version that the server does not know is replaced by one in common, once") {
  const bool agrees = GENERATE(true, false);
  CAPTURE(agrees);
  auto asked = std::make_shared<std::atomic<int>>(0);
  ScriptedServer server(modern_server(
      {{"server/discover", [agrees, asked](Connection& connection, const Request& request) {
          if ((*asked)++ > 0 && agrees) return answer_json(connection, request, discovery);
          rpc_error(400, -32022, R"({"supported":["2026-07-28"]})")(connection, request);
        }}}));
  const auto client = Client::connect(client_options(server));
  CHECK(client.has_value() == agrees);
  if (!client) CHECK(client.error().rpc_code == -32022);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a client that speaks the modern era alone begins no handshake") {
  ScriptedServer server(legacy_server(page(404)));
  auto options = client_options(server);
  options.era = Era::modern;
  const auto client = Client::connect(options);
  REQUIRE_FALSE(client);
  CHECK(client.error().http_status == 404);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("an endpoint known as legacy is not asked again") {
  ScriptedServer server(legacy_server(rpc_error(200, -32601)));
  auto options = client_options(server);
  options.era_cache = std::make_shared<EraCache>();
  connect(options);
  CHECK(count(server, "server/discover") == 1);
  CHECK(options.era_cache->find(server.url()) == Era::legacy);
  connect(options);
  CHECK(count(server, "server/discover") == 1);
  CHECK(count(server, "initialize") == 2);
}

TEST_CASE("an era that is no longer true is found anew") {
  ScriptedServer server(modern_server({{"initialize", rpc_error(404, -32601)}}));
  auto options = client_options(server);
  options.era_cache = std::make_shared<EraCache>();
  options.era_cache->store(server.url(), Era::legacy);
  const Client client = connect(options);
  CHECK(client.server().protocol_version == "2026-07-28");
  CHECK(options.era_cache->find(server.url()) == Era::modern);
}
