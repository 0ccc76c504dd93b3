// LiveStream: an event stream that a test writes to while the client listens.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "helpers.hpp"

namespace mcphttp::test {

// One stream at a time; what is sent while none is open goes to the next. Thread-safe. Declare it
// before the server.
class LiveStream {
 public:
  void send(std::string data) { push({Command::send, std::move(data)}); }
  // In order, with the last chunk.
  void end() { push({Command::end, {}}); }
  // By a reset.
  void cut() { push({Command::cut, {}}); }

  // Called by the server's handler; returns when the stream is over. `first` is sent at once,
  // unless empty.
  void serve(Connection& connection, const std::string& first = {}) {
    begin_stream(connection);
    if (!first.empty()) send_event(connection, first);
    opened_.open();
    while (connection.is_open() && connection.pause(std::chrono::milliseconds(0))) {
      if (connection.peer_closed(std::chrono::milliseconds(0))) return closed_by_client_.open();
      const auto step = next();
      if (step.command == Command::send) send_event(connection, step.data);
      if (step.command == Command::cut) return connection.reset();
      if (step.command != Command::end) continue;
      connection.end_chunks();
      return connection.close();
    }
  }

  bool wait_opened(std::size_t times) const { return opened_.wait_for(times); }
  bool wait_closed_by_client() const { return closed_by_client_.wait(); }

 private:
  enum class Command { none, send, end, cut };
  struct Step {
    Command command;
    std::string data;
  };

  void push(Step step) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
    pushed_.notify_all();
  }
  Step next() {
    std::unique_lock lock(mutex_);
    pushed_.wait_for(lock, std::chrono::milliseconds(10), [this] { return !steps_.empty(); });
    if (steps_.empty()) return {Command::none, {}};
    Step step = std::move(steps_.front());
    steps_.pop_front();
    return step;
  }

  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<Step> steps_;  // guarded
  Gate opened_;
  Gate closed_by_client_;
};

}  // namespace mcphttp::test
