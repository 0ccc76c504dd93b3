#include "resumption.hpp"

#include <algorithm>
#include <utility>

namespace mcphttp {
namespace {

// Even `retry: 0` from a server that answers at once must not become a hot loop.
constexpr std::chrono::milliseconds shortest_wait{20};

// A century is as good as never; the clock, which counts nanoseconds, ends after less than three.
constexpr std::chrono::milliseconds longest_delay = std::chrono::hours(24 * 365 * 100);

std::chrono::milliseconds to_milliseconds(std::uint64_t value) {
  constexpr auto most = static_cast<std::uint64_t>(longest_delay.count());
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(value, most)));
}

}  // namespace

Resumption::Resumption(const Reconnection& options, Backoff::RandomSource random)
    : max_attempts_(options.max_attempts),
      backoff_(std::move(random), options.initial_delay, options.max_delay) {}

void Resumption::on_message() {
  attempts_ = 0;
  backoff_.reset();
}

std::chrono::milliseconds Resumption::next_delay(std::optional<std::uint64_t> retry) {
  const bool first = attempts_ == 0;
  if (!exhausted()) ++attempts_;
  if (!retry) return backoff_.next(std::nullopt);
  const auto asked = std::max(to_milliseconds(*retry), shortest_wait);
  return first ? asked : backoff_.next(asked);
}

bool ReplayFilter::seen(std::string_view id) {
  if (!ids_.emplace(id).second) return true;
  order_.emplace_back(id);
  size_ += id.size();
  while (order_.size() > max_ids || size_ > max_size) {
    size_ -= order_.front().size();
    ids_.erase(order_.front());
    order_.pop_front();
  }
  return false;
}

}  // namespace mcphttp
