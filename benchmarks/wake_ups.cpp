#include "wake_ups.hpp"

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <stdexcept>

#include "support/socket.hpp"

namespace mcphttp::bench {
namespace {

constexpr std::string_view stamp_name = "\"sent\":";

std::uint16_t port_of(const std::string& url) {
  return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

}  // namespace

void request_wake_ups(const std::string& url, std::size_t count) {
  const test::Socket socket = test::connect_loopback(AF_INET, port_of(url));
  const std::string request =
      "POST /wake/" + std::to_string(count) + " HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
  std::array<char, 256> answer{};
  if (send(socket.fd(), request.data(), request.size(), MSG_NOSIGNAL) < 0 ||
      recv(socket.fd(), answer.data(), answer.size(), 0) <= 0) {
    throw std::runtime_error("the server wakes nobody");
  }
}

std::string wake_up_message() {
  return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":0,)" +
         std::string(stamp_name) + std::to_string(Clock::now().time_since_epoch().count()) + "}}";
}

std::optional<Microseconds> age_of_wake_up(std::string_view text) {
  const std::size_t at = text.find(stamp_name);
  if (at == std::string_view::npos) return {};
  Clock::rep stamp = 0;
  for (const char digit : text.substr(at + stamp_name.size())) {
    if (digit < '0' || digit > '9') break;
    stamp = stamp * 10 + (digit - '0');
  }
  return Clock::now().time_since_epoch() - Clock::duration{stamp};
}

}  // namespace mcphttp::bench
