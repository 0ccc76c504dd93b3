#include "worker.hpp"

#include <system_error>
#include <utility>

namespace mcphttp {

Worker::Worker(Executor executor) : executor_(std::move(executor)) {}

Worker::~Worker() { stop(); }

void Worker::stop() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  std::deque<Task> dropped = std::exchange(state_->tasks, {});
  std::thread thread = std::move(thread_);
  const bool inside = state_->running_on == std::this_thread::get_id();
  if (!inside) state_->changed.wait(lock, [this] { return state_->running == 0; });
  lock.unlock();
  dropped.clear();
  if (!thread.joinable()) return;
  if (inside) {
    thread.detach();
  } else {
    thread.join();
  }
}

bool Worker::post(Task task) {
  if (executor_) {
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->stopping) return false;
    }
    executor_([state = state_, task = std::move(task)] { run_one(state, task); });
    return true;
  }
  const std::lock_guard lock(state_->mutex);
  if (state_->stopping) return false;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([state = state_] { run_thread(state); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  state_->tasks.push_back(std::move(task));
  state_->changed.notify_all();
  return true;
}

void Worker::run_one(const std::shared_ptr<State>& state, const Task& task) {
  {
    const std::lock_guard lock(state->mutex);
    if (state->stopping) return;
    ++state->running;
    state->running_on = std::this_thread::get_id();
  }
  try {
    task();
  } catch (...) {
    // What the task owed, its own objects see to as they are destroyed.
  }
  const std::lock_guard lock(state->mutex);
  --state->running;
  state->running_on = {};
  state->changed.notify_all();
}

void Worker::run_thread(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&state] { return state->stopping || !state->tasks.empty(); });
    if (state->stopping) return;
    Task task = std::move(state->tasks.front());
    state->tasks.pop_front();
    lock.unlock();
    run_one(state, task);
    task = nullptr;
    lock.lock();
  }
}

}  // namespace mcphttp
