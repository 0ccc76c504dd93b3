#include "downstream.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>

namespace gateway {
namespace {

constexpr auto watch_interval = std::chrono::milliseconds(500);

// RFC 9112 7.1.
std::string chunk(std::string_view bytes) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bytes.size(), 16);
  std::string framed(digits.data(), end.ptr);
  return framed.append("\r\n").append(bytes).append("\r\n");
}

}  // namespace

Downstream::Downstream(httplib::DataSink& sink, Framing framing, std::function<void()> gone)
    : sink_(sink),
      framing_(framing),
      gone_(std::move(gone)),
      watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

bool Downstream::write(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (framing_ != Framing::chunks) return sink_.write(bytes.data(), bytes.size());
  const std::string framed = chunk(bytes);
  return sink_.write(framed.data(), framed.size());
}

bool Downstream::end() {
  const std::lock_guard lock(mutex_);
  return framing_ != Framing::chunks || sink_.write("0\r\n\r\n", 5);
}

void Downstream::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    stopped_.wait_for(lock, stop, watch_interval, [] { return false; });
    // May wait while the client's socket is full, as a write would.
    if (stop.stop_requested() || sink_.is_writable()) continue;
    left_ = true;
    return gone_();
  }
}

}  // namespace gateway
