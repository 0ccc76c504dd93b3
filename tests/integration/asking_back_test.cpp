// Calls that ask back before they are answered: they end, whoever makes them and from wherever.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "era_server.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

// A server with two tools. "ask" asks the user for a name and answers with what it was told;
// "report" sends one progress notification, and answers once `released` is open.
class AskingServer {
 public:
  explicit AskingServer(Era era)
      : server_(era, [this, era](Connection& connection, const Request& request) {
          const Json params = Json::parse(request.body)["params"];
          if (params["name"] == "report") return report(connection, request);
          if (era == Era::modern) return ask_by_result(connection, request, params);
          ask_in_stream(connection, request);
        }) {}

  ClientOptions options() const { return server_.options(); }
  const EraServer& era_server() const { return server_; }
  void release() { released_.open(); }

 private:
  static std::string said(const Json& answer) {
    return Json{{"resultType", "complete"},
                {"content", {{{"type", "text"}, {"text", answer["content"]["name"]}}}}}
        .dump();
  }

  // MCP 2025-11-25, Elicitation, on the stream of the call.
  void ask_in_stream(Connection& connection, const Request& request) {
    const std::string id = "\"ask-" + id_of(request) + "\"";
    begin_stream(connection);
    send_event(connection, R"({"jsonrpc":"2.0","id":)" + id +
                               R"(,"method":"elicitation/create","params":{"message":"name?"}})");
    const auto response = server_.wait_for_response(id);
    if (!response) return connection.reset();
    send_event(connection,
               result_json(id_of(request), said(Json::parse(response->body)["result"])));
    connection.end_chunks();
  }

  // MCP 2026-07-28, Multi Round-Trip Requests.
  static void ask_by_result(Connection& connection, const Request& request, const Json& params) {
    if (params.contains("inputResponses"))
      return answer_json(connection, request, said(params["inputResponses"]["who"]));
    answer_json(connection, request,
                R"({"resultType":"input_required","inputRequests":{"who":)"
                R"({"method":"elicitation/create","params":{"message":"name?"}}}})");
  }

  void report(Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json(progress_token_of(request), 1));
    released_.wait();
    send_event(connection,
               result_json(id_of(request), R"({"resultType":"complete","content":[]})"));
    connection.end_chunks();
  }

  Gate released_;
  EraServer server_;  // last: its threads use the others
};

// An asynchronous call of "ask", and what it came to.
class Asked {
 public:
  void start(Client& client) {
    call_ = client.start_tool("ask", "", {}, [this](const Result<ToolResult>& result) {
      if (result) said_ = result->content.at(0).text;
      done_.open();
    });
  }
  bool wait() const { return done_.wait(); }
  // To be looked at after wait().
  const std::string& said() const { return said_; }

 private:
  Gate done_;
  std::string said_;
  Call call_;  // last: its callback uses the others
};

void answer_with_name(const Message& /*request*/, Responder responder) {
  responder.result(R"({"action":"accept","content":{"name":"Ada"}})");
}

ClientOptions answering(const AskingServer& server) {
  ClientOptions options = server.options();
  options.request_handlers["elicitation/create"] = answer_with_name;
  return options;
}

std::string said(const Result<ToolResult>& result) {
  return result ? result->content.at(0).text : result.error().to_string();
}

Era any_era() { return GENERATE(Era::legacy, Era::modern); }

}  // namespace

TEST_CASE("a call that asks back ends, even if its caller is the application's only thread") {
  const Era era = any_era();
  const auto mode = GENERATE(EventLoop::Mode::automatic, EventLoop::Mode::polled);
  const bool takes_time = GENERATE(false, true);
  CAPTURE(era, mode, takes_time);
  AskingServer server(era);
  ClientOptions options = server.options();
  options.request_handlers["elicitation/create"] = [takes_time](const Message& request,
                                                                Responder responder) {
    if (takes_time) std::this_thread::sleep_for(100ms);
    answer_with_name(request, std::move(responder));
  };
  Client client = connect(options, EventLoop(mode));
  for (int i = 0; i < 3; ++i) CHECK(said(client.call_tool("ask", "")) == "Ada");
}

TEST_CASE("a call that asks back ends, if it was started inside a callback of a blocking call") {
  const Era era = any_era();
  const bool waits_inside = GENERATE(false, true);
  CAPTURE(era, waits_inside);
  AskingServer server(era);
  Client client = connect(answering(server));
  Asked asked;
  CallOptions options;
  options.on_progress = [&](const Progress&) {
    asked.start(client);
    if (waits_inside) asked.wait();
    server.release();
  };
  CHECK(client.call_tool("report", "", options));
  REQUIRE(asked.wait());
  CHECK(asked.said() == "Ada");
}

TEST_CASE("a blocking call that asks back ends inside a callback of another blocking call") {
  const Era era = any_era();
  CAPTURE(era);
  AskingServer server(era);
  Client client = connect(answering(server));
  std::string inner;
  CallOptions options;
  options.on_progress = [&](const Progress&) {
    inner = said(client.call_tool("ask", ""));
    server.release();
  };
  CHECK(client.call_tool("report", "", options));
  CHECK(inner == "Ada");
}

TEST_CASE(
    "a call that asks back ends, if it was started inside a callback of an asynchronous one") {
  const Era era = any_era();
  const bool at_the_end = GENERATE(false, true);
  CAPTURE(era, at_the_end);
  AskingServer server(era);
  Client client = connect(answering(server));
  Asked asked;
  Gate outer_done;
  CallOptions options;
  if (!at_the_end) options.on_progress = [&](const Progress&) { asked.start(client); };
  server.release();
  const Call outer =
      client.start_tool("report", "", options, [&](const Result<ToolResult>& /*result*/) {
        if (at_the_end) asked.start(client);
        outer_done.open();
      });
  REQUIRE(outer_done.wait());
  REQUIRE(asked.wait());
  CHECK(asked.said() == "Ada");
}

TEST_CASE("a call that asks back ends, if the handler of another one makes it and waits") {
  const Era era = any_era();
  const auto outer_form = GENERATE(Form::blocking, Form::asynchronous);
  CAPTURE(era, outer_form);
  AskingServer server(era);
  ClientOptions options = server.options();
  Client* self = nullptr;
  std::atomic<int> depth{0};
  std::atomic<int> wrong{0};
  options.request_handlers["elicitation/create"] = [&](const Message& request,
                                                       Responder responder) {
    if (depth++ < 3 && said(self->call_tool("ask", "")) != "Ada") ++wrong;
    answer_with_name(request, std::move(responder));
  };
  Client client = connect(options);
  self = &client;
  CHECK(said(call_tool(client, outer_form, "ask")) == "Ada");
  CHECK(depth == 4);
  CHECK(wrong == 0);
}

TEST_CASE("a call that asks back ends, if the handler of another one answers by its outcome") {
  const Era era = any_era();
  const auto outer_form = GENERATE(Form::blocking, Form::asynchronous);
  CAPTURE(era, outer_form);
  AskingServer server(era);
  ClientOptions options = server.options();
  Client* self = nullptr;
  std::atomic<bool> is_inner{false};
  std::string inner;
  options.request_handlers["elicitation/create"] = [&](const Message& request,
                                                       Responder responder) {
    if (is_inner.exchange(true)) return answer_with_name(request, std::move(responder));
    const auto answer = std::make_shared<Responder>(std::move(responder));
    self->start_tool("ask", "", {},
                     [&, answer](const Result<ToolResult>& result) {
                       inner = said(result);
                       answer->result(R"({"action":"accept","content":{"name":"Bea"}})");
                     })
        .detach();
  };
  Client client = connect(options);
  self = &client;
  CHECK(said(call_tool(client, outer_form, "ask")) == "Bea");
  CHECK(inner == "Ada");
}
