// What becomes of connections: how many there are, which are used again, and what happens when one
// dies.
#include <fcntl.h>
#include <sys/socket.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"
#include "support/memory.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

enum class Death { fin, reset };

void die(Connection& connection, Death death) {
  if (death == Death::fin) {
    connection.close();
  } else {
    connection.reset();
  }
}

std::size_t count_of(const ScriptedServer& server, const std::string& body) {
  std::size_t count = 0;
  for (const Request& request : server.requests()) count += request.body == body ? 1 : 0;
  return count;
}

// Whether the descriptor is a TCP socket. libcurl's own pair for waking it is none.
bool is_tcp(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         (address.ss_family == AF_INET || address.ss_family == AF_INET6);
}

// How many TCP sockets of this process would be handed down.
int handed_down() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    if (is_tcp(fd) && (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) ++count;
  }
  return count;
}

}  // namespace

// --- Reuse

TEST_CASE("two thousand calls answered by JSON use one connection") {
  const bool thread_drives = GENERATE(false, true);
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  Transport transport = make_transport(server);
  if (thread_drives) start_loop_thread(transport);
  int answered = 0;
  for (int i = 0; i < 2000; ++i) answered += exchange(transport, call_json(i)) ? 1 : 0;
  CHECK(answered == 2000);
  CHECK(server.connections_accepted() == 1);
  CHECK(server.faults().empty());
}

TEST_CASE("five hundred calls answered by one event each use one connection") {
  const bool thread_drives = GENERATE(false, true);
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_events(connection, request); });
  Transport transport = make_transport(server);
  if (thread_drives) start_loop_thread(transport);
  int answered = 0;
  for (int i = 0; i < 500; ++i) answered += exchange(transport, call_json(i)) ? 1 : 0;
  CHECK(answered == 500);
  CHECK(server.connections_accepted() == 1);
}

TEST_CASE(
    "a stream that stays open after its answer delays the next call by no more than a moment") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, result_json(id_of(request)));
    connection.peer_closed(guard);
  });
  Transport transport = make_transport(server);
  const auto begun = Clock::now();
  for (int i = 0; i < 5; ++i) CHECK(exchange(transport, call_json(i)));
  CHECK(Clock::now() - begun < 900ms);
}

TEST_CASE("an open stream does not stand in the way of other calls") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (id_of(request) != "1") return answer_json(connection, request);
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    connection.peer_closed(guard);
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  REQUIRE(response->events()->next());
  for (int i = 2; i < 50; ++i) CHECK(exchange(transport, call_json(i)));
  CHECK(server.connections_accepted() == 2);
}

TEST_CASE("transports that share a loop share no session, but may share connections") {
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  const EventLoop loop;
  Transport one = make_transport(options_for(server), loop);
  Transport other = make_transport(options_for(server), loop);
  CHECK(exchange(one, call_json(1)));
  CHECK(exchange(other, call_json(2)));
  CHECK(server.connections_accepted() == 1);
}

TEST_CASE("a connection idle for about as long as its server keeps it is not used for a call") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    connection.write_response(200,
                              {{"Content-Type", "application/json"}, {"Keep-Alive", "timeout=2"}},
                              result_json(id_of(request)));
  });
  Transport transport = make_transport(server);
  REQUIRE(exchange(transport, call_json(1)));
  REQUIRE(exchange(transport, call_json(2)));
  CHECK(server.connections_accepted() == 1);
  std::this_thread::sleep_for(2100ms);
  REQUIRE(exchange(transport, call_json(3)));
  CHECK(server.connections_accepted() == 2);
}

// --- Death

TEST_CASE("a call whose kept connection dies unanswered reaches the server exactly once") {
  const Death death = GENERATE(Death::fin, Death::reset);
  INFO((death == Death::fin ? "FIN" : "RST"));
  ScriptedServer server([death](Connection& connection, const Request& request) {
    if (id_of(request) == "2") return die(connection, death);
    answer_json(connection, request);
  });
  Transport transport = make_transport(server);
  REQUIRE(exchange(transport, call_json(1)));
  auto message = exchange(transport, call_json(2));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::connection_lost);
  CHECK(message.error().delivery == Delivery::unknown);
  CHECK_FALSE(is_retryable(message.error()));
  std::this_thread::sleep_for(50ms);
  CHECK(count_of(server, call_json(2)) == 1);
  CHECK(exchange(transport, call_json(3)));
}

TEST_CASE("a call whose new connection dies unanswered reaches the server exactly once") {
  const Death death = GENERATE(Death::fin, Death::reset);
  ScriptedServer server(
      [death](Connection& connection, const Request&) { die(connection, death); });
  Transport transport = make_transport(server);
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::connection_lost);
  CHECK(message.error().delivery == Delivery::unknown);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("an idempotent request is sent once more when its connection dies, and then succeeds") {
  const Death death = GENERATE(Death::fin, Death::reset);
  const bool kept = GENERATE(true, false);
  INFO((death == Death::fin ? "FIN" : "RST") << (kept ? ", kept" : ", new"));
  std::atomic<int> deaths{0};
  ScriptedServer server([&deaths, death](Connection& connection, const Request& request) {
    if (id_of(request) == "2" && deaths++ == 0) return die(connection, death);
    answer_json(connection, request);
  });
  Transport transport = make_transport(server);
  if (kept) REQUIRE(exchange(transport, call_json(1)));
  SendOptions send;
  send.idempotent = true;
  CHECK(exchange(transport, call_json(2), send));
  CHECK(count_of(server, call_json(2)) == 2);
}

TEST_CASE("an idempotent request is not sent a third time") {
  ScriptedServer server([](Connection& connection, const Request&) { connection.reset(); });
  Transport transport = make_transport(server);
  SendOptions send;
  send.idempotent = true;
  auto message = exchange(transport, call_json(1), send);
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::connection_lost);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("what is no HTTP response is malformed_http, and nothing is repeated") {
  const std::string bytes =
      GENERATE(as<std::string>(), "ICY 200 OK\r\n\r\n{}", "hello\n",
               "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
               "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 2\r\n\r\n{}   ");
  CAPTURE(bytes);
  ScriptedServer server([&bytes](Connection& connection, const Request&) {
    connection.write(bytes);
    connection.close();
  });
  Transport transport = make_transport(server);
  SendOptions send;
  send.idempotent = true;
  const auto message = exchange(transport, call_json(1), send);
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::malformed_http);
  CHECK(message.error().delivery == Delivery::unknown);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("an idempotent request is not repeated once an answer has begun") {
  ScriptedServer server([](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    connection.wait_acknowledged(guard);
    connection.reset();
  });
  Transport transport = make_transport(server);
  SendOptions send;
  send.idempotent = true;
  auto message = exchange(transport, call_json(1), send);
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::stream_ended_without_response);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("a connection that its server closed while it was idle costs a call nothing") {
  Gate closed;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    answer_json(connection, request);
    connection.close();
    closed.open();
  });
  Transport transport = make_transport(server);
  for (int i = 0; i < 5; ++i) {
    CHECK(exchange(transport, call_json(i)));
    closed.wait_for(static_cast<std::size_t>(i) + 1);
    std::this_thread::sleep_for(10ms);  // for the FIN to arrive
  }
  CHECK(server.connections_accepted() == 5);
}

TEST_CASE("a server that answers before it has read the whole request is understood") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_response(413, {{"Content-Type", "text/plain"}}, "too large");
    connection.close();
  });
  Transport transport = make_transport(server);
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().http_status == 413);
}

// --- Descriptors

TEST_CASE("no socket is left open, whatever the calls have come to") {
  const std::size_t before = open_sockets();
  {
    ScriptedServer server([](Connection& connection, const Request& request) {
      switch (std::stoi(id_of(request)) % 5) {
        case 0:
        case 4:
          return answer_json(connection, request);
        case 1:
          return answer_events(connection, request);
        case 2:
          begin_stream(connection);
          send_event(connection, result_json(id_of(request)));
          connection.peer_closed(guard);
          return;
        default:
          return connection.reset();
      }
    });
    const std::size_t with_server = open_sockets();
    const bool thread_drives = GENERATE(false, true);
    {
      Transport transport = make_transport(server);
      if (thread_drives) start_loop_thread(transport);
      for (int i = 0; i < 50; ++i) {
        auto response = transport.post(call_json(i));
        if (response && i % 10 != 1) response->message();
      }
    }
    CHECK(eventually([&] { return open_sockets() == with_server; }));
  }
  CHECK(open_sockets() == before);
}

TEST_CASE("sockets are not handed down to programs that the host starts") {
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  Transport transport = make_transport(server);
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(handed_down() == 0);
}
