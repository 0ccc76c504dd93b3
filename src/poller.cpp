#include "poller.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <system_error>

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mcphttp {
namespace {

// Rounded up, so that a deadline is never met by a spin of empty waits just before it.
int to_milliseconds(std::optional<std::chrono::nanoseconds> timeout) noexcept {
  if (!timeout) return -1;
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(*timeout).count();
  return static_cast<int>(std::clamp<std::int64_t>(rounded, 0, std::numeric_limits<int>::max()));
}

Descriptor make_epoll() { return {::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"}; }
Descriptor make_event() { return {::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"}; }

std::uint64_t identity_of(int fd) noexcept {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

void add_readable(int epoll, int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// A full counter means that the event is signalled already.
void raise_event(int event) noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);
}

void clear_event(int event) noexcept {
  std::uint64_t counter = 0;
  [[maybe_unused]] const auto drained = ::read(event, &counter, sizeof counter);
}

}  // namespace

Descriptor::Descriptor(int fd, const char* what) : fd_(fd) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
}

Descriptor::~Descriptor() { ::close(fd_); }

Poller::Poller() : epoll_(make_epoll()), wake_(make_event()) {
  add_readable(epoll_.get(), wake_.get());
}

void Poller::watch(int fd, bool readable, bool writable) noexcept {
  const auto events =
      static_cast<std::uint8_t>((readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U));
  if (readable) note_connected(fd);
  Socket* const socket = find_connected(fd);
  if (socket == nullptr) return enter(fd, events);
  socket->wanted = events;
  if (events == 0 || events == socket->registered) return;
  enter(fd, events);
  socket->registered = events;
}

void Poller::opened(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= sockets_.size()) sockets_.resize(index + 1);
  sockets_[index] = {.identity = identity_of(fd)};
}

void Poller::closing(int fd) noexcept {
  Socket* const socket = find(fd);
  if (socket == nullptr) return;
  if (socket->registered != 0) enter(fd, 0);
  *socket = {};
}

// Unless it was closed unsaid, and the number is another's.
void Poller::note_connected(int fd) noexcept {
  Socket* const socket = find(fd);
  if (socket == nullptr || socket->is_connected) return;
  if (socket->identity == identity_of(fd)) {
    socket->is_connected = true;
  } else {
    *socket = {};
  }
}

Poller::Socket* Poller::find(int fd) noexcept {
  const auto index = static_cast<std::size_t>(fd);
  return index < sockets_.size() && sockets_[index].identity != 0 ? &sockets_[index] : nullptr;
}

Poller::Socket* Poller::find_connected(int fd) noexcept {
  Socket* const socket = find(fd);
  return socket != nullptr && socket->is_connected ? socket : nullptr;
}

// What the kernel waits for from now on.
void Poller::enter(int fd, std::uint8_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (events == 0) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  } else if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0 && errno == EEXIST) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
  }
}

// If not, it was left with the kernel for too long.
bool Poller::is_wanted(int fd) noexcept {
  Socket* const socket = find_connected(fd);
  if (socket == nullptr || socket->wanted != 0) return true;
  if (socket->registered != 0) enter(fd, 0);
  socket->registered = 0;
  return false;
}

void Poller::wake() noexcept { raise_event(wake_.get()); }

std::span<const Poller::Ready> Poller::wait(
    std::optional<std::chrono::nanoseconds> timeout) noexcept {
  const int count = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(batch_size),
                                 to_milliseconds(timeout));
  has_more_ = count == static_cast<int>(batch_size);
  std::size_t listed = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
    const epoll_event& event = events_[i];
    if (event.data.fd == wake_.get()) {
      clear_event(wake_.get());
      continue;
    }
    if (!is_wanted(event.data.fd)) continue;
    ready_[listed++] = {event.data.fd, (event.events & EPOLLIN) != 0,
                        (event.events & EPOLLOUT) != 0,
                        (event.events & (EPOLLERR | EPOLLHUP)) != 0};
  }
  return {ready_.data(), listed};
}

HostSignal::HostSignal(const Poller& poller) : event_(make_event()), both_(make_epoll()) {
  add_readable(both_.get(), poller.fd());
  add_readable(both_.get(), event_.get());
}

void HostSignal::signal() noexcept { raise_event(event_.get()); }

void HostSignal::clear() noexcept { clear_event(event_.get()); }

}  // namespace mcphttp
