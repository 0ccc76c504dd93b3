// Every way to end an exchange from outside, at every point of its life.
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

enum class Moment { before_start, awaiting_headers, mid_event, paused, in_callback, after_end };
enum class Way { stop_token, cancel, destroy_call, destroy_transport, flow_cancel };

std::string name_of(Moment moment) {
  switch (moment) {
    case Moment::before_start:
      return "before it was started";
    case Moment::awaiting_headers:
      return "while it waits for headers";
    case Moment::mid_event:
      return "in the middle of an event";
    case Moment::paused:
      return "while it is paused";
    case Moment::in_callback:
      return "inside its own callback";
    case Moment::after_end:
      return "after its end";
  }
  return "";
}

std::string name_of(Way way) {
  switch (way) {
    case Way::stop_token:
      return "stop token";
    case Way::cancel:
      return "cancel()";
    case Way::destroy_call:
      return "Call destroyed";
    case Way::destroy_transport:
      return "Transport destroyed";
    case Way::flow_cancel:
      return "Flow::cancel";
  }
  return "";
}

// One exchange with a server that leads it to the moment and stays there.
class Scene {
 public:
  explicit Scene(Moment moment)
      : moment_(moment), server_([this](Connection& connection, const Request& request) {
          serve(connection, request);
        }) {
    transport_ = make_transport(server_);
    recorder_->each_event = [this](const Event&) { return on_event(); };
  }

  // Leads the exchange to the moment, and ends it that way there.
  void play(Way way) {
    way_ = way;
    SendOptions send;
    send.stop = stop_.get_token();
    const bool before = moment_ == Moment::before_start;
    if (before && way == Way::stop_token) stop_.request_stop();
    call_ = transport_->start_post(call_json(1), send, recorder_);
    started_.open();
    if (moment_ == Moment::in_callback) {
      REQUIRE(acted_.wait());
      return;
    }
    reach();
    act();
  }

  const Recorder& recorder() const { return *recorder_; }
  const ScriptedServer& server() const { return server_; }
  // The server saw the connection end while it was still writing or silent.
  bool server_saw_close() const { return closed_.wait(guard); }

 private:
  void serve(Connection& connection, const Request& request) {
    if (moment_ == Moment::after_end) return answer_json(connection, request);
    if (moment_ != Moment::awaiting_headers && moment_ != Moment::before_start) {
      started_.wait();
      begin_stream(connection);
      if (moment_ == Moment::mid_event) connection.write_chunk("data: {\"jsonrpc\"");
      if (moment_ != Moment::mid_event) {
        send_event(connection, progress_json("1", 1));
        send_event(connection, progress_json("1", 2));
      }
    }
    if (connection.peer_closed(guard)) closed_.open();
  }

  Flow on_event() {
    if (moment_ == Moment::paused) return Flow::pause;
    if (moment_ != Moment::in_callback || acted_.times_opened() != 0) return Flow::proceed;
    if (way_ != Way::flow_cancel) act();
    acted_.open();
    return way_ == Way::flow_cancel ? Flow::cancel : Flow::proceed;
  }

  void reach() const {
    if (moment_ == Moment::awaiting_headers) REQUIRE(server_.wait_for_requests(1, guard));
    if (moment_ == Moment::mid_event) REQUIRE(recorder_->wait_headers());
    if (moment_ == Moment::paused) REQUIRE(recorder_->wait_events(1));
    if (moment_ == Moment::after_end) REQUIRE(recorder_->wait_end());
  }

  void act() {
    switch (way_) {
      case Way::stop_token:
        stop_.request_stop();
        return;
      case Way::cancel:
        call_.cancel();
        return;
      case Way::destroy_call:
        call_ = Call();
        return;
      case Way::destroy_transport:
        transport_.reset();
        return;
      case Way::flow_cancel:
        return;
    }
  }

  const Moment moment_;
  Way way_ = Way::cancel;
  Gate started_;
  Gate acted_;
  Gate closed_;
  std::stop_source stop_;
  ScriptedServer server_;
  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  std::optional<Transport> transport_;
  Call call_;
};

// Two events and then silence.
ScriptedServer::Handler two_events_then_silence(Gate& closed) {
  return [&closed](Connection& connection, const Request& request) {
    if (id_of(request) != "1") return answer_json(connection, request);
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    send_event(connection, progress_json("1", 2));
    if (connection.peer_closed(guard)) closed.open();
  };
}

}  // namespace

TEST_CASE("however and whenever an exchange is ended from outside, on_end comes exactly once") {
  const Moment moment = GENERATE(Moment::before_start, Moment::awaiting_headers, Moment::mid_event,
                                 Moment::paused, Moment::in_callback, Moment::after_end);
  const Way way = GENERATE(Way::stop_token, Way::cancel, Way::destroy_call, Way::destroy_transport,
                           Way::flow_cancel);
  if (way == Way::flow_cancel && moment != Moment::in_callback) return;
  INFO(name_of(moment) << ", " << name_of(way));
  Scene scene(moment);
  scene.play(way);

  const bool by_destructor = way == Way::destroy_call || way == Way::destroy_transport;
  if (by_destructor) CHECK(scene.recorder().ends() == 1);  // on return already
  REQUIRE(scene.recorder().wait_end());
  std::this_thread::sleep_for(20ms);
  CHECK(scene.recorder().ends() == 1);
  // An on_end inside the callback that asked for it is the one overlap there can be.
  if (!(by_destructor && moment == Moment::in_callback)) CHECK_FALSE(scene.recorder().misused());
  CHECK(scene.recorder().events().size() <= 1);

  const auto end = scene.recorder().end();
  if (moment == Moment::after_end) {
    CHECK(end->reason == ExchangeEnd::Reason::answered);
    return;
  }
  CHECK(end->reason == ExchangeEnd::Reason::cancelled);
  REQUIRE(end->error);
  CHECK(end->error->code == ErrorCode::cancelled);
  if (moment == Moment::before_start) {
    CHECK(eventually([&] { return scene.server().connections_open() == 0; }));
  } else {
    CHECK(scene.server_saw_close());
  }
}

TEST_CASE("a request with a stop token that is requested already is never sent") {
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  Transport transport = make_transport(server);
  std::stop_source stop;
  stop.request_stop();
  SendOptions send;
  send.stop = stop.get_token();
  auto response = transport.post(call_json(1), send);
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::cancelled);
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(1), send, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::cancelled);
  CHECK(server.requests().empty());
}

TEST_CASE("a stop request frees a thread that waits for headers") {
  Gate closed;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    if (id_of(request) == "9999") return answer_json(connection, request);
    if (connection.peer_closed(guard)) closed.open();
  });
  Transport transport = make_transport(server);
  const bool thread_drives = GENERATE(false, true);
  if (thread_drives) start_loop_thread(transport);
  std::stop_source stop;
  std::thread stopper([&] {
    server.wait_for_requests(thread_drives ? 2 : 1, guard);
    stop.request_stop();
  });
  SendOptions send;
  send.stop = stop.get_token();
  auto response = transport.post(call_json(1), send);
  stopper.join();
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::cancelled);
  CHECK(closed.wait());
}

TEST_CASE("a thread that waits in next() is freed from another thread") {
  enum class By { stop_token, stream_cancel, transport };
  const By by = GENERATE(By::stop_token, By::stream_cancel, By::transport);
  INFO("way " << static_cast<int>(by));
  Gate closed;
  ScriptedServer server(two_events_then_silence(closed));
  std::optional<Transport> transport = make_transport(server);
  std::stop_source stop;
  SendOptions send;
  send.stop = stop.get_token();
  auto response = transport->post(call_json(1), send);
  REQUIRE(response);
  EventStream& events = *response->events();
  REQUIRE(events.next());
  REQUIRE(events.next());
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    if (by == By::stop_token) stop.request_stop();
    if (by == By::stream_cancel) events.cancel();
    if (by == By::transport) transport.reset();
  });
  CHECK_FALSE(events.next());
  other.join();
  CHECK(events.end().reason == ExchangeEnd::Reason::cancelled);
  CHECK(closed.wait());
  CHECK_FALSE(events.next());
}

TEST_CASE("a destroyed response closes its connection, and the transport is as good as before") {
  Gate closed;
  ScriptedServer server(two_events_then_silence(closed));
  Transport transport = make_transport(server);
  {
    auto response = transport.post(call_json(1));
    REQUIRE(response);
    REQUIRE(response->events()->next());
  }
  CHECK(closed.wait());
  CHECK(exchange(transport, call_json(2)));
}

TEST_CASE("a response outlives its transport and ends as cancelled") {
  Gate closed;
  ScriptedServer server(two_events_then_silence(closed));
  std::optional<Transport> transport = make_transport(server);
  auto response = transport->post(call_json(1));
  REQUIRE(response);
  transport.reset();
  EventStream& events = *response->events();
  while (events.next()) {
  }
  CHECK(events.end().reason == ExchangeEnd::Reason::cancelled);
  CHECK(closed.wait());
}

TEST_CASE("cancelling twice, and after the end, does nothing") {
  Gate closed;
  ScriptedServer server(two_events_then_silence(closed));
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  response->events()->cancel();
  response->events()->cancel();
  CHECK_FALSE(response->events()->next());
  response->events()->cancel();
  CHECK(response->events()->end().reason == ExchangeEnd::Reason::cancelled);
  Call empty;
  empty.cancel();
  empty.resume();
  empty.detach();
}

TEST_CASE("a detached call runs to its end without its handle") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    connection.pause(50ms);
    answer_json(connection, request);
  });
  Transport transport = make_transport(server);
  auto recorder = std::make_shared<Recorder>();
  transport.start_post(call_json(1), {}, recorder).detach();
  REQUIRE(recorder->wait_end());
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::answered);
}

TEST_CASE("a destroyed transport ends detached calls as well") {
  Gate closed;
  ScriptedServer server(two_events_then_silence(closed));
  auto recorder = std::make_shared<Recorder>();
  {
    Transport transport = make_transport(server);
    transport.start_post(call_json(1), {}, recorder).detach();
    REQUIRE(recorder->wait_events(2));
  }
  CHECK(recorder->ends() == 1);
  CHECK(closed.wait());
}

TEST_CASE(
    "destroying a call waits for its callback in progress, and nothing is called afterwards") {
  Gate closed;
  Gate inside;
  ScriptedServer server(two_events_then_silence(closed));
  Transport transport = make_transport(server);
  const bool by_transport = GENERATE(false, true);
  auto recorder = std::make_shared<Recorder>();
  std::atomic<bool> left{false};
  recorder->each_event = [&](const Event&) {
    inside.open();
    std::this_thread::sleep_for(200ms);
    left = true;
    return Flow::proceed;
  };
  std::optional<Transport> holder(std::move(transport));
  Call call = holder->start_post(call_json(1), {}, recorder);
  REQUIRE(inside.wait());
  if (by_transport) {
    holder.reset();
  } else {
    call = Call();
  }
  CHECK(left);
  CHECK(recorder->ends() == 1);
  CHECK(recorder->events().size() == 1);
  CHECK_FALSE(recorder->misused());
}

TEST_CASE("a callback that throws ends its exchange only") {
  Gate closed;
  ScriptedServer server(two_events_then_silence(closed));
  Transport transport = make_transport(server);
  auto thrower = std::make_shared<Recorder>();
  thrower->each_event = [](const Event&) -> Flow { throw 1; };
  const Call call = transport.start_post(call_json(1), {}, thrower);
  REQUIRE(thrower->wait_end());
  CHECK(thrower->error() == ErrorCode::callback_threw);
  CHECK(thrower->events().size() == 1);
  CHECK(closed.wait());

  auto other = std::make_shared<Recorder>();
  other->at_end = [] { throw std::string("from on_end"); };
  const Call second = transport.start_post(call_json(2), {}, other);
  CHECK(eventually([&] { return other->message().has_value(); }));
  CHECK(exchange(transport, call_json(3)));
}

TEST_CASE("a warning callback that throws ends its exchange with callback_threw") {
  ScriptedServer server(answers_after("{broken"));
  auto options = options_for(server);
  options.on_warning = [](const Warning&) { throw 1; };
  Transport transport = make_transport(options);
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::callback_threw);
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(2), {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::callback_threw);
}

TEST_CASE("calls that are cancelled at every moment of their start leave nothing behind") {
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_events(connection, request); });
  Transport transport = make_transport(server);
  for (int i = 0; i < 200; ++i) {
    auto recorder = std::make_shared<Recorder>();
    Call call = transport.start_post(call_json(i), {}, recorder);
    if (i % 4 != 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 5));
    if (i % 2 == 0) call.cancel();
    call = Call();
    CHECK(recorder->ends() == 1);
    CHECK_FALSE(recorder->misused());
  }
  CHECK(exchange(transport, call_json(1)));
}

TEST_CASE("a call that ends while its start waits for another stream to finish leaves nothing") {
  // The first stream is not terminated, so the second request waits a moment for its connection.
  Gate closed;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, result_json(id_of(request)));
    if (connection.peer_closed(guard)) closed.open();
  });
  {
    Transport transport = make_transport(server);
    REQUIRE(exchange(transport, call_json(1)));
    SendOptions send;
    send.timeouts.total = 1ms;
    auto response = transport.post(call_json(2), send);
    CHECK(response.error().code == ErrorCode::timeout_total);
  }
  CHECK(closed.wait());
}
