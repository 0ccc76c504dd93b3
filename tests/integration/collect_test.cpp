// Response::collect(): the whole body if it ends within the bounds, and nothing lost if not.
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

using Outcome = Collected::Outcome;

// Long enough never to pass before what a test waits for, short enough for a test to sit through.
constexpr std::chrono::milliseconds moment{100};

const std::string step_1 = progress_json("1", 1);
const std::string step_2 = progress_json("1", 2);
const std::string answer = result_json("1");
const std::vector<std::string> everything{step_1, step_2, answer};

// One step, then the other and the answer as soon as the gate is open.
ScriptedServer::Handler in_two_parts(const Gate& gate) {
  return [&gate](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, step_1);
    gate.wait();
    send_event(connection, step_2);
    send_event(connection, answer);
    connection.end_chunks();
  };
}

std::vector<std::string> data_of(const std::vector<Event>& events) {
  std::vector<std::string> data;
  for (const Event& event : events) data.emplace_back(event.data());
  return data;
}

std::vector<std::string> remaining(Response& response) {
  std::vector<std::string> data;
  while (auto event = response.events()->next()) data.emplace_back(event->data());
  return data;
}

}  // namespace

TEST_CASE("a stream that ends with its response is collected whole, as events and as bytes") {
  Gate gate;
  gate.open();
  ScriptedServer server(in_two_parts(gate));
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  const Collected whole = response->collect(unlimited, guard);
  REQUIRE(whole.is_complete());
  CHECK(data_of(whole.events) == everything);
  CHECK(whole.events.back().is_response());
  CHECK(whole.bytes() == event(step_1) + event(step_2) + event(answer));
  CHECK(response->end().reason == ExchangeEnd::Reason::answered);
  CHECK_FALSE(response->events()->next());
  const auto again = response->message();
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("the bound of a collected stream is the length of its frames") {
  Gate gate;
  gate.open();
  ScriptedServer server(in_two_parts(gate));
  Transport transport = make_transport(server);
  const std::size_t length = (event(step_1) + event(step_2) + event(answer)).size();
  const std::size_t missing = GENERATE(0U, 1U);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  const Collected whole = response->collect(length - missing);
  CHECK(whole.outcome == (missing == 0 ? Outcome::complete : Outcome::too_large));
  if (missing != 0) {
    CHECK(whole.events.empty());
    CHECK(remaining(*response) == everything);
    CHECK(response->end().reason == ExchangeEnd::Reason::answered);
  }
}

TEST_CASE("a stream that takes too long can still be relayed from its beginning") {
  const bool thread_drives = GENERATE(false, true);
  Gate silent;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    if (id_of(request) != "1") return answer_json(connection, request);
    in_two_parts(silent)(connection, request);
  });
  Transport transport = make_transport(server);
  if (thread_drives) start_loop_thread(transport);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->collect(unlimited, moment).outcome == Outcome::timed_out);
  CHECK(response->collect(unlimited, moment).outcome == Outcome::timed_out);
  const auto first = response->events()->next();
  REQUIRE(first);
  CHECK(first->data() == step_1);
  silent.open();
  CHECK(remaining(*response) == std::vector<std::string>{step_2, answer});
  CHECK(response->end().reason == ExchangeEnd::Reason::answered);
}

TEST_CASE("collecting can be tried again with wider bounds") {
  Gate gate;
  ScriptedServer server(in_two_parts(gate));
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->collect(1, guard).outcome == Outcome::too_large);
  CHECK(response->collect(unlimited, moment).outcome == Outcome::timed_out);
  gate.open();
  CHECK(data_of(response->collect(unlimited, guard).events) == everything);
}

TEST_CASE("a stream that breaks off is not whole, and what came of it comes again") {
  ScriptedServer server([](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, step_1);
    connection.close();
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->collect(unlimited, guard).outcome == Outcome::ended);
  CHECK(remaining(*response) == std::vector{step_1});
  CHECK(response->end().reason == ExchangeEnd::Reason::cut);
}

TEST_CASE("a caller whose time is up leaves the loop to the next") {
  Gate gate;
  ScriptedServer server([&gate](Connection& connection, const Request& request) {
    begin_stream(connection);
    gate.wait();
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  Transport transport = make_transport(server);
  auto impatient = transport.post(call_json(1));
  REQUIRE(impatient);
  std::optional<Result<Message>> message;
  std::thread patient([&] { message = exchange(transport, call_json(2)); });
  server.wait_for_requests(2, guard);
  CHECK(impatient->collect(unlimited, moment).outcome == Outcome::timed_out);
  gate.open();
  patient.join();
  REQUIRE(message);
  CHECK(message->has_value());
}

TEST_CASE("a JSON body is collected as one message") {
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  SECTION("within the bound") {
    const Collected whole = response->collect(answer.size());
    REQUIRE(whole.is_complete());
    REQUIRE(whole.message);
    CHECK(whole.message->json() == answer);
    CHECK(whole.bytes() == answer);
    CHECK(whole.events.empty());
  }
  SECTION("over the bound, where it can still be had") {
    CHECK(response->collect(answer.size() - 1).outcome == Outcome::too_large);
    const auto message = response->message();
    REQUIRE(message);
    CHECK(message->json() == answer);
  }
}

TEST_CASE("a JSON body of unknown length over the bound is not lost either") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_head(200,
                          {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}});
    connection.write_chunk(answer);
    connection.end_chunks();
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->collect(answer.size() - 1).outcome == Outcome::too_large);
  CHECK(response->read() == answer);
  CHECK_FALSE(response->read());
}

TEST_CASE("nothing comes after cancel(), not even what was read ahead") {
  Gate gate;
  ScriptedServer server(in_two_parts(gate));
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->collect(unlimited, moment).outcome == Outcome::timed_out);
  response->cancel();
  CHECK_FALSE(response->events()->next());
  CHECK(response->end().reason == ExchangeEnd::Reason::cancelled);
  gate.open();
}

TEST_CASE("collect() is refused on the loop thread") {
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_events(connection, request); });
  const EventLoop loop;
  Transport transport = make_transport(options_for(server), loop);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  auto recorder = std::make_shared<mcphttp::test::Recorder>();
  std::optional<Outcome> outcome;
  recorder->at_end = [&] { outcome = response->collect(unlimited).outcome; };
  const Call call = transport.start_post(call_json(2), {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(outcome == Outcome::ended);
  REQUIRE(response->end().error);
  CHECK(response->end().error->code == ErrorCode::wrong_thread);
  CHECK(response->collect(unlimited).is_complete());
}
