// Worker: where code of the application runs that may take its time (request handlers,
// authorizers): on the options' executor, else on one thread of the library's that starts with the
// first task.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <mcphttp/options.hpp>

namespace mcphttp {

// Thread-safe. Tasks of the own thread run one after the other; those of an executor as it likes.
class Worker {
 public:
  using Task = std::function<void()>;

  explicit Worker(Executor executor);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Drops what has not begun and waits for what runs, unless that is the caller. Nothing runs
  // afterwards. Idempotent.
  void stop();
  // Exceptions that leave `task` are swallowed. False if no thread can be had.
  bool post(Task task);

 private:
  // Shared with the thread and with tasks in an executor, which may outlive the worker.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> tasks;
    bool stopping = false;
    int running = 0;
    std::thread::id running_on;  // of the latest task to begin
  };
  static void run_one(const std::shared_ptr<State>& state, const Task& task);
  static void run_thread(const std::shared_ptr<State>& state);

  const Executor executor_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;  // guarded by the state's mutex
};

}  // namespace mcphttp
