// Timeouts::request: how long a request may go without progress.
#include <atomic>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "era_server.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

using Json = nlohmann::json;

const std::string complete = R"({"resultType":"complete","content":[]})";

// A stream with that many notifications, one every 200 ms, and then the result.
ScriptedServer::Handler steps(int count, std::function<std::string(const Request&, int)> step) {
  return [count, step = std::move(step)](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 0; i < count && connection.pause(200ms); ++i)
      send_event(connection, step(request, i));
    send_event(connection, result_json(id_of(request), complete));
    connection.end_chunks();
  };
}

std::string progress(const Request& request, int step) {
  return progress_json(progress_token_of(request), step);
}

CallOptions within(std::chrono::milliseconds request) {
  CallOptions options;
  options.timeouts.request = request;
  return options;
}

}  // namespace

TEST_CASE("a request without progress ends, and the server hears of it in the way of its era") {
  const auto era = GENERATE(Era::legacy, Era::modern);
  const auto form = GENERATE(Form::blocking, Form::asynchronous);
  const bool answers_late = GENERATE(false, true);
  CAPTURE(era, form, answers_late);
  Gate closed;
  EraServer server(era, [&](Connection& connection, const Request&) {
    if (!answers_late) begin_stream(connection);
    if (connection.peer_closed(guard)) closed.open();
  });
  Client client = connect(server.options());
  const auto begun = Clock::now();
  const auto called = call_tool(client, form, "t", within(150ms));
  REQUIRE_FALSE(called);
  CHECK(Clock::now() - begun >= 150ms);
  CHECK(called.error().code == ErrorCode::timeout_request);
  CHECK(called.error().delivery == Delivery::unknown);
  CHECK(called.error().detail == "Timeouts::request (150 ms) has passed");
  CHECK(closed.wait());
  if (era == Era::modern) {
    std::this_thread::sleep_for(50ms);
    CHECK(server.http().requests().size() == 2);
    return;
  }
  REQUIRE(eventually([&] { return !server.received("notifications/cancelled").empty(); }));
  const Json cancelled = Json::parse(server.received("notifications/cancelled")[0].body);
  CHECK(cancelled["params"]["requestId"].dump() == id_of(server.received("tools/call")[0]));
}

TEST_CASE("each progress notification gives the request its whole time again") {
  const auto era = GENERATE(Era::legacy, Era::modern);
  const auto form = GENERATE(Form::blocking, Form::asynchronous);
  const bool listens = form == Form::blocking;
  CAPTURE(era, form);
  EraServer server(era, steps(12, progress));
  ClientOptions options = server.options();
  options.timeouts.request = 800ms;
  Client client = connect(options);
  std::atomic<int> heard{0};
  CallOptions call;
  if (listens) call.on_progress = [&](const Progress&) { ++heard; };
  const auto called = call_tool(client, form, "t", call);
  CHECK(called);
  CHECK(heard == (listens ? 12 : 0));
}

TEST_CASE("nothing but progress of the request itself gives it more time") {
  struct Case {
    std::string name;
    std::string notification;
  };
  const auto sent = GENERATE(
      Case{"another token", progress_json("4242", 1)},
      Case{"the token as a string", progress_json("\"2\"", 1)},
      Case{"another notification", R"({"jsonrpc":"2.0","method":"notifications/message"})"});
  INFO(sent.name);
  EraServer server(Era::legacy,
                   steps(100, [sent](const Request&, int) { return sent.notification; }));
  Client client = connect(server.options());
  const auto called = call_tool(client, Form::blocking, "t", within(500ms));
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::timeout_request);
}

TEST_CASE("progress never extends the total time") {
  const auto form = GENERATE(Form::blocking, Form::asynchronous);
  EraServer server(Era::legacy, steps(100, progress));
  Client client = connect(server.options());
  CallOptions options = within(2s);
  options.timeouts.total = 700ms;
  const auto called = call_tool(client, form, "t", options);
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::timeout_total);
}

TEST_CASE("the request time of a call stands above that of its client, and zero is none") {
  EraServer server(Era::legacy,
                   steps(3, [](const Request&, int) { return progress_json("0", 1); }));
  ClientOptions options = server.options();
  options.timeouts.request = 100ms;
  Client client = connect(options);
  CHECK(call_tool(client, Form::blocking, "t").error().code == ErrorCode::timeout_request);
  CHECK(call_tool(client, Form::blocking, "t", within(0ms)));
}

TEST_CASE("progress is asked for only by a call that listens or is bounded by it") {
  EraServer server(Era::legacy, steps(0, progress));
  Client client = connect(server.options());
  REQUIRE(call_tool(client, Form::blocking, "t"));
  REQUIRE(call_tool(client, Form::blocking, "t", within(10s)));
  const auto calls = server.received("tools/call");
  CHECK(progress_token_of(calls.at(0)) == "null");
  CHECK(progress_token_of(calls.at(1)) == id_of(calls[1]));
}

TEST_CASE("while the application supplies input no request is under way") {
  EraServer server(Era::modern, [](Connection& connection, const Request& request) {
    const Json params = Json::parse(request.body)["params"];
    if (params.contains("inputResponses")) return answer_json(connection, request, complete);
    answer_json(connection, request,
                R"({"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}})");
  });
  ClientOptions options = server.options();
  options.request_handlers["roots/list"] = [](const Message&, Responder responder) {
    std::this_thread::sleep_for(600ms);
    responder.result(R"({"roots":[]})");
  };
  Client client = connect(options);
  CHECK(call_tool(client, Form::blocking, "t", within(400ms)));
}

TEST_CASE("a Transport takes the token from the message") {
  const bool reports = GENERATE(false, true);
  CAPTURE(reports);
  ScriptedServer server(steps(5, [reports](const Request&, int step) {
    return progress_json(reports ? R"("mine")" : R"("other")", step);
  }));
  Transport transport = make_transport(server);
  SendOptions send;
  send.timeouts.request = 600ms;
  const auto answer =
      exchange(transport, call_json(1, R"({"_meta":{"progressToken":"mine"}})"), send);
  CHECK(answer.has_value() == reports);
  if (!reports) CHECK(answer.error().code == ErrorCode::timeout_request);
}
