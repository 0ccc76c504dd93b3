#include "worker.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace mcphttp {

struct Worker::State : std::enable_shared_from_this<State> {
  // Lock held, for all of these; run() drops it meanwhile.
  void run(std::unique_lock<std::mutex>& lock, Task task);
  void run_thread(std::unique_lock<std::mutex>& lock);
  bool may_begin() const { return !tasks.empty() && running == paused; }
  // Sees to it that a thread takes the next task, if one may begin. False if none can be had.
  bool begin_next();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  std::vector<std::thread> threads;
  std::size_t running = 0;  // tasks begun and not over, those of an executor included
  std::size_t paused = 0;   // of them
  bool stopping = false;
};

thread_local Worker::State* Worker::at_work = nullptr;

// --- Pause ---------------------------------------------------------------------------------------

Worker::Pause::Pause() {
  if (at_work == nullptr) return;
  const std::lock_guard lock(at_work->mutex);
  ++at_work->paused;
  at_work->begin_next();
}

Worker::Pause::~Pause() {
  if (at_work == nullptr) return;
  const std::lock_guard lock(at_work->mutex);
  --at_work->paused;
}

// --- State ---------------------------------------------------------------------------------------

void Worker::State::run(std::unique_lock<std::mutex>& lock, Task task) {
  ++running;
  lock.unlock();
  State* const outer = std::exchange(at_work, this);
  try {
    task();
  } catch (...) {
    // What the task owed, its own objects see to as they are destroyed.
  }
  task = nullptr;
  at_work = outer;
  lock.lock();
  --running;
  changed.notify_all();
}

void Worker::State::run_thread(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    changed.wait(lock, [this] { return stopping || may_begin(); });
    if (stopping) return;
    Task task = std::move(tasks.front());
    tasks.pop_front();
    run(lock, std::move(task));
  }
}

bool Worker::State::begin_next() {
  if (!may_begin() || stopping) return true;
  if (threads.size() > running) {  // one of them is free
    changed.notify_all();
    return true;
  }
  if (threads.size() == max_threads) return true;  // it waits for one of the others
  try {
    threads.emplace_back([self = shared_from_this()] {
      std::unique_lock own(self->mutex);
      self->run_thread(own);
    });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// --- Worker --------------------------------------------------------------------------------------

Worker::Worker(Executor executor)
    : executor_(std::move(executor)), state_(std::make_shared<State>()) {}

Worker::~Worker() { stop(); }

void Worker::stop() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  std::deque<Task> dropped = std::exchange(state_->tasks, {});
  std::vector<std::thread> threads = std::exchange(state_->threads, {});
  const std::size_t own = at_work == state_.get() ? 1 : 0;
  state_->changed.wait(lock, [this, own] { return state_->running <= own; });
  lock.unlock();
  dropped.clear();
  for (std::thread& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

bool Worker::post(Task task) {
  std::unique_lock lock(state_->mutex);
  if (state_->stopping) return false;
  if (executor_) {
    lock.unlock();
    executor_([state = state_, task = std::move(task)]() mutable {
      std::unique_lock running(state->mutex);
      if (!state->stopping) state->run(running, std::move(task));
    });
    return true;
  }
  state_->tasks.push_back(std::move(task));
  if (state_->begin_next() || !state_->threads.empty()) return true;
  state_->tasks.pop_back();
  return false;
}

}  // namespace mcphttp
