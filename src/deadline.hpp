// Deadlines: points in time with something to do. No clock is read here; the loop says what time it
// is.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>

namespace mcphttp {

using TimePoint = std::chrono::steady_clock::time_point;

// No wait is longer; sums of it and any time of this clock are far from overflow.
inline constexpr std::chrono::milliseconds longest_wait = std::chrono::hours(24 * 365);

// When `wait` is over that begins at `from`.
constexpr TimePoint after(TimePoint from, std::chrono::milliseconds wait) {
  return from + std::min(wait, longest_wait);
}

class Deadline;

// The armed deadlines of one clock, in order. Loop context.
class DeadlineQueue {
 public:
  // The earliest, if any is armed.
  std::optional<TimePoint> next() const noexcept;
  // Runs every deadline that is due; they may arm, disarm and destroy each other.
  void expire(TimePoint now);

 private:
  friend class Deadline;
  using Map = std::multimap<TimePoint, Deadline*>;
  Map armed_;
};

// One deadline. Armed at most once at a time; destroying it disarms. Loop context.
class Deadline {
 public:
  Deadline(DeadlineQueue& queue, std::function<void()> on_expiry);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  void arm(TimePoint at);
  void disarm() noexcept;

 private:
  friend class DeadlineQueue;
  DeadlineQueue& queue_;
  std::function<void()> on_expiry_;
  std::optional<DeadlineQueue::Map::iterator> place_;
};

}  // namespace mcphttp
