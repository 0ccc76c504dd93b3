// Who drives the loop, and on which thread callbacks run (the contract at the top of
// event_loop.hpp).
#include <sys/epoll.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"
#include "support/memory.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

// Of this program before any test has begun. A sanitizer has one of its own, from the first that is
// started.
const std::size_t own_threads = [] {
  std::thread([] {}).join();
  // The kernel counts a thread for a moment after it was joined.
  std::this_thread::sleep_for(100ms);
  return thread_count();
}();

// The same, once the threads of earlier tests are gone.
std::size_t own_threads_only() {
  REQUIRE(eventually([] { return thread_count() == own_threads; }));
  return own_threads;
}

// Answers after as many milliseconds as the params ask for ({"wait":n}), by JSON or, with
// "events":true, by a stream of three events.
void answer_after_wait(Connection& connection, const Request& request) {
  const auto at = request.body.find("\"wait\":");
  if (at != std::string::npos) {
    connection.pause(std::chrono::milliseconds(std::stoi(request.body.substr(at + 7))));
  }
  if (request.body.find("\"events\"") == std::string::npos) {
    return answer_json(connection, request);
  }
  begin_stream(connection);
  send_event(connection, progress_json("1", 1));
  send_event(connection, progress_json("1", 2));
  send_event(connection, result_json(id_of(request)));
  connection.end_chunks();
}

std::string wait_json(int id, int milliseconds) {
  return call_json(id, R"({"wait":)" + std::to_string(milliseconds) + "}");
}

// An executor with threads of its own; keeps what it was given when it stops.
class Pool {
 public:
  explicit Pool(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Executor executor() {
    return [this](std::function<void()> task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      changed_.notify_one();
    };
  }
  bool owns(std::thread::id id) const {
    for (const std::thread& thread : threads_) {
      if (thread.get_id() == id) return true;
    }
    return false;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// A host that owns its loop: it waits on a poller of its own for the descriptor or the deadline,
// for whichever comes first, and counts how often it had something to do.
class Host {
 public:
  explicit Host(EventLoop loop) : loop_(std::move(loop)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event readable{};
    readable.events = EPOLLIN;
    epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, loop_.fd(), &readable);
  }

  // Polls whenever there is a reason to, until `done` or the guard.
  bool run_until(const std::function<bool()>& done) {
    for (const auto deadline = Clock::now() + guard; !done();) {
      if (Clock::now() > deadline) return false;
      wait(deadline);
      loop_.poll(0ms);
      ++turns_;
    }
    return true;
  }
  std::size_t turns() const { return turns_; }

 private:
  void wait(Clock::time_point until) {
    until = std::min(until, loop_.next_deadline().value_or(until));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    epoll_event seen{};
    epoll_wait(epoll_.fd(), &seen, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
  }

  EventLoop loop_;
  Socket epoll_;
  std::size_t turns_ = 0;
};

}  // namespace

// --- Threads

TEST_CASE("a program that only blocks has no thread of the library, also inside callbacks") {
  const std::size_t own = own_threads_only();
  ScriptedServer server(answer_after_wait);
  const std::size_t with_server = own + 2;  // the acceptor, and one connection
  Transport transport = make_transport(server);
  for (int i = 0; i < 5; ++i) {
    auto response = transport.post(call_json(i, R"({"events":1})"));
    REQUIRE(response);
    REQUIRE(response->events() != nullptr);
    while (auto event = response->events()->next()) {
      CHECK(thread_count() == with_server);
    }
  }
  CHECK(thread_count() == with_server);
  CHECK(server.connections_accepted() == 1);
}

TEST_CASE("asynchronous calls start one thread for all, and it goes with the loop") {
  const std::size_t own = own_threads_only();
  {
    ScriptedServer server(answer_after_wait);
    Transport transport = make_transport(server);
    REQUIRE(exchange(transport, call_json(1)));
    CHECK(thread_count() == own + 2);
    for (int i = 0; i < 5; ++i) {
      auto recorder = std::make_shared<Recorder>();
      const Call call = transport.start_post(call_json(i), {}, recorder);
      REQUIRE(recorder->wait_end());
      CHECK(thread_count() == own + 3);
    }
    CHECK(server.connections_accepted() == 1);
  }
  CHECK(eventually([&] { return thread_count() == own; }));
}

TEST_CASE("callbacks of asynchronous calls run on one thread that is not the caller's") {
  ScriptedServer server(answer_after_wait);
  Transport transport = make_transport(server);
  std::set<std::thread::id> threads;
  for (int i = 0; i < 3; ++i) {
    auto recorder = std::make_shared<Recorder>();
    const Call call = transport.start_post(call_json(i, R"({"events":1})"), {}, recorder);
    REQUIRE(recorder->wait_end());
    threads.merge(recorder->threads());
  }
  CHECK(threads.size() == 1);
  CHECK(threads.count(std::this_thread::get_id()) == 0);
}

// --- Several callers

TEST_CASE("a callback that sleeps delays neither another thread's call nor its timers") {
  Gate in_callback;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    if (request.body.find("\"silent\"") != std::string::npos) {
      connection.peer_closed(guard);
      return;
    }
    answer_after_wait(connection, request);
  });
  Transport transport = make_transport(server);
  std::thread sleeper([&] {
    auto response = transport.post(call_json(1, R"({"events":1})"));
    if (!response) return;
    while (response->events()->next()) {
      in_callback.open();
      if (in_callback.times_opened() == 1) std::this_thread::sleep_for(2s);
    }
  });
  CHECK(in_callback.wait());
  const auto begun = Clock::now();
  CHECK(exchange(transport, wait_json(2, 20)));
  SendOptions impatient;
  impatient.timeouts.headers = 100ms;
  const auto late = transport.post(call_json(3, R"({"silent":1})"), impatient);
  const auto took = Clock::now() - begun;
  sleeper.join();
  CHECK(late.error().code == ErrorCode::timeout_header);
  CHECK(took >= 100ms);
  CHECK(took < 1500ms);
}

TEST_CASE("callers of different lengths on one loop all end, whoever drives") {
  const bool with_thread = GENERATE(false, true);
  INFO("with thread: " << with_thread);
  ScriptedServer server(answer_after_wait);
  const EventLoop loop;
  Transport one = make_transport(options_for(server), loop);
  Transport other = make_transport(options_for(server), loop);
  if (with_thread) start_loop_thread(one);
  constexpr int callers = 8;
  constexpr int calls = 20;
  std::atomic<int> answered{0};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      Transport& transport = caller % 2 == 0 ? one : other;
      for (int i = 0; i < calls; ++i) {
        if (exchange(transport, wait_json(i, (caller * 7 + i * 3) % 20))) ++answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(answered == callers * calls);
  CHECK(server.faults().empty());
}

TEST_CASE("when the caller who drives is done another takes over at once") {
  ScriptedServer server(answer_after_wait);
  Transport transport = make_transport(server);
  std::atomic<bool> long_one_ended{false};
  std::thread driver([&] { exchange(transport, wait_json(1, 300)); });
  server.wait_for_requests(1, guard);
  std::thread follower([&] {
    if (exchange(transport, wait_json(2, 600))) long_one_ended = true;
  });
  driver.join();
  const auto begun = Clock::now();
  follower.join();
  CHECK(long_one_ended);
  CHECK(Clock::now() - begun < 2s);
}

TEST_CASE("a thread that was driving hands over to the loop thread in the middle of its call") {
  ScriptedServer server(answer_after_wait);
  Transport transport = make_transport(server);
  std::atomic<bool> answered{false};
  std::thread blocked([&] {
    if (exchange(transport, wait_json(1, 300))) answered = true;
  });
  REQUIRE(server.wait_for_requests(1, guard));
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(2), {}, recorder);
  CHECK(recorder->wait_end());
  CHECK_FALSE(answered);
  blocked.join();
  CHECK(answered);
}

TEST_CASE("a blocking call inside a blocking call's callback works") {
  ScriptedServer server(answer_after_wait);
  Transport transport = make_transport(server);
  auto outer = transport.post(call_json(1, R"({"events":1})"));
  REQUIRE(outer);
  int inner = 0;
  while (auto event = outer->events()->next()) {
    if (exchange(transport, call_json(2))) ++inner;
  }
  CHECK(inner == 3);
  CHECK(outer->events()->end().reason == ExchangeEnd::Reason::answered);
}

// --- The loop thread

TEST_CASE("blocking members are refused on the loop thread") {
  ScriptedServer server(answer_after_wait);
  Transport transport = make_transport(server);
  auto pulled = transport.post(call_json(1, R"({"events":1})"));
  REQUIRE(pulled);
  std::optional<ErrorCode> post_code;
  std::optional<ErrorCode> next_code;
  bool next_gave_something = true;
  auto recorder = std::make_shared<Recorder>();
  recorder->at_end = [&] {
    post_code = code_of(transport.post(call_json(3)));
    next_gave_something = pulled->events()->next().has_value();
    next_code = pulled->events()->end().error->code;
  };
  const Call call = transport.start_post(call_json(2), {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(post_code == ErrorCode::wrong_thread);
  CHECK(next_code == ErrorCode::wrong_thread);
  CHECK_FALSE(next_gave_something);
  CHECK(server.requests().size() == 2);
  // Only that call was refused: nothing is lost to the thread that may wait.
  int events = 0;
  while (pulled->events()->next()) ++events;
  CHECK(events == 3);
  CHECK(pulled->end().reason == ExchangeEnd::Reason::answered);
  CHECK_FALSE(pulled->end().error);
}

TEST_CASE("a message that was refused on the loop thread can be taken on another") {
  ScriptedServer server(answer_after_wait);
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  std::optional<ErrorCode> refused;
  auto recorder = std::make_shared<Recorder>();
  recorder->at_end = [&] { refused = code_of(response->message()); };
  const Call call = transport.start_post(call_json(2), {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(refused == ErrorCode::wrong_thread);
  CHECK(response->message());
  CHECK(code_of(response->message()) == ErrorCode::invalid_argument);
}

TEST_CASE("asynchronous calls can be started from callbacks of asynchronous calls") {
  ScriptedServer server(answer_after_wait);
  Transport transport = make_transport(server);
  auto second = std::make_shared<Recorder>();
  auto first = std::make_shared<Recorder>();
  Call inner;
  first->at_end = [&] { inner = transport.start_post(call_json(2), {}, second); };
  const Call outer = transport.start_post(call_json(1), {}, first);
  REQUIRE(first->wait_end());
  REQUIRE(second->wait_end());
  CHECK(second->end()->reason == ExchangeEnd::Reason::answered);
}

// --- Executors

TEST_CASE("an executor runs the callbacks, for each exchange one at a time and in order") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 0; i < 200; ++i) send_event(connection, progress_json("1", i));
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  Pool pool(3);
  auto options = options_for(server);
  options.executor = pool.executor();
  Transport transport = make_transport(options);
  std::vector<std::shared_ptr<Recorder>> recorders;
  std::vector<Call> calls;
  for (int i = 0; i < 4; ++i) {
    recorders.push_back(std::make_shared<Recorder>());
    calls.push_back(transport.start_post(call_json(i), {}, recorders.back()));
  }
  for (const auto& recorder : recorders) {
    REQUIRE(recorder->wait_end());
    CHECK_FALSE(recorder->misused());
    const auto events = recorder->events();
    REQUIRE(events.size() == 201);
    for (int i = 0; i < 200; ++i) {
      CHECK(events[static_cast<std::size_t>(i)] == progress_json("1", i));
    }
    for (const std::thread::id thread : recorder->threads()) CHECK(pool.owns(thread));
  }
}

TEST_CASE("blocking calls are allowed in an executor's callbacks") {
  ScriptedServer server(answer_after_wait);
  Pool pool(1);
  auto options = options_for(server);
  options.executor = pool.executor();
  Transport transport = make_transport(options);
  std::atomic<bool> answered{false};
  auto recorder = std::make_shared<Recorder>();
  recorder->at_end = [&] { answered = exchange(transport, call_json(2)).has_value(); };
  const Call call = transport.start_post(call_json(1), {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(answered);
}

TEST_CASE("tasks that an executor has not begun are dropped when the call is destroyed") {
  ScriptedServer server(answer_after_wait);
  std::mutex mutex;
  std::vector<std::function<void()>> kept;
  Gate given;
  auto options = options_for(server);
  options.executor = [&](std::function<void()> task) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(task));
    given.open();
  };
  Transport transport = make_transport(options);
  auto recorder = std::make_shared<Recorder>();
  {
    const Call call = transport.start_post(call_json(1, R"({"events":1})"), {}, recorder);
    REQUIRE(given.wait());
  }
  CHECK(recorder->ends() == 1);
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::cancelled);
  CHECK(recorder->threads() == std::set{std::this_thread::get_id()});
  const std::lock_guard lock(mutex);
  for (const auto& task : kept) task();
  CHECK(recorder->ends() == 1);
  CHECK(recorder->events().empty());
  CHECK_FALSE(recorder->misused());
}

// --- Polled loops

TEST_CASE("poll is refused on an automatic loop") {
  EventLoop loop;
  CHECK(loop.mode() == EventLoop::Mode::automatic);
  CHECK_FALSE(loop.poll(0ms));
}

TEST_CASE("a polled loop runs asynchronous calls on the host's thread without any of its own") {
  const std::size_t own = own_threads_only();
  ScriptedServer server(answer_after_wait);
  const EventLoop loop(EventLoop::Mode::polled);
  Transport transport = make_transport(options_for(server), loop);
  Host host(loop);
  CHECK_FALSE(loop.next_deadline());
  auto recorder = std::make_shared<Recorder>();
  bool poll_inside = true;
  std::optional<ErrorCode> post_inside;
  recorder->each_event = [&](const Event&) {
    EventLoop copy = loop;
    poll_inside = copy.poll(0ms);
    post_inside = transport.post(call_json(2)).error().code;
    return Flow::proceed;
  };
  const Call call = transport.start_post(call_json(1, R"({"wait":100,"events":1})"), {}, recorder);
  CHECK(recorder->threads().empty());
  REQUIRE(host.run_until([&] { return recorder->ends() > 0; }));
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::answered);
  CHECK(recorder->events().size() == 3);
  CHECK(recorder->threads() == std::set{std::this_thread::get_id()});
  CHECK_FALSE(poll_inside);
  CHECK(post_inside == ErrorCode::wrong_thread);
  CHECK(thread_count() == own + 2);
  CHECK(host.turns() < 100);
}

TEST_CASE("the deadlines of a polled loop are told to the host") {
  ScriptedServer server(
      [](Connection& connection, const Request&) { connection.peer_closed(guard); });
  const EventLoop loop(EventLoop::Mode::polled);
  Transport transport = make_transport(options_for(server), loop);
  Host host(loop);
  auto recorder = std::make_shared<Recorder>();
  SendOptions send;
  send.timeouts.headers = 150ms;
  const auto begun = Clock::now();
  const Call call = transport.start_post(call_json(1), send, recorder);
  REQUIRE(host.run_until([&] { return recorder->ends() > 0; }));
  CHECK(recorder->error() == ErrorCode::timeout_header);
  CHECK(Clock::now() - begun < 5s);
  CHECK(host.turns() < 100);
}

TEST_CASE("a polled loop serves blocking callers of other threads beside its host") {
  Gate blocked_sent;
  Gate answer_asynchronous;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    if (id_of(request) == "2") answer_asynchronous.wait();
    answer_after_wait(connection, request);
  });
  const EventLoop loop(EventLoop::Mode::polled);
  Transport transport = make_transport(options_for(server), loop);
  Host host(loop);
  std::atomic<bool> answered{false};
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(2), {}, recorder);
  std::thread blocked([&] { answered = exchange(transport, wait_json(1, 1500)).has_value(); });
  // While the blocked thread drives, the host sleeps on the descriptor.
  std::thread opener([&] {
    server.wait_for_requests(2, guard);
    std::this_thread::sleep_for(200ms);
    answer_asynchronous.open();
  });
  const auto begun = Clock::now();
  CHECK(host.run_until([&] { return recorder->ends() > 0; }));
  const auto took = Clock::now() - begun;
  CHECK_FALSE(answered);
  opener.join();
  blocked.join();
  CHECK(answered);
  CHECK(took < 1400ms);
  CHECK(recorder->threads() == std::set{std::this_thread::get_id()});
}

TEST_CASE("what a polled callback asks for is done at once while a blocked thread drives") {
  Gate closed;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    if (id_of(request) != "3") return answer_after_wait(connection, request);
    if (connection.peer_closed(guard)) closed.open();
  });
  const EventLoop loop(EventLoop::Mode::polled);
  Transport transport = make_transport(options_for(server), loop);
  Host host(loop);
  auto silent = std::make_shared<Recorder>();
  Call cancelled = transport.start_post(call_json(3), {}, silent);
  std::atomic<bool> answered{false};
  std::thread blocked([&] { answered = exchange(transport, wait_json(1, 2000)).has_value(); });
  REQUIRE(server.wait_for_requests(2, guard));
  auto recorder = std::make_shared<Recorder>();
  recorder->at_end = [&] {
    std::this_thread::sleep_for(100ms);  // the blocked thread is asleep in its wait by now
    cancelled.cancel();
  };
  const Call call = transport.start_post(wait_json(2, 100), {}, recorder);
  CHECK(host.run_until([&] { return recorder->ends() > 0; }));
  CHECK(closed.wait(1000ms));
  CHECK_FALSE(answered);
  CHECK(host.run_until([&] { return silent->ends() > 0; }));
  blocked.join();
  CHECK(answered);
}

TEST_CASE("a polled loop drives for blocking members between the host's calls") {
  const std::size_t own = own_threads_only();
  ScriptedServer server(answer_after_wait);
  Transport transport = make_transport(options_for(server), EventLoop(EventLoop::Mode::polled));
  for (int i = 0; i < 3; ++i) CHECK(exchange(transport, call_json(i, R"({"events":1})")));
  CHECK(thread_count() == own + 2);
}

TEST_CASE("a polled loop that is never polled again leaves nothing behind") {
  ScriptedServer server(answer_after_wait);
  auto recorder = std::make_shared<Recorder>();
  const std::weak_ptr<Recorder> watched = recorder;
  {
    EventLoop loop(EventLoop::Mode::polled);
    Transport transport = make_transport(options_for(server), loop);
    Call call = transport.start_post(call_json(1), {}, recorder);
    REQUIRE(exchange(transport, call_json(2)));  // drives the other one as well
    server.wait_for_requests(2, guard);
    REQUIRE(exchange(transport, wait_json(3, 50)));
    CHECK(recorder->ends() == 0);
    call.detach();
  }
  CHECK(recorder->ends() == 1);
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::cancelled);
  recorder.reset();
  CHECK(watched.expired());
}
