// Waits for descriptors. The only file that knows epoll: kqueue or poll(2) could stand in its
// place.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <sys/epoll.h>

namespace mcphttp {

// Owns a descriptor.
class Descriptor {
 public:
  // `fd` as a system call returned it, which `what` names. Throws std::system_error if it failed.
  Descriptor(int fd, const char* what);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

// One poller for each loop. wake() may be called from any thread; all else only by whoever drives.
class Poller {
 public:
  struct Ready {
    int fd;
    bool readable;
    bool writable;
    bool failed;
  };
  // Throws std::system_error if the process has no descriptors left.
  Poller();
  ~Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Readable when wait() would report something.
  int fd() const noexcept { return epoll_.get(); }

  // Starts or changes what is waited for; both false: nothing.
  void watch(int fd, bool readable, bool writable) noexcept;
  // A socket of a connection. Once it is connected, and so has been waited for to be readable, it
  // stays with the kernel when it is no longer waited for, until it has something to report: a kept
  // connection is mostly wanted again before that, and each change is a system call. closing() must
  // come before its number can be another's; libcurl 7.88 tells only of those that were connected.
  // Throws std::bad_alloc.
  void opened(int fd);
  void closing(int fd) noexcept;

  // Ends a wait in progress, or the next one. Any thread.
  void wake() noexcept;

  // Waits at most `timeout` (nothing: for ever) and returns what is ready; valid until the next
  // wait. Wake-ups are not listed.
  std::span<const Ready> wait(std::optional<std::chrono::nanoseconds> timeout) noexcept;
  // There may be more than the latest wait has listed.
  bool has_more() const noexcept { return has_more_; }

 private:
  struct Socket {
    std::uint64_t identity = 0;  // of no other socket, unlike its number; 0: none was opened
    bool is_connected = false;
    std::uint8_t wanted = 0;      // as epoll events
    std::uint8_t registered = 0;  // while it is connected
  };

  void note_connected(int fd) noexcept;
  Socket* find(int fd) noexcept;
  Socket* find_connected(int fd) noexcept;
  void enter(int fd, std::uint8_t events) noexcept;
  bool is_wanted(int fd) noexcept;

  // As many as one wait() reports.
  static constexpr std::size_t batch_size = 128;

  Descriptor epoll_;
  Descriptor wake_;
  std::array<epoll_event, batch_size> events_;
  std::array<Ready, batch_size> ready_;
  bool has_more_ = false;
  std::vector<Socket> sockets_;  // by descriptor
};

// What a host waits on that has a poller of its own: readable while the loop's poller has something
// to report, and from signal() to clear(). The poller's own wake-ups are not enough: whoever drives
// meanwhile reads them away. Any thread.
class HostSignal {
 public:
  // Throws std::system_error if the process has no descriptors left.
  explicit HostSignal(const Poller& poller);

  int fd() const noexcept { return both_.get(); }
  void signal() noexcept;
  void clear() noexcept;

 private:
  Descriptor event_;
  Descriptor both_;
};

}  // namespace mcphttp
