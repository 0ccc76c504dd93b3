// LoopCore: the machine behind EventLoop, and the only caller of curl_multi_*. Owns the
// connections, the deadlines and the one JSON checker of its exchanges, and decides which thread
// drives.
//
// "Loop context" is the code that runs while a thread drives: one thread at a time, no lock held.
// What is marked so needs no other protection. One mutex, mutex(), guards everything that threads
// share, the queues of the exchanges included.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <curl/curl.h>

#include <mcphttp/event_loop.hpp>

#include "deadline.hpp"
#include "handle_pool.hpp"
#include "json.hpp"
#include "poller.hpp"

namespace mcphttp {

// Told when libcurl is done with an easy handle; found through CURLOPT_PRIVATE.
class CompletionListener {
 public:
  virtual void on_complete(CURLcode code) = 0;
  // The loop goes while the handle is still drained (LoopCore::note_draining): it must be removed.
  virtual void on_loop_end() = 0;

 protected:
  ~CompletionListener() = default;
};

// What a blocked caller waits for. Guarded by LoopCore::mutex().
struct Waiter {
  const std::thread::id thread = std::this_thread::get_id();
  std::condition_variable wake;
  bool ready = false;
};

class LoopCore : public std::enable_shared_from_this<LoopCore> {
 public:
  using Task = std::function<void()>;

  // The loop that handles share: when the last of them is gone it shuts down, which joins the loop
  // thread unless that is the caller. Throws std::bad_alloc or std::system_error.
  static std::shared_ptr<LoopCore> create(EventLoop::Mode mode);

  explicit LoopCore(EventLoop::Mode mode);
  ~LoopCore();
  LoopCore(const LoopCore&) = delete;
  LoopCore& operator=(const LoopCore&) = delete;

  // --- Any thread --------------------------------------------------------------------------------

  EventLoop::Mode mode() const noexcept { return mode_; }
  std::mutex& mutex() noexcept { return mutex_; }

  // True where blocking members must not be called: on the loop thread, or inside poll().
  bool refuses_blocking() const;

  // Queues work for the loop context and wakes its driver. Lock held. If nobody drives, follow with
  // wait() or kick().
  void enqueue(Task task);
  // Drives one step here, without waiting, if there is work and nobody drives. Lock not held.
  void kick();

  // Blocks until `waiter.ready`, or `until` at most, driving if nobody else does. Drops `lock`
  // meanwhile. Not where refuses_blocking().
  void wait(std::unique_lock<std::mutex>& lock, Waiter& waiter,
            std::optional<TimePoint> until = {});

  // From now on something must go on without a waiting caller: starts the loop thread. Lock held.
  void require_thread();
  // Queues a callback of an asynchronous exchange for the loop thread or poll(). Lock held.
  void schedule_callback(Task callback);

  // Blocks until `stopped` (called with the lock held) is true: for those who wait for a callback
  // to end. Woken by notify_callbacks().
  void wait_for_callbacks(std::unique_lock<std::mutex>& lock, const std::function<bool()>& stopped);
  void notify_callbacks() { callback_ended_.notify_all(); }

  // Polled mode; see EventLoop.
  bool poll(std::chrono::milliseconds max_wait);
  int fd() const noexcept { return host_ ? host_->fd() : poller_.fd(); }
  std::optional<TimePoint> next_deadline();

  // --- Loop context ------------------------------------------------------------------------------

  // Hands a configured easy handle to libcurl; its CURLOPT_PRIVATE is a CompletionListener*.
  // on_complete is called once, from a later point of the loop, unless it is removed before.
  CURLMcode add(CURL* easy);
  void remove(CURL* easy);
  // A socket of one of these handles: told for each (Poller::opened). Throws std::bad_alloc.
  void socket_opened(curl_socket_t socket) { poller_.opened(socket); }
  void socket_closing(curl_socket_t socket) noexcept { poller_.closing(socket); }
  // Starts work that may open a connection: as soon as no exchange that has just been answered is
  // still giving its connection back (see note_draining).
  void start_when_settled(Task start);
  // An answered transfer reads the rest of its stream: until it has, or a moment has passed,
  // nothing new is started, so that its connection can be used again.
  void note_draining(CompletionListener& who);
  void note_drained(const CompletionListener& who);
  // Destroys an object that may be in use further up the stack, once that has returned.
  void retire(std::shared_ptr<void> object) { retired_.push_back(std::move(object)); }

  // Time that stands still while nobody drives (the host of a polled loop drives always: it waits
  // on fd()), and the wall's.
  TimePoint driven_now() const { return std::chrono::steady_clock::now() - undriven_; }
  DeadlineQueue& driven_deadlines() noexcept { return driven_deadlines_; }
  DeadlineQueue& wall_deadlines() noexcept { return wall_deadlines_; }
  json::Checker& checker() noexcept { return checker_; }
  HandlePool& handles() noexcept { return handles_; }

 private:
  struct Draining {
    CompletionListener* who;
    TimePoint until;
  };

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* per_socket);
  static int on_timer(CURLM* multi, long timeout_ms, void* self);

  bool on_loop_thread() const;
  bool driven_here() const;
  void shut_down();
  void run_thread();
  // With the lock held, which is dropped meanwhile: steps until `until` is true or the loop thread
  // takes over. Waits for nothing beyond `deadline`; that it has passed, `until` must say.
  void drive(std::unique_lock<std::mutex>& lock, const std::function<bool()>& until,
             std::optional<TimePoint> deadline = {});
  bool must_yield() const;
  void begin_driving();
  void end_driving();
  void wake_heir();
  // For the host: makes whoever drives leave, and waits until it has.
  void displace_driver(std::unique_lock<std::mutex>& lock);
  void run_callbacks(std::unique_lock<std::mutex>& lock);

  // One turn of the loop. Waits at most `max_wait` for the sockets, and not at all once `until`
  // (called with the lock held) is true.
  void step(std::optional<std::chrono::nanoseconds> max_wait, const std::function<bool()>& until);
  bool is_due(const std::function<bool()>& until) const;
  void release_retired();
  void run_tasks();
  void start_pending();
  std::optional<TimePoint> settles_at() const;
  std::optional<std::chrono::nanoseconds> time_to_wait(
      std::optional<std::chrono::nanoseconds> max_wait);
  bool read_sockets(std::optional<std::chrono::nanoseconds> timeout);
  void run_curl_timer();
  void collect_completed();
  void expire_deadlines();

  const EventLoop::Mode mode_;
  Poller poller_;
  std::optional<HostSignal> host_;  // polled mode only
  CURLM* multi_;
  json::Checker checker_;

  // Loop context.
  HandlePool handles_;
  DeadlineQueue driven_deadlines_;
  DeadlineQueue wall_deadlines_;
  std::optional<TimePoint> curl_timer_;
  std::vector<Task> pending_starts_;
  std::vector<Draining> draining_;
  std::vector<std::shared_ptr<void>> retired_;
  // What of these is being seen to; kept empty, for their memory.
  std::vector<Task> due_tasks_;
  std::vector<Task> due_starts_;
  std::vector<std::shared_ptr<void>> going_;
  std::chrono::steady_clock::duration undriven_{0};
  TimePoint stopped_at_ = std::chrono::steady_clock::now();

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::vector<Task> tasks_;
  std::deque<Task> callbacks_;
  std::vector<Waiter*> waiters_;
  bool driving_ = false;
  std::thread::id driver_;  // while driving_
  bool thread_wanted_ = false;
  bool host_waits_ = false;  // the host waits for a blocked caller to leave
  bool stopping_ = false;
  std::thread::id callback_thread_;  // the loop thread, or the one inside poll()
  std::condition_variable driver_left_;
  std::condition_variable callback_ended_;
  std::thread thread_;
};

}  // namespace mcphttp
