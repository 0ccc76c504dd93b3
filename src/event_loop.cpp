#include "event_loop.hpp"

#include <algorithm>
#include <csignal>
#include <new>
#include <utility>

namespace mcphttp {
namespace {

// How long new work waits for an answered exchange to give its connection back. A server writes the
// end of a stream right behind the response; one that does not is not waited for.
constexpr std::chrono::milliseconds settling_time{10};

// Connections kept for reuse. libcurl's own default follows the number of running transfers up and
// down.
constexpr long kept_connections = 256;

// Streams of one HTTP/2 connection at a time; the server's own bound holds besides. libcurl's
// default is 100.
constexpr long streams_of_connection = 1000;

// Of libcurl's timer: no need to look at the clock, which a small call would do a dozen times.
constexpr TimePoint at_once{};

void initialise_libcurl() {
  // Thread-safe since 7.84; never undone, because the host may use libcurl too.
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (once != CURLE_OK) throw std::bad_alloc();
}

CURLM* make_multi() {
  initialise_libcurl();
  CURLM* multi = curl_multi_init();
  if (multi == nullptr) throw std::bad_alloc();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kept_connections);
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streams_of_connection);
  return multi;
}

// Signals are the host's business: its handlers must not run on our thread.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::shared_ptr<LoopCore> LoopCore::create(EventLoop::Mode mode) {
  auto core = std::make_shared<LoopCore>(mode);
  LoopCore* raw = core.get();
  // The loop thread holds `core`; users hold this second count, whose end is the sign to stop.
  return {raw, [core = std::move(core)](LoopCore* loop) { loop->shut_down(); }};
}

LoopCore::LoopCore(EventLoop::Mode mode) : mode_(mode), multi_(make_multi()) {
  if (mode == EventLoop::Mode::polled) host_.emplace(poller_);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &LoopCore::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &LoopCore::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

LoopCore::~LoopCore() {
  // A running exchange would keep the loop; only what is read for its connection's sake is left.
  while (!draining_.empty()) draining_.back().who->on_loop_end();
  tasks_.clear();
  pending_starts_.clear();
  retired_.clear();
  handles_.clear();
  curl_multi_cleanup(multi_);
}

void LoopCore::shut_down() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  poller_.wake();
  if (!thread_.joinable()) return;
  std::thread thread = std::move(thread_);
  const bool own = thread.get_id() == std::this_thread::get_id();
  lock.unlock();
  // On the loop thread itself: the thread ends by itself and holds the core until then.
  if (own) {
    thread.detach();
  } else {
    thread.join();
  }
}

// --- Any thread ----------------------------------------------------------------------------------

bool LoopCore::refuses_blocking() const {
  const std::lock_guard lock(mutex_);
  return on_loop_thread();
}

bool LoopCore::on_loop_thread() const { return callback_thread_ == std::this_thread::get_id(); }

bool LoopCore::driven_here() const { return driving_ && driver_ == std::this_thread::get_id(); }

void LoopCore::enqueue(Task task) {
  tasks_.push_back(std::move(task));
  if ((driving_ || thread_wanted_) && !driven_here()) poller_.wake();
}

void LoopCore::kick() {
  std::unique_lock lock(mutex_);
  if (tasks_.empty()) return;
  if (driving_ || thread_wanted_) return;  // enqueue() has woken the driver
  drive(lock, [] { return true; });
}

void LoopCore::wait(std::unique_lock<std::mutex>& lock, Waiter& waiter,
                    std::optional<TimePoint> until) {
  const auto is_over = [&waiter, until] {
    return waiter.ready || (until && *until <= std::chrono::steady_clock::now());
  };
  waiters_.push_back(&waiter);
  while (!is_over()) {
    if (!driving_ && !must_yield()) {
      drive(lock, is_over, until);
    } else if (until) {
      waiter.wake.wait_until(lock, *until);
    } else {
      waiter.wake.wait(lock);
    }
  }
  std::erase(waiters_, &waiter);
  // Whose time is up may just have been asked to take over.
  if (!waiter.ready && !driving_) wake_heir();
}

void LoopCore::require_thread() {
  if (mode_ == EventLoop::Mode::polled || thread_wanted_) return;
  thread_wanted_ = true;
  if (driving_) poller_.wake();
  const AllSignalsBlocked blocked;
  thread_ = std::thread([self = shared_from_this()] { self->run_thread(); });
}

void LoopCore::schedule_callback(Task callback) {
  callbacks_.push_back(std::move(callback));
  if (on_loop_thread() && driven_here()) return;
  poller_.wake();
  if (host_) host_->signal();
}

void LoopCore::wait_for_callbacks(std::unique_lock<std::mutex>& lock,
                                  const std::function<bool()>& stopped) {
  callback_ended_.wait(lock, stopped);
}

bool LoopCore::poll(std::chrono::milliseconds max_wait) {
  std::unique_lock lock(mutex_);
  if (mode_ != EventLoop::Mode::polled || on_loop_thread()) return false;
  displace_driver(lock);
  host_->clear();
  callback_thread_ = std::this_thread::get_id();
  begin_driving();
  lock.unlock();
  step(std::min(max_wait, longest_wait), [this] { return !callbacks_.empty(); });
  lock.lock();
  end_driving();
  run_callbacks(lock);
  // What is left must not sleep until something else happens.
  if (!tasks_.empty() || !callbacks_.empty()) host_->signal();
  callback_thread_ = {};
  return true;
}

std::optional<TimePoint> LoopCore::next_deadline() {
  std::unique_lock lock(mutex_);
  displace_driver(lock);
  wake_heir();
  if (!tasks_.empty() || !callbacks_.empty()) return std::chrono::steady_clock::now();
  const auto wait = time_to_wait(std::nullopt);
  if (!wait) return std::nullopt;
  return std::chrono::steady_clock::now() + *wait;
}

// --- Who drives ----------------------------------------------------------------------------------

void LoopCore::begin_driving() {
  driving_ = true;
  driver_ = std::this_thread::get_id();
  if (!host_) undriven_ += std::chrono::steady_clock::now() - stopped_at_;
}

void LoopCore::end_driving() {
  driving_ = false;
  stopped_at_ = std::chrono::steady_clock::now();
  driver_left_.notify_all();
  wake_heir();
}

// Another blocked caller takes over. One that is ready would only leave.
void LoopCore::wake_heir() {
  const auto heir = std::find_if(waiters_.begin(), waiters_.end(),
                                 [](const Waiter* waiter) { return !waiter->ready; });
  if (heir != waiters_.end()) (*heir)->wake.notify_one();
}

void LoopCore::displace_driver(std::unique_lock<std::mutex>& lock) {
  host_waits_ = true;
  if (driving_) poller_.wake();
  driver_left_.wait(lock, [this] { return !driving_; });
  host_waits_ = false;
}

bool LoopCore::must_yield() const { return thread_wanted_ || host_waits_; }

void LoopCore::drive(std::unique_lock<std::mutex>& lock, const std::function<bool()>& until,
                     std::optional<TimePoint> deadline) {
  begin_driving();
  // Whoever enqueued work while we drove relies on us to do it.
  while (!must_yield() && (!until() || !tasks_.empty())) {
    lock.unlock();
    std::optional<std::chrono::nanoseconds> wait;
    if (deadline) wait = std::max(*deadline - std::chrono::steady_clock::now(), {});
    step(wait, [&] { return until() || must_yield(); });
    lock.lock();
  }
  end_driving();
  // The host may be asleep until a deadline that is no longer the next one.
  if (host_ && !host_waits_) host_->signal();
}

void LoopCore::run_thread() {
  std::unique_lock lock(mutex_);
  driver_left_.wait(lock, [this] { return !driving_; });
  callback_thread_ = std::this_thread::get_id();
  begin_driving();
  while (!stopping_) {
    lock.unlock();
    step(std::nullopt, [this] { return stopping_ || !callbacks_.empty(); });
    lock.lock();
    run_callbacks(lock);
  }
  end_driving();
}

void LoopCore::run_callbacks(std::unique_lock<std::mutex>& lock) {
  // Only those that were due: what they schedule waits for the sockets to be read once more.
  for (std::size_t due = callbacks_.size(); due > 0 && !callbacks_.empty(); --due) {
    Task callback = std::move(callbacks_.front());
    callbacks_.pop_front();
    lock.unlock();
    callback();
    callback = nullptr;  // what it holds may need the lock to go
    lock.lock();
  }
}

// --- Loop context --------------------------------------------------------------------------------

CURLMcode LoopCore::add(CURL* easy) { return curl_multi_add_handle(multi_, easy); }

void LoopCore::remove(CURL* easy) { curl_multi_remove_handle(multi_, easy); }

void LoopCore::start_when_settled(Task start) { pending_starts_.push_back(std::move(start)); }

void LoopCore::note_draining(CompletionListener& who) {
  draining_.push_back({&who, driven_now() + settling_time});
}

void LoopCore::note_drained(const CompletionListener& who) {
  std::erase_if(draining_, [&who](const Draining& draining) { return draining.who == &who; });
}

void LoopCore::step(std::optional<std::chrono::nanoseconds> max_wait,
                    const std::function<bool()>& until) {
  run_tasks();
  // Sockets first: an answered stream may have come to its end, and its connection be free again.
  if (!pending_starts_.empty() && !draining_.empty()) read_sockets(std::chrono::nanoseconds{0});
  start_pending();
  release_retired();  // what waits for it to go must not wait for the sockets
  // Asked only now: what has been done so far may be what the driver waits for, and the wake-up
  // that came with new work may have been read with the sockets above.
  if (is_due(until)) max_wait = std::chrono::nanoseconds{0};
  const bool all_read = read_sockets(time_to_wait(max_wait));
  run_curl_timer();
  collect_completed();
  if (all_read) expire_deadlines();
  release_retired();
}

void LoopCore::release_retired() {
  // Not while iterating: what goes may bring more to its end.
  while (!retired_.empty()) {
    going_.swap(retired_);
    going_.clear();
  }
}

bool LoopCore::is_due(const std::function<bool()>& until) const {
  const std::lock_guard lock(mutex_);
  return until() || !tasks_.empty();
}

void LoopCore::run_tasks() {
  {
    const std::lock_guard lock(mutex_);
    due_tasks_.swap(tasks_);
  }
  for (Task& task : due_tasks_) {
    task();
    task = nullptr;
  }
  due_tasks_.clear();
}

// In driven time; nothing if no exchange is draining.
std::optional<TimePoint> LoopCore::settles_at() const {
  const auto last =
      std::max_element(draining_.begin(), draining_.end(),
                       [](const Draining& a, const Draining& b) { return a.until < b.until; });
  if (last == draining_.end()) return std::nullopt;
  return last->until;
}

void LoopCore::start_pending() {
  if (pending_starts_.empty()) return;
  collect_completed();
  if (const auto settled = settles_at(); settled && *settled > driven_now()) return;
  due_starts_.swap(pending_starts_);
  for (Task& start : due_starts_) start();
  due_starts_.clear();
  run_curl_timer();
  collect_completed();  // a server on this host may have answered by now
}

std::optional<std::chrono::nanoseconds> LoopCore::time_to_wait(
    std::optional<std::chrono::nanoseconds> max_wait) {
  std::optional<std::chrono::nanoseconds> wait = max_wait;
  const auto at_most = [&wait](TimePoint at, TimePoint now) {
    const auto left = std::max(std::chrono::nanoseconds{0}, std::chrono::nanoseconds{at - now});
    if (!wait || left < *wait) wait = left;
  };
  if (wait && wait->count() == 0) return wait;
  const TimePoint now = std::chrono::steady_clock::now();
  const TimePoint driven = now - undriven_;
  if (curl_timer_) at_most(*curl_timer_, now);
  if (const auto next = wall_deadlines_.next()) at_most(*next, now);
  if (const auto next = driven_deadlines_.next()) at_most(*next, driven);
  if (!pending_starts_.empty()) at_most(settles_at().value_or(driven), driven);
  return wait;
}

// Returns false if more sockets may be ready than one wait reports.
bool LoopCore::read_sockets(std::optional<std::chrono::nanoseconds> timeout) {
  const auto ready = poller_.wait(timeout);
  for (const Poller::Ready& socket : ready) {
    const int mask = (socket.readable ? CURL_CSELECT_IN : 0) |
                     (socket.writable ? CURL_CSELECT_OUT : 0) |
                     (socket.failed ? CURL_CSELECT_ERR : 0);
    int running = 0;
    curl_multi_socket_action(multi_, socket.fd, mask, &running);
  }
  return !poller_.has_more();
}

void LoopCore::run_curl_timer() {
  if (!curl_timer_) return;
  if (*curl_timer_ != at_once && *curl_timer_ > std::chrono::steady_clock::now()) return;
  curl_timer_.reset();
  int running = 0;
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
}

void LoopCore::collect_completed() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const CURLcode code = message->data.result;
    CompletionListener* listener = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &listener);
    curl_multi_remove_handle(multi_, easy);
    listener->on_complete(code);
  }
}

void LoopCore::expire_deadlines() {
  const TimePoint now = std::chrono::steady_clock::now();
  driven_deadlines_.expire(now - undriven_);
  wall_deadlines_.expire(now);
}

int LoopCore::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* self,
                        void* /*per_socket*/) {
  auto* loop = static_cast<LoopCore*>(self);
  const bool in = what == CURL_POLL_IN || what == CURL_POLL_INOUT;
  const bool out = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
  loop->poller_.watch(socket, in, out);
  return 0;
}

int LoopCore::on_timer(CURLM* /*multi*/, long timeout_ms, void* self) {
  auto* loop = static_cast<LoopCore*>(self);
  if (timeout_ms < 0) {
    loop->curl_timer_.reset();
  } else if (timeout_ms == 0) {
    loop->curl_timer_ = at_once;
  } else {
    loop->curl_timer_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  }
  return 0;
}

// --- The public handle ---------------------------------------------------------------------------

EventLoop::EventLoop(Mode mode) : core_(LoopCore::create(mode)) {}

EventLoop::Mode EventLoop::mode() const noexcept { return core_->mode(); }

bool EventLoop::poll(std::chrono::milliseconds max_wait) { return core_->poll(max_wait); }

int EventLoop::fd() const noexcept { return core_->fd(); }

std::optional<std::chrono::steady_clock::time_point> EventLoop::next_deadline() const {
  return core_->next_deadline();
}

}  // namespace mcphttp
