#include "support/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace mcphttp::test {
namespace {

constexpr int backlog = 1024;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// A socket address of any family, in the form that the system calls want.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

template <class Concrete>
Address make_address(const Concrete& concrete) {
  Address address;
  static_assert(sizeof(Concrete) <= sizeof(address.storage));
  std::memcpy(&address.storage, &concrete, sizeof(concrete));
  address.size = sizeof(concrete);
  return address;
}

Address loopback(int family, std::uint16_t port) {
  if (family == AF_INET6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6addr_loopback;
    return make_address(v6);
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  inet_pton(AF_INET, "127.0.0.1", &v4.sin_addr);
  return make_address(v4);
}

Address unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw std::invalid_argument("Unix socket path too long: " + path);
  }
  path.copy(address.sun_path, path.size());
  return make_address(address);
}

void set_option(const Socket& socket, int level, int name, int value) {
  if (setsockopt(socket.fd(), level, name, &value, sizeof(value)) != 0) fail("setsockopt");
}

Socket make_socket(int family, int flags = 0) {
  Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket.is_open()) fail("socket");
  return socket;
}

Socket listen_on(Socket socket, Address address, int send_buffer) {
  if (send_buffer > 0) set_option(socket, SOL_SOCKET, SO_SNDBUF, send_buffer);
  if (bind(socket.fd(), address.get(), address.size) != 0) fail("bind");
  if (listen(socket.fd(), backlog) != 0) fail("listen");
  return socket;
}

Socket connect_to(Socket socket, Address address) {
  if (connect(socket.fd(), address.get(), address.size) != 0) fail("connect");
  return socket;
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() { close(); }

void Socket::close() {
  if (is_open()) ::close(std::exchange(fd_, -1));
}

Socket listen_loopback(int family, std::uint16_t port, int send_buffer) {
  Socket socket = make_socket(family, SOCK_NONBLOCK);
  if (family == AF_INET6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  return listen_on(std::move(socket), loopback(family, port), send_buffer);
}

Socket listen_unix(const std::string& path, int send_buffer) {
  unlink(path.c_str());
  return listen_on(make_socket(AF_UNIX, SOCK_NONBLOCK), unix_address(path), send_buffer);
}

Socket connect_loopback(int family, std::uint16_t port) {
  Socket socket = make_socket(family);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  return connect_to(std::move(socket), loopback(family, port));
}

Socket connect_unix(const std::string& path) {
  return connect_to(make_socket(AF_UNIX), unix_address(path));
}

std::uint16_t local_port(const Socket& socket) {
  Address address;
  address.size = sizeof(address.storage);
  if (getsockname(socket.fd(), address.get(), &address.size) != 0) fail("getsockname");
  if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address.storage, sizeof(v6));
    return ntohs(v6.sin6_port);
  }
  sockaddr_in v4{};
  std::memcpy(&v4, &address.storage, sizeof(v4));
  return ntohs(v4.sin_port);
}

Socket make_event() {
  Socket event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) fail("eventfd");
  return event;
}

void signal(const Socket& event) {
  if (eventfd_write(event.fd(), 1) != 0) fail("eventfd_write");
}

std::optional<short> wait_ready(int fd, short events, int stop,
                                std::optional<std::chrono::milliseconds> within) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + within.value_or(std::chrono::milliseconds{0});
  while (true) {
    std::array<pollfd, 2> watched{{{fd, events, 0}, {stop, POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int timeout = within ? static_cast<int>(left > 0 ? left : 0) : -1;
    const int ready = poll(watched.data(), watched.size(), timeout);
    if (ready < 0 && errno != EINTR) fail("poll");
    if (ready > 0 && watched[1].revents != 0) return std::nullopt;
    if (ready > 0) return watched[0].revents;
    if (ready == 0) return short{0};
  }
}

}  // namespace mcphttp::test
