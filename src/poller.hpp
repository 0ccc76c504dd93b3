// Waits for descriptors. The only file that knows epoll: kqueue or poll(2) could stand in its
// place.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <span>

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
  // As many as one wait() reports; a full batch means that there may be more.
  static constexpr std::size_t batch_size = 128;

  // Throws std::system_error if the process has no descriptors left.
  Poller();
  ~Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Readable when wait() would report something.
  int fd() const noexcept { return epoll_.get(); }

  // Starts or changes what is waited for. Both false: the same as forget().
  void watch(int fd, bool readable, bool writable) noexcept;
  void forget(int fd) noexcept;

  // Ends a wait in progress, or the next one. Any thread.
  void wake() noexcept;

  // Waits at most `timeout` (nothing: for ever) and returns what is ready; valid until the next
  // wait. Wake-ups are not listed.
  std::span<const Ready> wait(std::optional<std::chrono::nanoseconds> timeout) noexcept;

 private:
  Descriptor epoll_;
  Descriptor wake_;
  std::array<epoll_event, batch_size> events_;
  std::array<Ready, batch_size> ready_;
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
