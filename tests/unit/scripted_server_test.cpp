// The scripted server must be beyond doubt before anything is tested against it: it is driven here
// with plain sockets.
#include "support/scripted_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "support/gate.hpp"
#include "support/memory.hpp"
#include "support/raw_client.hpp"

using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

RawClient connect_to(const ScriptedServer& server, int family = AF_INET) {
  return RawClient(connect_loopback(family, server.port()));
}

void answer_ok(Connection& connection, const Request& request) {
  connection.write_response(200, {{"Content-Type", "text/plain"}}, request.body);
}

const std::string ok_head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

// Waits for something that happens soon without a signal.
bool eventually(const std::function<bool()>& condition) {
  for (const auto deadline = Clock::now() + 20s; Clock::now() < deadline;
       std::this_thread::sleep_for(1ms)) {
    if (condition()) return true;
  }
  return condition();
}

// A server and what its client does to it before the server is destroyed.
struct Standstill {
  std::string name;
  ScriptedServer::Handler handler;
  std::function<void(RawClient&)> client;
  std::size_t requests;
};

void write_for_ever(Connection& connection, const Request& /*request*/) {
  while (connection.write(std::string(65536, 'x'))) {
  }
}

void post(RawClient& client) { client.post("{}"); }

}  // namespace

TEST_CASE("a client receives exactly the bytes written and the end that was chosen") {
  struct Case {
    std::string name;
    ScriptedServer::Handler handler;
    std::string bytes;
    StreamEnd end;
  };
  const std::vector<Case> cases{
      {"chunked",
       [](Connection& c, const Request&) {
         c.write_head(200, {{"Transfer-Encoding", "chunked"}});
         c.write_chunk("hello");
         c.write_chunk("");
         c.write_chunk(std::string(26, 'z'));
         c.end_chunks();
         c.close();
       },
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1a\r\n" +
           std::string(26, 'z') + "\r\n0\r\n\r\n",
       StreamEnd::fin},
      {"length",
       [](Connection& c, const Request&) {
         c.write_response(404, {{"A", "b"}}, "none");
         c.close();
       },
       "HTTP/1.1 404 Not Found\r\nA: b\r\nContent-Length: 4\r\n\r\nnone", StreamEnd::fin},
      {"close",
       [](Connection& c, const Request&) {
         c.write_head(299);
         c.write("until the end");
         c.close();
       },
       "HTTP/1.1 299 Status\r\n\r\nuntil the end", StreamEnd::fin},
      {"raw, with a NUL",
       [](Connection& c, const Request&) {
         c.write(std::string("no\0http", 7));
         c.close();
       },
       std::string("no\0http", 7), StreamEnd::fin},
      {"cut inside a chunk",
       [](Connection& c, const Request&) {
         c.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nab");
         c.close();
       },
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nab", StreamEnd::fin},
      {"reset",
       [](Connection& c, const Request&) {
         c.write("HTTP/1.1 200");
         c.wait_acknowledged(20s);
         c.reset();
       },
       "HTTP/1.1 200", StreamEnd::reset},
      {"nothing", [](Connection& c, const Request&) { c.close(); }, "", StreamEnd::fin},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    ScriptedServer server(c.handler);
    RawClient client = connect_to(server);
    CHECK(client.post("{}"));
    const ReadResult got = client.read_all();
    CHECK(got.bytes == c.bytes);
    CHECK(got.end == c.end);
    CHECK(server.faults().empty());
  }
}

TEST_CASE("two requests on one connection are counted as one connection") {
  ScriptedServer server(answer_ok);
  RawClient client = connect_to(server);
  for (const std::string body : {"one", "two"}) {
    CHECK(client.post(body));
    std::string expected = ok_head + "Content-Length: 3\r\n\r\n";
    expected += body;
    CHECK(client.read(expected.size()).bytes == expected);
  }
  CHECK(server.connections_accepted() == 1);
  const auto requests = server.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].body == "one");
  CHECK(requests[1].body == "two");
  CHECK(requests[1].connection == 0);
  CHECK(requests[0].received_at <= requests[1].received_at);
}

TEST_CASE("pipelined requests are answered in order") {
  ScriptedServer server(answer_ok);
  RawClient client = connect_to(server);
  CHECK(
      client.send("POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\naPOST / HTTP/1.1\r\nContent-Length: "
                  "1\r\n\r\nb"));
  const std::string head = ok_head + "Content-Length: 1\r\n\r\n";
  const std::string expected = head + "a" + head + "b";
  CHECK(client.read(expected.size()).bytes == expected);
}

TEST_CASE("the server is reached by both address families and by a Unix socket") {
  const std::string path = "/tmp/mcphttp-test-" + std::to_string(getpid()) + ".sock";
  {
    ScriptedServer server(answer_ok, {0, path});
    CHECK(server.url() == "http://127.0.0.1:" + std::to_string(server.port()) + "/mcp");
    CHECK(server.localhost_url("/x") == "http://localhost:" + std::to_string(server.port()) + "/x");
    std::vector<RawClient> clients;
    clients.push_back(connect_to(server));
    if (server.has_ipv6()) clients.push_back(connect_to(server, AF_INET6));
    clients.emplace_back(connect_unix(path));
    for (RawClient& client : clients) {
      CHECK(client.post("x"));
      const std::string expected = ok_head + "Content-Length: 1\r\n\r\nx";
      CHECK(client.read(expected.size()).bytes == expected);
    }
    CHECK(server.connections_accepted() == clients.size());
  }
  CHECK(access(path.c_str(), F_OK) != 0);
}

TEST_CASE("Expect: 100-continue is kept and not answered") {
  ScriptedServer server(answer_ok);
  RawClient client = connect_to(server);
  CHECK(client.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"));
  std::this_thread::sleep_for(20ms);
  CHECK(server.requests().empty());
  CHECK(client.send("x"));
  const std::string expected = ok_head + "Content-Length: 1\r\n\r\nx";
  CHECK(client.read(expected.size()).bytes == expected);
  CHECK(server.requests().at(0).header("expect") == "100-continue");
}

TEST_CASE("a gate orders what the server sends and what the test does") {
  Gate go;
  Gate wrote;
  ScriptedServer server([&](Connection& connection, const Request&) {
    for (std::size_t i = 1; i <= 2 && go.wait_for(i); ++i) {
      connection.write(std::to_string(i));
      wrote.open();
    }
    connection.close();
  });
  RawClient client = connect_to(server);
  CHECK(client.post("{}"));
  CHECK(server.wait_for_requests(1, 20s));
  CHECK_FALSE(wrote.wait(20ms));
  go.open();
  CHECK(wrote.wait());
  CHECK(client.read(1).bytes == "1");
  CHECK_FALSE(wrote.wait_for(2, 20ms));
  go.open();
  CHECK(client.read_all().bytes == "2");
  CHECK(wrote.times_opened() == 2);
}

TEST_CASE("the server is destroyed in time whatever its client does") {
  const auto nothing = [](Connection&, const Request&) {};
  const std::vector<Standstill> cases{
      {"sends nothing", nothing, [](RawClient&) {}, 0},
      {"sends half a head", nothing, [](RawClient& c) { c.send("POST /mcp HTT"); }, 0},
      {"sends half a body", nothing,
       [](RawClient& c) { c.send("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx"); }, 0},
      {"waits for an answer that never comes", nothing, post, 1},
      {"does not read", write_for_ever, post, 1},
      {"does not close", [](Connection& c, const Request&) { c.peer_closed(1h); }, post, 1},
      {"is paused for", [](Connection& c, const Request&) { c.pause(1h); }, post, 1},
      {"ignores the FIN", [](Connection& c, const Request&) { c.close(); }, post, 1},
      {"was reset", [](Connection& c, const Request&) { c.reset(); }, post, 1},
      {"has gone", nothing, [](RawClient& c) { c.close(); }, 0},
      {"has reset", nothing, [](RawClient& c) { c.reset(); }, 0},
      {"has gone inside the answer", write_for_ever,
       [](RawClient& c) { c.post("{}"), c.read(10), c.close(); }, 1},
  };
  for (const Standstill& c : cases) {
    INFO(c.name);
    auto server = std::make_unique<ScriptedServer>(c.handler);
    RawClient client = connect_to(*server);
    c.client(client);
    CHECK(server->wait_for_requests(c.requests, 20s));
    CHECK(eventually([&] { return server->connections_accepted() == 1; }));
    const auto begin = Clock::now();
    server.reset();
    CHECK(Clock::now() - begin < 5s);
  }
}

TEST_CASE("destroying the server ends the connection of a waiting client") {
  auto server = std::make_unique<ScriptedServer>([](Connection&, const Request&) {});
  RawClient client = connect_to(*server);
  CHECK(client.post("{}"));
  CHECK(server->wait_for_requests(1, 20s));
  server.reset();
  CHECK(client.read_all().end == StreamEnd::fin);
}

TEST_CASE("a write fails once the peer has closed or reset") {
  for (const bool by_reset : {false, true}) {
    Gate gone;
    Gate done;
    std::atomic<bool> seen{false};
    std::atomic<bool> wrote{true};
    std::atomic<bool> wrote_nothing{true};
    ScriptedServer server([&](Connection& connection, const Request&) {
      gone.wait();
      seen = connection.peer_closed(20s);
      wrote = connection.write("late");
      wrote_nothing = connection.write("");
      done.open();
    });
    RawClient client = connect_to(server);
    CHECK(client.post("{}"));
    by_reset ? client.reset() : client.close();
    gone.open();
    CHECK(done.wait());
    CHECK(seen);
    CHECK_FALSE(wrote);
    CHECK_FALSE(wrote_nothing);
  }
}

TEST_CASE("a peer that stays is not taken for closed") {
  Gate done;
  std::atomic<bool> closed{true};
  ScriptedServer server([&](Connection& connection, const Request&) {
    closed = connection.peer_closed(30ms);
    done.open();
  });
  RawClient client = connect_to(server);
  CHECK(client.post("{}"));
  CHECK(done.wait());
  CHECK_FALSE(closed);
}

TEST_CASE("after close or reset nothing more is written") {
  Gate done;
  std::atomic<int> written{0};
  ScriptedServer server([&](Connection& connection, const Request& request) {
    request.body == "reset" ? connection.reset() : connection.close();
    connection.close();
    if (connection.write("late") || connection.write_head(200) || connection.end_chunks()) {
      ++written;
    }
    done.open();
  });
  RawClient first = connect_to(server);
  CHECK(first.post("close"));
  RawClient second = connect_to(server);
  CHECK(second.post("reset"));
  CHECK(done.wait_for(2));
  CHECK(written == 0);
  CHECK(first.read_all().bytes.empty());
  CHECK(second.read_all().end == StreamEnd::reset);
}

TEST_CASE("bytes that a slow reader has not taken are told apart") {
  constexpr std::size_t size = std::size_t{64} * 1024 * 1024;
  Gate done;
  std::atomic<std::size_t> written{0};
  std::atomic<std::size_t> acknowledged{0};
  std::atomic<bool> all_taken{false};
  const ServerOptions small_buffer{4096, ""};
  ScriptedServer server(
      [&](Connection& connection, const Request&) {
        const std::string block(1024, 'x');
        while (connection.bytes_written() < size && connection.write(block)) {
          written = connection.bytes_written();
          acknowledged = connection.bytes_acknowledged();
        }
        all_taken = connection.wait_acknowledged(20s) && connection.bytes_acknowledged() == size;
        done.open();
      },
      small_buffer);
  RawClient client = connect_to(server);
  CHECK(client.post("{}"));
  CHECK(eventually([&] { return written > 0; }));
  std::this_thread::sleep_for(200ms);
  const std::size_t stalled_at = written;
  CHECK(stalled_at < size);
  // What the peer's kernel has not taken is no more than the own kernel may hold.
  CHECK(stalled_at - acknowledged <= std::size_t{64} * 1024);
  CHECK(client.read(size).bytes.size() == size);
  CHECK(done.wait());
  CHECK(all_taken);
}

TEST_CASE("faults are collected and end only their own connection") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (request.body == "throw") throw std::runtime_error("out of cheese");
    if (request.body == "odd") throw 7;
    answer_ok(connection, request);
  });
  for (const std::string body : {"throw", "odd"}) {
    RawClient client = connect_to(server);
    CHECK(client.post(body));
    CHECK(client.read_all().end == StreamEnd::fin);
  }
  RawClient sloppy = connect_to(server);
  CHECK(sloppy.send("GET /mcp\r\n\r\n"));
  CHECK(sloppy.read_all().end == StreamEnd::fin);
  RawClient good = connect_to(server);
  CHECK(good.post("x"));
  CHECK(good.read(1).end == StreamEnd::open);
  CHECK(server.faults() == std::vector<std::string>{"exception: out of cheese",
                                                    "exception of unknown type",
                                                    "bad request: bad request line: GET /mcp"});
}

TEST_CASE("a request cut short is the client's right") {
  ScriptedServer server(answer_ok);
  {
    RawClient client = connect_to(server);
    CHECK(client.send("POST /mcp HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc"));
    CHECK(eventually([&] { return server.connections_open() == 1; }));
  }
  CHECK(eventually([&] { return server.connections_open() == 0; }));
  CHECK(server.requests().empty());
  CHECK(server.faults().empty());
}

TEST_CASE("many clients at once are served, and leave neither thread nor socket behind") {
  std::thread([] {}).join();  // ThreadSanitizer starts a thread of its own with the first one
  const std::size_t threads = thread_count();
  const std::size_t sockets = open_sockets();
  {
    ScriptedServer server(answer_ok);
    std::vector<RawClient> clients;
    for (int i = 0; i < 50; ++i) {
      clients.push_back(connect_to(server, i % 2 == 0 || !server.has_ipv6() ? AF_INET : AF_INET6));
    }
    for (RawClient& client : clients) CHECK(client.post("x"));
    for (RawClient& client : clients) CHECK(client.read(1).end == StreamEnd::open);
    CHECK(server.wait_for_requests(50, 20s));
    CHECK_FALSE(server.wait_for_requests(51, 1ms));
    CHECK(server.connections_accepted() == 50);
  }
  CHECK(eventually([&] { return thread_count() == threads; }));
  CHECK(open_sockets() == sockets);
}
