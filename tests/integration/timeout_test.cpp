// Each of Timeouts, at the moment it is for, and what does not count for it.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

void stay_silent(Connection& connection, const Request&) { connection.peer_closed(guard); }

// Writes `piece` every 20 ms until the client is gone.
void drip(Connection& connection, std::string_view piece) {
  while (connection.write(piece) && connection.pause(20ms)) {
  }
}

// What a call comes to, and how long that took.
struct Ending {
  std::optional<Error> error;
  std::chrono::milliseconds took{0};
};

Ending ending_of(Transport& transport, const Timeouts& timeouts) {
  SendOptions send;
  send.timeouts = timeouts;
  const auto begun = Clock::now();
  const auto message = exchange(transport, call_json(1), send);
  Ending ending;
  ending.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  if (!message) ending.error = message.error();
  return ending;
}

// Not before its time, and not long after.
void check_timeout(const Ending& ending, ErrorCode code, std::chrono::milliseconds limit,
                   Delivery delivery) {
  REQUIRE(ending.error);
  CHECK(ending.error->to_string() != "");
  CHECK(ending.error->code == code);
  CHECK(ending.error->delivery == delivery);
  CHECK(ending.error->detail.find(std::to_string(limit.count())) != std::string::npos);
  CHECK(ending.took >= limit);
  CHECK(ending.took < limit + 5s);
}

// A port whose queue of connections is full: Linux drops the first packet of the next one.
class FullPort {
 public:
  FullPort() : listener_(listen_loopback(AF_INET, 0)) {
    ::listen(listener_.fd(), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(local_port(listener_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 4; ++i) {
      Socket filler(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      ::connect(filler.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
      fillers_.push_back(std::move(filler));
    }
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(local_port(listener_)) + "/mcp";
  }

 private:
  Socket listener_;
  std::vector<Socket> fillers_;
};

}  // namespace

// --- connect

TEST_CASE("a connection that does not come about ends with timeout_connect") {
  const FullPort full;
  TransportOptions options;
  options.url = full.url();
  Transport transport = make_transport(options);
  Timeouts timeouts;
  timeouts.connect = 150ms;
  check_timeout(ending_of(transport, timeouts), ErrorCode::timeout_connect, 150ms,
                Delivery::not_sent);
}

TEST_CASE("a TLS handshake that is never answered counts for connect") {
  const Socket silent = listen_loopback(AF_INET, 0);  // the kernel accepts, nobody reads
  TransportOptions options;
  options.url = "https://127.0.0.1:" + std::to_string(local_port(silent)) + "/mcp";
  Transport transport = make_transport(options);
  Timeouts timeouts;
  timeouts.connect = 150ms;
  check_timeout(ending_of(transport, timeouts), ErrorCode::timeout_connect, 150ms,
                Delivery::not_sent);
}

// --- headers

TEST_CASE("headers that do not come in time end with timeout_header, even if something drips") {
  struct Case {
    std::string name;
    ScriptedServer::Handler handler;
  };
  const auto server_kind =
      GENERATE(Case{"silence", stay_silent},
               Case{"dripping fields",
                    [](Connection& connection, const Request&) {
                      connection.write("HTTP/1.1 200 OK\r\n");
                      drip(connection, "X-More: to come\r\n");
                    }},
               Case{"1xx without end",
                    [](Connection& connection, const Request&) {
                      drip(connection, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
                    }},
               Case{"one endless line", [](Connection& connection, const Request&) {
                      connection.write("HTTP/1.1 200 OK\r\nX-More: ");
                      drip(connection, "x");
                    }});
  INFO(server_kind.name);
  ScriptedServer server(server_kind.handler);
  Transport transport = make_transport(server);
  Timeouts timeouts;
  timeouts.headers = 200ms;
  check_timeout(ending_of(transport, timeouts), ErrorCode::timeout_header, 200ms,
                Delivery::unknown);
  CHECK(eventually([&] { return server.connections_open() == 0; }));
}

TEST_CASE("times of the call stand above those of the transport") {
  ScriptedServer server(stay_silent);
  auto options = options_for(server);
  options.timeouts.headers = 30s;
  Transport transport = make_transport(options);
  Timeouts timeouts;
  timeouts.headers = 100ms;
  check_timeout(ending_of(transport, timeouts), ErrorCode::timeout_header, 100ms,
                Delivery::unknown);
}

TEST_CASE("the longest time there is does not pass") {
  constexpr auto for_ever = Timeouts::Milliseconds::max();
  Gate asked;
  ScriptedServer server([&asked](Connection& connection, const Request& request) {
    asked.wait();
    answer_json(connection, request);
  });
  auto options = options_for(server);
  options.timeouts = {for_ever, for_ever, for_ever, for_ever, for_ever, for_ever};
  EventLoop loop(EventLoop::Mode::polled);
  Transport transport = make_transport(options, loop);
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(1), {}, recorder);
  asked.open();
  while (recorder->ends() == 0) loop.poll(for_ever);
  const auto error = recorder->end()->error;
  INFO((error ? error->to_string() : "no error"));
  CHECK(recorder->message().value_or("none") == result_json("1"));
}

TEST_CASE("negative times are refused") {
  ScriptedServer server(stay_silent);
  Transport transport = make_transport(server);
  Timeouts timeouts;
  timeouts.idle = -1ms;
  CHECK(ending_of(transport, timeouts).error->code == ErrorCode::invalid_argument);
}

// --- idle

TEST_CASE("a body that stands still ends with timeout_idle") {
  struct Case {
    std::string name;
    std::string type;
    std::string bytes;
  };
  const auto body = GENERATE(Case{"events", "text/event-stream", "data: half"},
                             Case{"JSON", "application/json", "{\"jsonrpc\":"});
  INFO(body.name);
  ScriptedServer server([body](Connection& connection, const Request& request) {
    connection.write_head(200, {{"Content-Type", body.type}, {"Transfer-Encoding", "chunked"}});
    connection.write_chunk(body.bytes);
    stay_silent(connection, request);
  });
  Transport transport = make_transport(server);
  Timeouts timeouts;
  timeouts.idle = 200ms;
  check_timeout(ending_of(transport, timeouts), ErrorCode::timeout_idle, 200ms, Delivery::unknown);
  CHECK(eventually([&] { return server.connections_open() == 0; }));
}

TEST_CASE("comments are life") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 0; i < 30; ++i) {
      connection.write_chunk(": still here\n");
      connection.pause(50ms);
    }
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  Transport transport = make_transport(server);
  Timeouts timeouts;
  timeouts.idle = 1s;
  const Ending ending = ending_of(transport, timeouts);
  CHECK_FALSE(ending.error);
  CHECK(ending.took >= 1500ms);
}

TEST_CASE("a reader who is busy for longer than idle gets no false time-out while nobody drives") {
  Gate reader_is_back;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    reader_is_back.wait();
    connection.pause(50ms);
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  Transport transport = make_transport(server);
  SendOptions send;
  send.timeouts.idle = 300ms;
  auto response = transport.post(call_json(1), send);
  REQUIRE(response);
  REQUIRE(response->events()->next());
  std::this_thread::sleep_for(700ms);
  reader_is_back.open();
  auto answer = response->events()->next();
  REQUIRE(answer);
  CHECK(answer->is_response());
}

TEST_CASE(
    "a reader who is busy for longer than idle gets no false time-out while a thread drives") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (id_of(request) == "9999") return answer_json(connection, request);
    begin_stream(connection);
    // More than the queue holds: from here on it is the reader who holds the stream up.
    for (int i = 0; i < 3; ++i) send_event(connection, std::string(100'000, 'x'));
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  auto options = options_for(server);
  options.limits.max_queued_size = 1000;
  Transport transport = make_transport(options);
  start_loop_thread(transport);
  SendOptions send;
  send.timeouts.idle = 200ms;
  auto response = transport.post(call_json(1), send);
  REQUIRE(response);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(400ms);
    INFO(i);
    REQUIRE(response->events()->next());
  }
  auto answer = response->events()->next();
  REQUIRE(answer);
  CHECK(answer->is_response());
}

TEST_CASE("idle time counts again from where a paused stream goes on") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, std::string(100'000, 'x'));
    stay_silent(connection, request);
  });
  auto options = options_for(server);
  options.limits.max_queued_size = 0;
  Transport transport = make_transport(options);
  auto recorder = std::make_shared<Recorder>();
  recorder->each_event = [](const Event&) { return Flow::pause; };
  SendOptions send;
  send.timeouts.idle = 200ms;
  Call call = transport.start_post(call_json(1), send, recorder);
  REQUIRE(recorder->wait_events(1));
  std::this_thread::sleep_for(500ms);
  call.resume();
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::timeout_idle);
}

// --- total

TEST_CASE("total ends a call that is as lively as can be") {
  struct Case {
    std::string name;
    ScriptedServer::Handler handler;
    std::size_t kept = 0;  // connections that may lie idle between two requests when time is up
  };
  const auto server_kind =
      GENERATE(Case{"silence", stay_silent},
               Case{"events without end",
                    [](Connection& connection, const Request&) {
                      begin_stream(connection);
                      drip(connection, chunk(event("{}")));
                    }},
               Case{"redirects without end",
                    [](Connection& connection, const Request& request) {
                      connection.pause(20ms);
                      connection.write_response(307, {{"Location", request.target}}, "");
                    },
                    1},
               Case{"an error page without end", [](Connection& connection, const Request&) {
                      connection.write_head(500, {{"Content-Type", "text/html"}});
                      drip(connection, "<p>");
                    }});
  INFO(server_kind.name);
  ScriptedServer server(server_kind.handler);
  auto options = options_for(server);
  options.max_redirects = 1'000'000;
  Transport transport = make_transport(options);
  Timeouts timeouts;
  timeouts.total = 300ms;
  check_timeout(ending_of(transport, timeouts), ErrorCode::timeout_total, 300ms, Delivery::unknown);
  CHECK(eventually([&] { return server.connections_open() <= server_kind.kept; }));
}

TEST_CASE("total runs on while the reader is busy") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    stay_silent(connection, request);
  });
  Transport transport = make_transport(server);
  SendOptions send;
  send.timeouts.total = 200ms;
  auto response = transport.post(call_json(1), send);
  REQUIRE(response);
  REQUIRE(response->events()->next());
  std::this_thread::sleep_for(300ms);
  const auto resumed = Clock::now();
  CHECK_FALSE(response->events()->next());
  CHECK(response->events()->end().error->code == ErrorCode::timeout_total);
  CHECK(Clock::now() - resumed < 5s);
}

// --- diagnostic

TEST_CASE("an error page that never ends is cut off and the refusal is still reported") {
  struct Case {
    std::string name;
    int status;
    std::string type;
    ErrorCode code;
  };
  const auto page = GENERATE(Case{"text", 500, "text/plain", ErrorCode::http_error},
                             Case{"JSON", 500, "application/json", ErrorCode::http_error},
                             Case{"401", 401, "text/plain", ErrorCode::unauthorized},
                             Case{"wrong type", 200, "text/html", ErrorCode::bad_content_type});
  INFO(page.name);
  ScriptedServer server([page](Connection& connection, const Request&) {
    connection.write_head(page.status, {{"Content-Type", page.type}});
    connection.write("beginning");
    drip(connection, " ");
  });
  Transport transport = make_transport(server);
  Timeouts timeouts;
  timeouts.diagnostic = 200ms;
  const Ending ending = ending_of(transport, timeouts);
  REQUIRE(ending.error);
  CHECK(ending.error->code == page.code);
  CHECK(ending.error->http_status == page.status);
  CHECK(ending.error->diagnostic.text.rfind("beginning", 0) == 0);
  CHECK(ending.error->diagnostic.truncated);
  CHECK(ending.took >= 200ms);
  CHECK(ending.took < 5s);
  CHECK(eventually([&] { return server.connections_open() == 0; }));
}

TEST_CASE("a notification is accepted without waiting for the body of the reply") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_head(202);
    drip(connection, "x");
  });
  Transport transport = make_transport(server);
  const auto begun = Clock::now();
  auto response = transport.post(std::string(notification_json));
  REQUIRE(response);
  CHECK(response->kind() == ResponseKind::accepted);
  CHECK(Clock::now() - begun < 1500ms);
}

// --- Streams that may be silent

namespace {

// Opens a stream with one event and is silent until the client is gone, but for one event more
// after 400 ms.
ScriptedServer::Handler silent_after(std::string first) {
  return [first](Connection& connection, const Request&) {
    begin_stream(connection);
    if (!first.empty()) send_event(connection, first);
    connection.pause(400ms);
    send_event(connection, R"({"jsonrpc":"2.0","method":"notifications/late"})");
    connection.peer_closed(guard);
  };
}

TransportOptions impatient_options(const ScriptedServer& server) {
  TransportOptions options = options_for(server);
  options.timeouts.idle = 100ms;
  options.timeouts.total = 200ms;
  return options;
}

}  // namespace

TEST_CASE("a stream of server messages has neither idle nor total time of the options") {
  ScriptedServer server(silent_after(""));
  Transport transport = make_transport(impatient_options(server));
  const auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_stream({}, recorder);
  CHECK(recorder->wait_events(1));
  CHECK_FALSE(recorder->end());
}

TEST_CASE("a stream of server messages keeps the times that were set for it") {
  ScriptedServer server(silent_after(""));
  Transport transport = make_transport(impatient_options(server));
  const auto recorder = std::make_shared<Recorder>();
  StreamOptions stream;
  stream.send.timeouts.total = 150ms;
  const Call call = transport.start_stream(stream, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::timeout_total);
}

TEST_CASE("a subscription has neither idle nor total time once it is acknowledged") {
  const std::string acknowledgement =
      R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"})";
  const std::string listen =
      R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}})";
  ScriptedServer server(silent_after(acknowledgement));
  TransportOptions options = impatient_options(server);
  options.protocol_version = "2026-07-28";
  Transport transport = make_transport(options);
  const auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(listen, {}, recorder);
  CHECK(recorder->wait_events(2));
  CHECK_FALSE(recorder->end());
}

TEST_CASE("a subscription that is not acknowledged is bounded in time like any request") {
  const std::string listen =
      R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}})";
  ScriptedServer server(silent_after(""));
  TransportOptions options = impatient_options(server);
  options.protocol_version = "2026-07-28";
  Transport transport = make_transport(options);
  const auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(listen, {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::timeout_idle);
}
