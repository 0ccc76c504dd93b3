// StreamOpening: lets who connects wait until the server should know of the stream on which it may
// ask back. A server of the legacy era that asks before it does asks nobody.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "event_loop.hpp"
#include "worker.hpp"

namespace mcphttp {

class StreamOpening {
 public:
  explicit StreamOpening(std::shared_ptr<LoopCore> loop) : loop_(std::move(loop)) {}

  // The request for the stream is on its way. Any thread, as the next.
  void note_sent() { note(sent_); }
  // The stream is open, or will not be.
  void note_settled() { note(settled_); }

  // Returns once it is settled, or soon after the request was sent: by then the server has had time
  // to look at it, and headers may be late (they come with the first event of some servers). Not
  // where the loop refuses blocking.
  void wait() {
    const Worker::Pause pause;
    std::unique_lock lock(loop_->mutex());
    const auto sent = [this] { return sent_ || settled_; };
    wait_for(lock, sent, longest_connect);
    if (!sent_) return;
    const auto settled = [this] { return settled_; };
    wait_for(lock, settled, head_start);
  }

 private:
  static constexpr std::chrono::milliseconds longest_connect{2000};
  static constexpr std::chrono::milliseconds head_start{50};

  void note(bool& what) {
    const std::lock_guard lock(loop_->mutex());
    what = true;
    if (waiter_ == nullptr) return;
    waiter_->ready = true;
    waiter_->wake.notify_one();
  }

  void wait_for(std::unique_lock<std::mutex>& lock, const std::function<bool()>& condition,
                std::chrono::milliseconds most) {
    const TimePoint until = std::chrono::steady_clock::now() + most;
    while (!condition() && std::chrono::steady_clock::now() < until) {
      Waiter waiter;
      waiter_ = &waiter;
      loop_->wait(lock, waiter, until);
      waiter_ = nullptr;
    }
  }

  const std::shared_ptr<LoopCore> loop_;
  // Guarded by the loop's mutex.
  bool sent_ = false;
  bool settled_ = false;
  Waiter* waiter_ = nullptr;
};

}  // namespace mcphttp
