// A signal between the threads of a test: one opens it, others wait for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace mcphttp::test {

// Counts how often it was opened and never closes again. All members may be called from any thread.
// It must outlive every thread that waits: declare it before the server whose handler uses it.
class Gate {
 public:
  // Long enough for the slowest sanitizer build, short enough that a broken test still ends by
  // itself.
  static constexpr std::chrono::seconds default_guard{20};

  void open() {
    const std::lock_guard lock(mutex_);
    ++opened_;
    changed_.notify_all();
  }

  // True once the gate has been opened at least once; false if that did not happen within `guard`.
  bool wait(std::chrono::milliseconds guard = default_guard) const { return wait_for(1, guard); }

  // True once the gate has been opened at least `times` times; false if that did not happen within
  // `guard`.
  bool wait_for(std::size_t times, std::chrono::milliseconds guard = default_guard) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, guard, [&] { return opened_ >= times; });
  }

  std::size_t times_opened() const {
    const std::lock_guard lock(mutex_);
    return opened_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::size_t opened_ = 0;
};

}  // namespace mcphttp::test
