#include "support/raw_client.hpp"

#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <limits>
#include <utility>

namespace mcphttp::test {
namespace {

constexpr timeval read_guard{20, 0};

}  // namespace

RawClient::RawClient(Socket socket) : socket_(std::move(socket)) {
  setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVTIMEO, &read_guard, sizeof(read_guard));
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::post(std::string_view body) {
  std::string request =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size());
  return send(request.append("\r\n\r\n").append(body));
}

ReadResult RawClient::read_all() { return read(std::numeric_limits<std::size_t>::max()); }

ReadResult RawClient::read(std::size_t count) {
  ReadResult result;
  std::array<char, 16384> buffer{};
  while (result.bytes.size() < count) {
    const auto got = recv(socket_.fd(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      result.bytes.append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0) result.end = StreamEnd::fin;
    if (got < 0 && errno == ECONNRESET) result.end = StreamEnd::reset;
    break;
  }
  return result;
}

void RawClient::reset() {
  const linger immediately{1, 0};
  setsockopt(socket_.fd(), SOL_SOCKET, SO_LINGER, &immediately, sizeof(immediately));
  socket_.close();
}

}  // namespace mcphttp::test
