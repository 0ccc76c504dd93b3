// Worker: where code of the application runs that may take its time (request handlers,
// authorizers): on the options' executor, else on a thread of the library's that starts with the
// first task.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <mcphttp/options.hpp>

namespace mcphttp {

// Thread-safe. Tasks of the own threads run one after the other, but that while one waits for the
// library (Pause) the next may run; those of an executor run as it likes.
class Worker {
 public:
  using Task = std::function<void()>;

  // How deep tasks may stand that wait for each other's calls.
  static constexpr std::size_t max_threads = 16;

  // While it lives, the calling thread waits in a blocking call: if a task brought it there, that
  // task does not hold up the others, one of which may be what the call waits for. Never under a
  // lock.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
  };

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
  struct State;
  static thread_local State* at_work;  // whose task this thread runs; null: none

  const Executor executor_;
  // Shared with the threads and with tasks in an executor, which may outlive the worker.
  const std::shared_ptr<State> state_;
};

}  // namespace mcphttp
