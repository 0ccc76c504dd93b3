// Seeded chance, shared by threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>

namespace mcphttp::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  // 0 to sides - 1.
  std::uint64_t roll(std::uint64_t sides) {
    const std::lock_guard lock(mutex_);
    return engine_() % sides;
  }
  bool one_in(std::uint64_t sides) { return roll(sides) == 0; }
  std::chrono::milliseconds up_to(std::chrono::milliseconds most) {
    return std::chrono::milliseconds(roll(static_cast<std::uint64_t>(most.count()) + 1));
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

}  // namespace mcphttp::test
