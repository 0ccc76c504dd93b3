#include "poller.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <system_error>

#include <sys/eventfd.h>
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
  if (!readable && !writable) {
    forget(fd);
    return;
  }
  epoll_event event{};
  event.events =
      (readable ? std::uint32_t{EPOLLIN} : 0U) | (writable ? std::uint32_t{EPOLLOUT} : 0U);
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0 && errno == ENOENT) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }
}

void Poller::forget(int fd) noexcept { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

void Poller::wake() noexcept { raise_event(wake_.get()); }

std::span<const Poller::Ready> Poller::wait(
    std::optional<std::chrono::nanoseconds> timeout) noexcept {
  const int count = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(batch_size),
                                 to_milliseconds(timeout));
  std::size_t listed = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
    const epoll_event& event = events_[i];
    if (event.data.fd == wake_.get()) {
      clear_event(wake_.get());
      continue;
    }
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
