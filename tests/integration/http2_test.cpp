// HTTP/2 through nginx: many streams on one connection, none of which harms another. Needs a
// libcurl that is fit for it; with an older one only the fall back to HTTP/1.1 is shown (see
// with_newer_libcurl.sh).
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"
#include "peers.hpp"
#include "support/seen.hpp"
#include "transfer.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

TransportOptions http2_options(const Nginx& front) {
  TransportOptions options;
  options.url = front.open_url();
  options.ca_file = certificates().file("ca.pem");
  options.http2 = true;
  return options;
}

std::set<std::string> connections_of(const ScriptedServer& server) {
  std::set<std::string> connections;
  for (const Request& request : server.requests())
    connections.insert(request.header("X-Connection").value_or(""));
  return connections;
}

void end_with_answer(Connection& connection, const Request& request) {
  send_event(connection, result_json(id_of(request)));
  connection.end_chunks();
}

}  // namespace

TEST_CASE("HTTP/2 is spoken where libcurl is fit for it; elsewhere HTTP/1.1, with one warning") {
  std::vector<WarningKind> warnings;
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  const Nginx front(server);
  auto options = http2_options(front);
  options.on_warning = [&](const Warning& warning) {
    note_seen(warning);
    warnings.push_back(warning.kind);
  };
  Transport transport = make_transport(options);
  for (int i = 0; i < 3; ++i) REQUIRE(exchange(transport, call_json(i)));
  CHECK(warnings.size() == (can_speak_http2() ? 0 : 1));
  if (!warnings.empty()) CHECK(warnings[0] == WarningKind::http2_unavailable);

  Recorder recorder;
  const auto handler = std::shared_ptr<Recorder>(&recorder, [](Recorder*) {});
  const Call call = transport.start_post(call_json(4), {}, handler);
  REQUIRE(recorder.wait_end());
  CHECK(recorder.end()->figures.http_version == (can_speak_http2() ? 2 : 1));
  CHECK(connections_of(server).size() == 1);
}

TEST_CASE("calls at the same time share one connection") {
  if (!can_speak_http2()) return;
  constexpr std::size_t many = 20;
  Gate arrived;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    arrived.open();
    arrived.wait_for(many);
    answer_json(connection, request);
  });
  const Nginx front(server);
  std::vector<std::shared_ptr<Recorder>> recorders;
  Transport transport = make_transport(http2_options(front));
  std::vector<Call> calls;
  for (std::size_t i = 0; i < many; ++i) {
    recorders.push_back(std::make_shared<Recorder>());
    calls.push_back(transport.start_post(call_json(static_cast<int>(i)), {}, recorders.back()));
  }
  for (const auto& recorder : recorders) {
    REQUIRE(recorder->wait_end());
    CHECK(recorder->end()->reason == ExchangeEnd::Reason::answered);
  }
  CHECK(connections_of(server).size() == 1);
}

// Of a hundred streams on one connection, ten are cut by the server, ten break a limit, ten fall
// silent and ten are cancelled, all in mid-stream.
TEST_CASE("a stream that ends badly leaves the others on its connection untouched") {
  if (!can_speak_http2()) return;
  constexpr int streams = 100;
  constexpr int events = 20;
  enum Fate { cut, over_limit, silent, cancelled, whole };
  const auto fate_of = [](int id) { return static_cast<Fate>(std::min(id % 10, 4)); };
  Gate open;
  Gate harmed;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    const int id = std::stoi(id_of(request));
    begin_stream(connection);
    send_event(connection, progress_json(id_of(request), 0));
    open.open();
    open.wait_for(streams);
    const Fate fate = fate_of(id);
    if (fate == cut) return connection.reset();
    if (fate == over_limit) send_event(connection, std::string(100'000, 'x'));
    if (fate == over_limit || fate == silent || fate == cancelled) {
      connection.peer_closed(guard);
      return;
    }
    harmed.wait_for(40);  // the sixty go on only after the forty are over
    for (int i = 1; i < events; ++i) send_event(connection, progress_json(id_of(request), i));
    end_with_answer(connection, request);
  });
  const Nginx front(server);
  auto options = http2_options(front);
  options.limits.max_sse_event_size = 50'000;
  std::vector<std::shared_ptr<Recorder>> recorders;
  Transport transport = make_transport(std::move(options));
  std::vector<Call> calls;
  for (int id = 0; id < streams; ++id) {
    auto recorder = std::make_shared<Recorder>();
    if (fate_of(id) != whole) recorder->at_end = [&] { harmed.open(); };
    SendOptions send;
    if (fate_of(id) == silent) send.timeouts.idle = 1s;
    calls.push_back(transport.start_post(call_json(id), send, recorder));
    recorders.push_back(std::move(recorder));
  }
  for (std::size_t id = 0; id < recorders.size(); ++id) {
    if (fate_of(static_cast<int>(id)) != cancelled) continue;
    REQUIRE(recorders[id]->wait_events(1));
    calls[id].cancel();
  }
  for (std::size_t id = 0; id < recorders.size(); ++id) {
    CAPTURE(id);
    REQUIRE(recorders[id]->wait_end());
    const auto error = recorders[id]->error();
    const std::size_t seen = recorders[id]->events().size();
    switch (fate_of(static_cast<int>(id))) {
      case cut:
        CHECK(error == ErrorCode::stream_ended_without_response);
        break;
      case over_limit:
        CHECK(error == ErrorCode::event_too_large);
        break;
      case silent:
        CHECK(error == ErrorCode::timeout_idle);
        break;
      case cancelled:
        CHECK(error == ErrorCode::cancelled);
        break;
      case whole:
        CHECK_FALSE(error);
        CHECK(seen == events + 1);
        break;
    }
  }
  CHECK(connections_of(server).size() == 1);
  CHECK(exchange(transport, call_json(1000)).error().code != ErrorCode::internal);
}

TEST_CASE("a reader who drives the loop itself is not taken for a slow one") {
  if (!can_speak_http2()) return;
  constexpr int events = 10'000;
  const std::string padding(1000, 'x');
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 0; i < events; ++i) {
      if (!send_event(connection, R"({"jsonrpc":"2.0","method":")" + padding + "\"}")) return;
    }
    end_with_answer(connection, request);
  });
  const Nginx front(server);
  Transport transport = make_transport(http2_options(front));
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  std::this_thread::sleep_for(300ms);  // nobody drives, and the sockets fill
  int seen = 0;
  while (response->events()->next()) ++seen;
  CHECK(seen == events + 1);
  CHECK(response->end().figures.http_version == 2);
}

TEST_CASE("a reader too slow for a shared connection is told so; one with its own is waited for") {
  if (!can_speak_http2()) return;
  const bool own_connection = GENERATE(true, false);
  const bool forwarded = GENERATE(true, false);
  constexpr int events = 2000;
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (id_of(request) != "1") return answer_json(connection, request);
    begin_stream(connection);
    for (int i = 0; i < events; ++i) {
      if (!send_event(connection, progress_json(id_of(request), i))) return;
    }
    end_with_answer(connection, request);
  });
  const Nginx front(server);
  auto options = http2_options(front);
  options.limits.max_queued_size = 64 * 1024;
  Transport transport = make_transport(std::move(options));
  start_loop_thread(transport);  // so that somebody reads while the consumer does not
  ForwardRequest forward;
  forward.body = call_json(1);
  forward.own_connection = own_connection;
  SendOptions send;
  send.own_connection = own_connection;
  auto response =
      forwarded ? transport.forward(std::move(forward)) : transport.post(call_json(1), send);
  REQUIRE(response);
  std::this_thread::sleep_for(300ms);
  int seen = 0;
  while (response->events()->next()) ++seen;
  const ExchangeEnd& end = response->events()->end();
  if (own_connection) {
    CHECK(seen == events + 1);
    CHECK(end.reason == ExchangeEnd::Reason::answered);
    CHECK(end.figures.http_version == 1);
  } else {
    CHECK(seen > 0);
    CHECK(end.reason == ExchangeEnd::Reason::limit);
    CHECK(end.error.value_or(Error{}).code == ErrorCode::queue_full);
    CHECK(end.figures.http_version == 2);
  }
  CHECK(exchange(transport, call_json(2)));
}
