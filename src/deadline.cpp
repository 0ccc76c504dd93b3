#include "deadline.hpp"

#include <utility>

namespace mcphttp {

std::optional<TimePoint> DeadlineQueue::next() const noexcept {
  if (armed_.empty()) return std::nullopt;
  return armed_.begin()->first;
}

void DeadlineQueue::expire(TimePoint now) {
  while (!armed_.empty() && armed_.begin()->first <= now) {
    Deadline* due = armed_.begin()->second;
    due->disarm();
    due->on_expiry_();
  }
}

Deadline::Deadline(DeadlineQueue& queue, std::function<void()> on_expiry)
    : queue_(queue), on_expiry_(std::move(on_expiry)) {}

Deadline::~Deadline() { disarm(); }

void Deadline::arm(TimePoint at) {
  if (!place_) {
    place_ = queue_.armed_.emplace(at, this);
    return;
  }
  auto node = queue_.armed_.extract(*place_);
  node.key() = at;
  place_ = queue_.armed_.insert(std::move(node));
}

void Deadline::disarm() noexcept {
  if (!place_) return;
  queue_.armed_.erase(*place_);
  place_.reset();
}

}  // namespace mcphttp
