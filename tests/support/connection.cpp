#include "support/connection.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

namespace mcphttp::test {
namespace {

constexpr std::size_t receive_bytes = std::size_t{64} * 1024;
constexpr short closed_events = POLLRDHUP | POLLHUP | POLLERR;

std::string_view reason_phrase(int status) {
  constexpr std::array<std::pair<int, std::string_view>, 18> phrases{{
      {100, "Continue"},
      {103, "Early Hints"},
      {200, "OK"},
      {202, "Accepted"},
      {204, "No Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {409, "Conflict"},
      {429, "Too Many Requests"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
  }};
  const auto* found = std::find_if(phrases.begin(), phrases.end(),
                                   [&](const auto& p) { return p.first == status; });
  return found != phrases.end() ? found->second : "Status";
}

}  // namespace

std::string status_line(int status) {
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_phrase(status)) + "\r\n";
}

std::string header_line(std::string_view name, std::string_view value) {
  return std::string(name).append(": ").append(value).append("\r\n");
}

std::string chunk(std::string_view bytes) {
  std::array<char, 16> size{};
  const auto written = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16);
  return std::string(size.data(), written.ptr).append("\r\n").append(bytes).append("\r\n");
}

Connection::Connection(Socket socket, int stop, std::size_t index)
    : socket_(std::move(socket)), stop_(stop), index_(index) {
  // Fails on a Unix socket, which has nothing to switch off.
  const int on = 1;
  setsockopt(socket_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool Connection::write(std::string_view bytes) { return write(bytes, 0); }

bool Connection::write_last(std::string_view bytes) { return write(bytes, MSG_MORE); }

bool Connection::write(std::string_view bytes, int flags) {
  if (bytes.empty()) return is_open() && !peer_closed(Milliseconds{0});
  while (is_open()) {
    const auto ready = wait_ready(socket_.fd(), POLLOUT | POLLRDHUP, stop_);
    if (!ready || (*ready & closed_events) != 0) return false;
    const auto sent =
        send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT | flags);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent <= 0) continue;
    written_ += static_cast<std::size_t>(sent);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (bytes.empty()) return true;
  }
  return false;
}

bool Connection::write_head(int status, const std::vector<Header>& headers) {
  std::string head = status_line(status);
  for (const Header& field : headers) head += header_line(field.name, field.value);
  return write(head + "\r\n");
}

bool Connection::write_chunk(std::string_view bytes) {
  return write(bytes.empty() ? std::string{} : chunk(bytes));
}

bool Connection::end_chunks() { return write(last_chunk); }

bool Connection::write_response(int status, std::vector<Header> headers, std::string_view body) {
  headers.push_back({"Content-Length", std::to_string(body.size())});
  std::string response = status_line(status);
  for (const Header& field : headers) response += header_line(field.name, field.value);
  return write(response.append("\r\n").append(body));
}

void Connection::close() {
  if (state_ != State::open) return;
  shutdown(socket_.fd(), SHUT_WR);
  state_ = State::finished;
}

void Connection::reset() {
  if (state_ == State::gone) return;
  acknowledged_at_end_ = bytes_acknowledged();
  const linger immediately{1, 0};
  setsockopt(socket_.fd(), SOL_SOCKET, SO_LINGER, &immediately, sizeof(immediately));
  socket_.close();
  state_ = State::gone;
}

bool Connection::peer_closed(Milliseconds within) {
  if (state_ == State::gone) return false;
  return wait_ready(socket_.fd(), POLLRDHUP, stop_, within).value_or(short{0}) != 0;
}

// poll(2) ignores a negative descriptor, so that only `stop_` and the time count.
bool Connection::pause(Milliseconds duration) const {
  return wait_ready(-1, 0, stop_, duration).has_value();
}

bool Connection::wait_acknowledged(Milliseconds within) const {
  const auto deadline = std::chrono::steady_clock::now() + within;
  while (bytes_acknowledged() < written_) {
    if (std::chrono::steady_clock::now() >= deadline || !pause(Milliseconds{1})) return false;
  }
  return true;
}

std::size_t Connection::bytes_acknowledged() const {
  if (state_ == State::gone) return acknowledged_at_end_;
  int unsent = 0;
  if (ioctl(socket_.fd(), SIOCOUTQ, &unsent) != 0) return 0;
  return written_ - std::min(written_, static_cast<std::size_t>(unsent));
}

std::string_view Connection::receive() {
  received_.resize(receive_bytes);
  while (state_ != State::gone && wait_ready(socket_.fd(), POLLIN, stop_)) {
    const auto got = recv(socket_.fd(), received_.data(), received_.size(), MSG_DONTWAIT);
    if (got > 0) return std::string_view(received_).substr(0, static_cast<std::size_t>(got));
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return {};
}

void Connection::discard_until_closed() {
  while (!receive().empty()) {
  }
}

}  // namespace mcphttp::test
