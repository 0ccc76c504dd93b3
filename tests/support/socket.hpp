// Owned sockets and the few system calls on them that the scripted server and its tests share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcphttp::test {

// Owns one descriptor, a socket or an eventfd; closes it when destroyed. Move-only. Descriptors are
// close-on-exec.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// The functions below throw std::system_error when the system refuses.

// Listening sockets do not block: a client may be gone again between poll(2) and accept(2).

// Listens on the loopback address of `family` (AF_INET, AF_INET6); port 0 lets the system choose.
// `send_buffer` is SO_SNDBUF of the accepted connections in bytes, 0 for the system's (the kernel
// doubles it and keeps a minimum, socket(7)).
Socket listen_loopback(int family, std::uint16_t port, int send_buffer = 0);
// Listens on a Unix socket; an old file of that name is removed first.
Socket listen_unix(const std::string& path, int send_buffer = 0);

// Blocking client sockets, for tests that need a client without any HTTP library.
Socket connect_loopback(int family, std::uint16_t port);
Socket connect_unix(const std::string& path);

// The port that a TCP socket is bound to.
std::uint16_t local_port(const Socket& socket);

// An eventfd that is not signalled. Once signalled it stays so, and each wait on it returns at
// once.
Socket make_event();
void signal(const Socket& event);

// Waits until one of `events` (poll(2)), an error or a hang-up is seen on `fd`. Returns what was
// seen, 0 when `within` has passed, nullopt as soon as `stop` is signalled. No `within`: no limit.
std::optional<short> wait_ready(int fd, short events, int stop,
                                std::optional<std::chrono::milliseconds> within = {});

}  // namespace mcphttp::test
