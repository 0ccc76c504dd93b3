// What a client does with a server of the legacy era beyond plain calls: sessions that are lost and
// ended, calls that are cancelled, requests and messages of the server's own.
#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
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

Json body_of(const Request& request) { return Json::parse(request.body, nullptr, false); }

// Empty also for a request without body, which method_of() does not take.
std::string rpc_method_of(const Request& request) {
  return request.body.empty() ? "" : method_of(request);
}

bool is_response(const Request& request) {
  const Json body = body_of(request);
  return body.contains("result") || body.contains("error");
}

// A legacy server with one session at a time. Answers GET with 405 and calls with {} unless
// `methods`, by HTTP method or JSON-RPC method, says otherwise.
class SessionServer {
 public:
  explicit SessionServer(Methods methods = {}, int status_of_loss = 404)
      : methods_(std::move(methods)),
        status_of_loss_(status_of_loss),
        server_([this](Connection& connection, const Request& request) {
          serve(connection, request);
        }) {}

  // The next `refusals` requests in the lost session are answered together.
  void lose_session(std::size_t refusals = 1) {
    refusals_ = refusals;
    ++session_;
  }
  // From now on no session lives longer than its handshake, or each does again.
  void lose_every_session(bool forgetful = true) { forgetful_ = forgetful; }

  const ScriptedServer& http() const { return server_; }

  std::vector<Request> received(const std::string& method) const {
    std::vector<Request> found;
    for (const Request& request : server_.requests()) {
      if (request.method == method || rpc_method_of(request) == method) found.push_back(request);
    }
    return found;
  }
  std::size_t count(const std::string& method) const { return received(method).size(); }

  // The client's answers to requests of the server, by id.
  std::map<std::string, Json> answers() const {
    std::map<std::string, Json> found;
    for (const Request& request : server_.requests()) {
      if (is_response(request)) found[id_of(request)] = body_of(request);
    }
    return found;
  }
  bool wait_for_answers(std::size_t count) const {
    return eventually([&] { return answers().size() >= count; });
  }

 private:
  void serve(Connection& connection, const Request& request) {
    const std::string method = rpc_method_of(request);
    if (method == "initialize" && methods_.count(method) == 0)
      return initialize(connection, request);
    const bool known = request.header("MCP-Session-Id") == session_id();
    if (method != "initialize" &&
        (!known || (forgetful_ && method != "notifications/initialized"))) {
      refused_.open();
      refused_.wait_for(refusals_);
      connection.write_response(status_of_loss_, {}, "");
      return;
    }
    auto found = methods_.find(request.method);
    if (found == methods_.end()) found = methods_.find(method);
    if (found != methods_.end()) return found->second(connection, request);
    if (request.method == "GET") return refuse_stream(connection);
    if (request.method == "DELETE") {
      connection.write_response(200, {}, "");
    } else if (id_of(request) == "null" || is_response(request)) {
      accept_message(connection);
    } else {
      answer_json(connection, request);
    }
  }

  static void refuse_stream(Connection& connection) {
    connection.write_response(405, {{"Allow", "POST, DELETE"}}, "");
  }

  void initialize(Connection& connection, const Request& request) {
    connection.write_response(
        200, {{"Content-Type", "application/json"}, {"MCP-Session-Id", session_id()}},
        result_json(id_of(request), R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                    R"("serverInfo":{"name":"s","version":"1"}})"));
  }

  std::string session_id() const { return "s-" + std::to_string(session_); }

  const Methods methods_;
  const int status_of_loss_;
  std::atomic<int> session_{1};
  std::atomic<bool> forgetful_{false};
  std::atomic<std::size_t> refusals_{1};
  Gate refused_;
  ScriptedServer server_;  // last: its threads use all the others
};

// Counts warnings by kind. Thread-safe.
class Warnings {
 public:
  std::function<void(const Warning&)> sink() {
    return [this](const Warning& warning) {
      note_seen(warning);
      const std::lock_guard lock(mutex_);
      ++counts_[warning.kind];
    };
  }
  int count(WarningKind kind) {
    const std::lock_guard lock(mutex_);
    return counts_[kind];
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return counts_.empty();
  }

 private:
  std::mutex mutex_;
  std::map<WarningKind, int> counts_;
};

ClientOptions client_options(const SessionServer& server) {
  ClientOptions options;
  options.url = server.http().url();
  options.era = Era::legacy;
  return options;
}

std::string server_request(const std::string& id, const std::string& method) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{"a":1}})";
}

}  // namespace

// --- Sessions

TEST_CASE("a lost session is replaced once, whoever saw it, and each call is repeated once") {
  constexpr std::size_t callers = 4;
  Warnings warnings;
  SessionServer server;
  auto options = client_options(server);
  options.on_warning = warnings.sink();
  Client client = connect(options);
  REQUIRE(client.set_log_level("debug"));
  server.lose_session(callers);

  std::atomic<std::size_t> good{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < callers; ++i) {
    threads.emplace_back([&] {
      if (client.call_tool("t", "")) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == callers);
  CHECK(client.session_id() == "s-2");
  CHECK(server.count("initialize") == 2);
  CHECK(server.count("notifications/initialized") == 2);
  CHECK(server.received("initialize")[1].header_count("MCP-Session-Id") == 0);
  CHECK(warnings.count(WarningKind::session_restarted) == 1);

  std::map<std::string, std::vector<std::string>> sessions_by_id;
  for (const Request& request : server.received("tools/call")) {
    sessions_by_id[id_of(request)].push_back(request.header("MCP-Session-Id").value_or(""));
  }
  CHECK(sessions_by_id.size() == callers);
  for (const auto& [id, sessions] : sessions_by_id) {
    CHECK(sessions == std::vector<std::string>{"s-1", "s-2"});
  }
  REQUIRE(eventually([&] { return server.count("logging/setLevel") == 2; }));
  CHECK(body_of(server.received("logging/setLevel")[1])["params"]["level"] == "debug");
}

TEST_CASE("a call whose new session is lost as well fails, and is not sent a third time") {
  SessionServer server;
  Client client = connect(client_options(server));
  server.lose_every_session();
  const auto called = client.call_tool("t", "");
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::session_expired);
  CHECK(called.error().http_status == 404);
  CHECK(server.count("tools/call") == 2);
  CHECK(server.count("initialize") == 2);
}

TEST_CASE("400 means a lost session only for a client that was told so") {
  const bool told = GENERATE(false, true);
  CAPTURE(told);
  SessionServer server({}, 400);
  auto options = client_options(server);
  options.recover_session_on_400 = told;
  Client client = connect(options);
  server.lose_session();
  const auto called = client.call_tool("t", "");
  CHECK(called.has_value() == told);
  if (!told) CHECK(called.error().code == ErrorCode::http_error);
  CHECK(server.count("initialize") == (told ? 2 : 1));
  CHECK(server.count("tools/call") == (told ? 2 : 1));
}

TEST_CASE("close ends the session, and what is called afterwards is refused") {
  SessionServer server;
  Client client = connect(client_options(server));
  REQUIRE(client.close());
  REQUIRE(server.count("DELETE") == 1);
  CHECK(server.received("DELETE")[0].header("MCP-Session-Id") == "s-1");
  CHECK(server.received("DELETE")[0].header("MCP-Protocol-Version") == "2025-11-25");
  CHECK(code_of(client.call_tool("t", "")) == ErrorCode::closed);
  CHECK(code_of(client.notify("notifications/x", "")) == ErrorCode::closed);
  CHECK(code_of(client.list_tools()) == ErrorCode::closed);
  std::optional<ErrorCode> code;
  Gate done;
  const Call call = client.start_tool("t", "", {}, [&](const Result<ToolResult>& outcome) {
    if (!outcome) code = outcome.error().code;
    done.open();
  });
  REQUIRE(done.wait());
  CHECK(code == ErrorCode::closed);
  CHECK(client.close());
  CHECK(server.count("DELETE") == 1);
  CHECK(server.count("tools/call") == 0);
}

TEST_CASE("a session of another process is continued without a handshake") {
  SessionServer server;
  auto options = client_options(server);
  options.session_id = "s-1";
  options.protocol_version = "2025-06-18";
  Client client = connect(options);
  CHECK(server.http().requests().empty());
  CHECK(client.server().protocol_version.empty());
  REQUIRE(client.call_tool("t", ""));
  const auto requests = server.http().requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].header("MCP-Session-Id") == "s-1");
  CHECK(requests[0].header("MCP-Protocol-Version") == "2025-06-18");
}

// --- Cancellation

TEST_CASE("a call that is stopped is reported to the server by its id") {
  SessionServer server({{"tools/call", [](Connection& connection, const Request&) {
                           connection.peer_closed(guard);
                         }}});
  Client client = connect(client_options(server));
  std::stop_source stop;
  std::thread stopper([&] {
    eventually([&] { return server.count("tools/call") == 1; });
    stop.request_stop();
  });
  CallOptions options;
  options.stop = stop.get_token();
  const auto called = client.call_tool("t", "", options);
  stopper.join();
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::cancelled);
  REQUIRE(eventually([&] { return server.count("notifications/cancelled") == 1; }));
  const Json cancelled = body_of(server.received("notifications/cancelled")[0]);
  CHECK(cancelled["params"]["requestId"].dump() == id_of(server.received("tools/call")[0]));
}

TEST_CASE("a handshake that ran out of time is not reported as cancelled") {
  SessionServer server({{"initialize", [](Connection& connection, const Request&) {
                           connection.peer_closed(guard);
                         }}});
  auto options = client_options(server);
  options.timeouts.headers = 50ms;
  const auto client = Client::connect(options);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::timeout_header);
  std::this_thread::sleep_for(100ms);
  CHECK(server.http().requests().size() == 1);
}

// --- Requests of the server

TEST_CASE("a request of the server is answered while the call that brought it waits") {
  SessionServer* self = nullptr;
  SessionServer server({{"tools/call", [&self](Connection& connection, const Request& request) {
                           begin_stream(connection);
                           send_event(connection, server_request("77", "sampling/createMessage"));
                           self->wait_for_answers(1);
                           send_event(connection, result_json(id_of(request), R"({"content":[]})"));
                           connection.end_chunks();
                         }}});
  self = &server;
  auto options = client_options(server);
  std::string params;
  options.request_handlers["sampling/createMessage"] = [&](const Message& request,
                                                           Responder responder) {
    params = std::string(request.params());
    responder.result(R"({"role":"assistant"})");
  };
  Client client = connect(options);
  REQUIRE(client.call_tool("t", ""));
  CHECK(params == R"({"a":1})");
  CHECK(server.answers().at("77")["result"] == Json::parse(R"({"role":"assistant"})"));
  CHECK(body_of(server.received("initialize")[0])["params"]["capabilities"].contains("sampling"));
}

TEST_CASE("what no handler answers is answered by the client") {
  SessionServer* self = nullptr;
  SessionServer server({{"tools/call", [&self](Connection& connection, const Request& request) {
                           begin_stream(connection);
                           send_event(connection, server_request("1", "ping"));
                           send_event(connection, server_request("\"b\"", "no/such"));
                           send_event(connection, server_request("3", "throws"));
                           send_event(connection, server_request("4", "drops"));
                           self->wait_for_answers(4);
                           send_event(connection, result_json(id_of(request)));
                           connection.end_chunks();
                         }}});
  self = &server;
  auto options = client_options(server);
  options.request_handlers["throws"] = [](const Message&, const Responder&) {
    throw std::runtime_error("no");
  };
  options.request_handlers["drops"] = [](const Message&, const Responder&) {};
  Client client = connect(options);
  REQUIRE(client.call_tool("t", ""));
  const auto answers = server.answers();
  REQUIRE(answers.size() == 4);
  CHECK(answers.at("1")["result"] == Json::object());
  CHECK(answers.at("\"b\"")["error"]["code"] == -32601);
  CHECK(answers.at("3")["error"]["code"] == -32603);
  CHECK(answers.at("4")["error"]["code"] == -32603);
}

TEST_CASE("no more than 16 requests of one stream are unanswered at a time") {
  constexpr std::size_t total = 20;
  constexpr std::size_t most = 16;
  SessionServer* self = nullptr;
  SessionServer server({{"tools/call", [&self](Connection& connection, const Request& request) {
                           begin_stream(connection);
                           for (std::size_t i = 0; i < total; ++i) {
                             send_event(connection, server_request(std::to_string(i), "ask"));
                           }
                           self->wait_for_answers(total);
                           send_event(connection, result_json(id_of(request)));
                           connection.end_chunks();
                         }}});
  self = &server;
  std::mutex mutex;
  std::vector<Responder> waiting;
  Gate asked;
  auto options = client_options(server);
  options.request_handlers["ask"] = [&](const Message&, Responder responder) {
    const std::lock_guard lock(mutex);
    waiting.push_back(std::move(responder));
    asked.open();
  };
  Client client = connect(options);
  std::optional<bool> good;
  std::thread caller([&] { good = client.call_tool("t", "").has_value(); });

  const bool all_asked = asked.wait_for(most);
  std::this_thread::sleep_for(100ms);
  const std::size_t asked_at_once = asked.times_opened();
  for (std::size_t answered = 0; all_asked && answered < total;) {
    if (!asked.wait_for(answered + 1)) break;
    std::vector<Responder> batch;
    {
      const std::lock_guard lock(mutex);
      batch.swap(waiting);
    }
    for (Responder& responder : batch) responder.result("{}");
    answered += batch.size();
  }
  caller.join();
  CHECK(all_asked);
  CHECK(asked_at_once == most);
  CHECK(asked.times_opened() == total);
  CHECK(server.answers().size() == total);
  CHECK(good == true);
}

TEST_CASE("requests are held back too while the server takes no answers to them") {
  constexpr std::size_t total = 20;
  constexpr std::size_t most = 16;
  const std::string method = GENERATE("ping", "no/such", "handled");
  CAPTURE(method);
  Gate take_answers;
  SessionServer* self = nullptr;
  const auto ask = [&, method](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (std::size_t i = 0; i < total; ++i) {
      send_event(connection, server_request(std::to_string(i), method));
    }
    self->wait_for_answers(total);
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  };
  // An answer has no method.
  SessionServer server({{"tools/call", ask}, {"", [&](Connection& connection, const Request&) {
                                                take_answers.wait();
                                                accept_message(connection);
                                              }}});
  self = &server;
  auto options = client_options(server);
  options.request_handlers["handled"] = [](const Message&, Responder responder) {
    responder.result("{}");
  };
  Client client = connect(options);
  std::optional<bool> good;
  std::thread caller([&] { good = client.call_tool("t", "").has_value(); });
  const bool all_sent = server.wait_for_answers(most);
  std::this_thread::sleep_for(100ms);
  const std::size_t sent_at_once = server.answers().size();
  take_answers.open();
  caller.join();
  CHECK(all_sent);
  CHECK(sent_at_once == most);
  CHECK(server.answers().size() == total);
  CHECK(good == true);
}

// --- The stream of server messages

TEST_CASE(
    "a client that wants messages opens a stream for them, and one that does not opens none") {
  const bool wants = GENERATE(false, true);
  CAPTURE(wants);
  Gate arrived;
  SessionServer server({{"GET", [](Connection& connection, const Request&) {
                           begin_stream(connection);
                           send_event(connection, notification_json);
                           connection.peer_closed(guard);
                         }}});
  auto options = client_options(server);
  if (wants) options.on_notification = [&](const Message&) { arrived.open(); };
  Client client = connect(options);
  REQUIRE(client.call_tool("t", ""));
  if (wants) {
    REQUIRE(arrived.wait());
    CHECK(server.received("GET")[0].header("MCP-Session-Id") == "s-1");
    CHECK(server.received("GET")[0].header("Accept") == "text/event-stream");
  }
  CHECK(server.count("GET") == (wants ? 1 : 0));
}

TEST_CASE("a server without a stream of messages is asked for it once, and nobody is warned") {
  Warnings warnings;
  SessionServer server;
  auto options = client_options(server);
  options.on_notification = [](const Message&) {};
  options.on_warning = warnings.sink();
  Client client = connect(options);
  REQUIRE(eventually([&] { return server.count("GET") == 1; }));
  for (int i = 0; i < 5; ++i) REQUIRE(client.call_tool("t", ""));
  std::this_thread::sleep_for(50ms);
  CHECK(server.count("GET") == 1);
  CHECK(warnings.empty());
}

TEST_CASE("calls do not wait for a stream whose headers are late") {
  Gate go_on;
  Gate arrived;
  SessionServer server({{"GET", [&](Connection& connection, const Request&) {
                           go_on.wait();
                           begin_stream(connection);
                           send_event(connection, notification_json);
                           connection.peer_closed(guard);
                         }}});
  auto options = client_options(server);
  options.on_notification = [&](const Message&) { arrived.open(); };
  Client client = connect(options);
  REQUIRE(eventually([&] { return server.count("GET") == 1; }));
  for (int i = 0; i < 3; ++i) CHECK(client.call_tool("t", ""));
  CHECK(arrived.times_opened() == 0);
  go_on.open();
  CHECK(arrived.wait());
}

// Servers ask on whatever stream they have at that moment.
TEST_CASE("a server that asks on its stream during the very first call is heard") {
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> has_stream{false};
    std::atomic<bool> was_early{false};
    SessionServer server({{"GET",
                           [&](Connection& connection, const Request&) {
                             has_stream = true;
                             begin_stream(connection);
                             connection.peer_closed(guard);
                           }},
                          {"tools/call", [&](Connection& connection, const Request& request) {
                             was_early = !has_stream;
                             answer_json(connection, request);
                           }}});
    auto options = client_options(server);
    options.request_handlers["roots/list"] = [](const Message&, const Responder&) {};
    Client client = connect(options);
    REQUIRE(client.call_tool("t", ""));
    CHECK_FALSE(was_early);
  }
}

TEST_CASE("a request on the stream of messages is answered by its handler") {
  SessionServer server({{"GET", [](Connection& connection, const Request&) {
                           begin_stream(connection);
                           send_event(connection, server_request("5", "roots/list"));
                           connection.peer_closed(guard);
                         }}});
  auto options = client_options(server);
  options.request_handlers["roots/list"] = [](const Message&, Responder responder) {
    responder.result(R"({"roots":[]})");
  };
  Client client = connect(options);
  REQUIRE(server.wait_for_answers(1));
  CHECK(server.answers().at("5")["result"] == Json::parse(R"({"roots":[]})"));
}

TEST_CASE("the stream of messages is opened again in the session that replaced a lost one") {
  Gate arrived;
  SessionServer server({{"GET", [](Connection& connection, const Request&) {
                           begin_stream(connection);
                           send_event(connection, notification_json);
                           connection.peer_closed(guard);
                         }}});
  auto options = client_options(server);
  options.on_notification = [&](const Message&) { arrived.open(); };
  Client client = connect(options);
  REQUIRE(arrived.wait_for(1));
  server.lose_session();
  REQUIRE(client.call_tool("t", ""));
  REQUIRE(arrived.wait_for(2));
  std::this_thread::sleep_for(50ms);
  REQUIRE(server.count("GET") == 2);
  CHECK(server.received("GET")[1].header("MCP-Session-Id") == "s-2");
  CHECK(server.count("initialize") == 2);
}

TEST_CASE("the stream of messages outlives sessions that are lost before it is open again") {
  Warnings warnings;
  Gate arrived;
  SessionServer server({{"GET", [](Connection& connection, const Request&) {
                           begin_stream(connection);
                           send_event(connection, notification_json);
                           connection.peer_closed(guard);
                         }}});
  auto options = client_options(server);
  options.on_notification = [&](const Message&) { arrived.open(); };
  options.on_warning = warnings.sink();
  options.reconnection = {20ms, 100ms, 5};
  Client client = connect(options);
  REQUIRE(arrived.wait_for(1));
  server.lose_every_session();
  server.lose_session();
  CHECK(client.call_tool("t", "").error().code == ErrorCode::session_expired);
  std::this_thread::sleep_for(500ms);
  CHECK(server.count("GET") > 3);
  CHECK(server.count("GET") < 60);  // no hot loop
  server.lose_every_session(false);
  CHECK(arrived.wait_for(2));
  CHECK(warnings.count(WarningKind::stream_not_reopened) == 0);
}

TEST_CASE("the stream of messages is opened again once a server that is away has come back") {
  Gate arrived;
  std::atomic<bool> away{false};
  std::atomic<int> session{1};
  const auto initialize = [&](Connection& connection, const Request& request) {
    if (away) return void(connection.write_response(503, {}, ""));
    connection.write_response(
        200,
        {{"Content-Type", "application/json"}, {"MCP-Session-Id", "s-" + std::to_string(session)}},
        result_json(id_of(request), R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                    R"("serverInfo":{"name":"s","version":"1"}})"));
  };
  SessionServer server(
      {{"initialize", initialize}, {"GET", [](Connection& connection, const Request&) {
                                      begin_stream(connection);
                                      send_event(connection, notification_json);
                                      connection.peer_closed(guard);
                                    }}});
  auto options = client_options(server);
  options.on_notification = [&](const Message&) { arrived.open(); };
  options.reconnection = {20ms, 100ms, 5};
  Client client = connect(options);
  REQUIRE(arrived.wait_for(1));
  away = true;
  ++session;
  server.lose_session();
  CHECK(client.call_tool("t", "").error().code == ErrorCode::http_error);
  std::this_thread::sleep_for(100ms);
  away = false;
  CHECK(arrived.wait_for(2));
}

TEST_CASE("a call whose stream broke off in a session that is lost ends, and is not sent again") {
  SessionServer* self = nullptr;
  SessionServer server({{"tools/call", [&self](Connection& connection, const Request&) {
                           begin_stream(connection);
                           connection.write_chunk("id: 1\nretry: 20\ndata: \n\n");
                           self->lose_session();
                           connection.close();
                         }}});
  self = &server;
  Client client = connect(client_options(server));
  const auto called = client.call_tool("t", "");
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::session_expired);
  CHECK(server.count("GET") == 1);
  CHECK(server.count("tools/call") == 1);
  CHECK(client.ping());
  CHECK(server.count("initialize") == 2);
}
