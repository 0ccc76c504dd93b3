// Long, slow and large streams through the gateway: nothing is cut, and memory stays flat.
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "gateway_process.hpp"
#include "helpers.hpp"
#include "support/memory.hpp"
#include "support/raw_client.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mebibyte = std::size_t{1024} * 1024;

bool in_full() { return std::getenv("MCPHTTP_FULL_LENGTH") != nullptr; }

// An event of that size, its frame included.
std::string event_of_size(std::size_t size) {
  const std::string start =
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":")";
  const std::size_t frame = event(start + R"("}})").size();
  return event(start + std::string(size - frame, 'x') + R"("}})");
}

// Streams at least `total` bytes of events of that size, then the result.
ScriptedServer::Handler streaming(std::size_t total, std::size_t event_size) {
  return [=](Connection& connection, const Request& request) {
    const std::string one = event_of_size(event_size);
    std::string block;
    while (block.size() < 64 * 1024) block += one;
    if (!begin_stream(connection)) return;
    for (std::size_t sent = 0; sent < total; sent += block.size()) {
      if (!connection.write_chunk(block)) return;
    }
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  };
}

// What the gateway's memory grew by, from here on.
class Growth {
 public:
  explicit Growth(const GatewayProcess& gateway)
      : pid_(gateway.pid()), can_measure_(reset_peak_rss(pid_)), before_(current_rss_bytes(pid_)) {}

  void check_below(std::size_t bound) const {
    const std::size_t peak = peak_rss_bytes(pid_);
    const std::size_t grown = peak > before_ ? peak - before_ : 0;
    std::cout << "grown by " << grown / 1024 << " KiB\n";
    if (can_measure_ && !built_with_sanitizers()) CHECK(grown < bound);
  }

 private:
  pid_t pid_;
  bool can_measure_;
  std::size_t before_;
};

// The gateway once it has carried a first stream.
void warm_up(const GatewayProcess& gateway) {
  Downstream client(gateway.url());
  auto response = client.send(tool_call_json(0, "warm-up"));
  if (response) response->read();
}

struct Received {
  std::size_t bytes = 0;
  std::string tail;  // the last bytes
  std::chrono::milliseconds took{};
};

// Reads to the end, no faster than that many bytes a second.
Received read_at(std::size_t rate, RawClient& client) {
  constexpr std::size_t piece = 64 * 1024;
  Received received;
  const auto began = std::chrono::steady_clock::now();
  while (true) {
    const ReadResult read = client.read(piece);
    received.bytes += read.bytes.size();
    received.tail =
        (received.tail + read.bytes)
            .substr(std::max<std::size_t>(received.tail.size() + read.bytes.size(), 200) - 200);
    if (read.end != StreamEnd::open || read.bytes.empty()) break;
    std::this_thread::sleep_until(began +
                                  std::chrono::microseconds(received.bytes * 1'000'000 / rate));
  }
  received.took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - began);
  return received;
}

}  // namespace

TEST_CASE("A stream with long gaps passes whole: only headers and silence are timed") {
  const auto unit = in_full() ? 1000ms : 100ms;
  const auto in_seconds = [&](int count) {
    return std::to_string(std::chrono::duration<double>(count * unit).count());
  };
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 1; i <= 4; ++i) {
      connection.pause(10 * unit);
      send_event(connection, progress_json("1", i));
    }
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  const GatewayProcess gateway(
      server.url(), {"--headers-within", in_seconds(2), "--idle-within", in_seconds(15)});
  Downstream client(gateway.url());
  auto response = client.send(tool_call_json(1, "t"));
  REQUIRE(response);
  std::string expected;
  for (int i = 1; i <= 4; ++i) expected += event(progress_json("1", i));
  CHECK(rest_of(*response) == expected + event(result_json("1")));
  CHECK(response->end().reason == ExchangeEnd::Reason::answered);
  CHECK(response->end().figures.ended >= 40 * unit);
}

TEST_CASE("A downstream that reads 8 MiB a second costs the gateway no memory") {
  const std::size_t total = (in_full() ? 128 : 16) * mebibyte;
  ScriptedServer server(streaming(total, 200));
  const GatewayProcess gateway(server.url());
  warm_up(gateway);
  const Growth growth(gateway);
  RawClient client(connect_loopback(AF_INET, gateway.port()));
  REQUIRE(client.send(raw_post(tool_call_json(1, "t"), "Connection: close\r\n")));
  const Received received = read_at(8 * mebibyte, client);
  std::cout << received.bytes / mebibyte << " MiB in " << received.took.count() << " ms, ";
  CHECK(received.bytes >= total);
  CHECK_THAT(received.tail, Catch::Contains(result_json("1")) && Catch::EndsWith("\r\n0\r\n\r\n"));
  growth.check_below(8 * mebibyte);
}

TEST_CASE("A downstream that reads nothing stops the upstream") {
  std::atomic<std::size_t> taken{0};
  const std::string block = event_of_size(64 * 1024);
  ScriptedServer server([&](Connection& connection, const Request&) {
    begin_stream(connection);
    while (connection.write_chunk(block)) taken += block.size();
  });
  const GatewayProcess gateway(server.url(), {"--max-queued", "65536"});
  RawClient client(connect_loopback(AF_INET, gateway.port()));
  REQUIRE(client.send(raw_post(tool_call_json(1, "t"))));
  std::size_t before = 0;
  CHECK(eventually([&] {
    const std::size_t now = taken;
    std::this_thread::sleep_for(300ms);
    return now != 0 && std::exchange(before, now) == taken;
  }));
  CHECK(taken < 32 * mebibyte);  // the buffers of two sockets
}

TEST_CASE("A long stream is relayed with flat memory") {
  const std::size_t total = (in_full() ? 1024 : 64) * mebibyte;
  ScriptedServer server(streaming(total, 4096));
  const GatewayProcess gateway(server.url());
  warm_up(gateway);
  const Growth growth(gateway);
  RawClient client(connect_loopback(AF_INET, gateway.port()));
  REQUIRE(client.send(raw_post(tool_call_json(1, "t"), "Connection: close\r\n")));
  const Received received = read_at(unlimited, client);
  std::cout << received.bytes / mebibyte << " MiB in " << received.took.count() << " ms, ";
  CHECK(received.bytes >= total);
  CHECK_THAT(received.tail, Catch::EndsWith("\r\n0\r\n\r\n"));
  growth.check_below(8 * mebibyte);
}
