#include "worker.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "support/gate.hpp"

using mcphttp::Worker;
using mcphttp::test::Gate;
using namespace std::chrono_literals;

TEST_CASE("tasks run one after the other, on one thread that is not the caller's") {
  std::set<std::thread::id> threads;
  std::vector<int> order;
  Gate done;
  Worker worker(nullptr);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(worker.post([&, i] {
      threads.insert(std::this_thread::get_id());
      order.push_back(i);
      done.open();
      if (i % 2 == 0) throw i;
    }));
  }
  REQUIRE(done.wait_for(100));
  worker.stop();
  CHECK(threads.size() == 1);
  CHECK(threads.count(std::this_thread::get_id()) == 0);
  REQUIRE(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end()));
  CHECK_FALSE(worker.post([] {}));
}

TEST_CASE("a task that waits in a call lets the next one run, and nobody else's task beside both") {
  Gate inner_done;
  Gate all_done;
  std::atomic<bool> waited_in_vain{false};
  std::atomic<bool> outer_running{false};
  std::atomic<bool> crowded{false};
  Worker worker(nullptr);
  worker.post([&] {
    worker.post([&] { inner_done.open(); });
    {
      const Worker::Pause pause;
      if (!inner_done.wait()) waited_in_vain = true;
    }
    outer_running = true;
    worker.post([&] {
      crowded = outer_running.load();
      all_done.open();
    });
    std::this_thread::sleep_for(50ms);
    outer_running = false;
  });
  REQUIRE(all_done.wait());
  CHECK_FALSE(waited_in_vain);
  CHECK_FALSE(crowded);
}

TEST_CASE("tasks may wait for each other sixteen deep; one more waits for a thread") {
  constexpr std::size_t depth = Worker::max_threads;
  Gate begun;
  Gate go_on;
  Worker worker(nullptr);
  const std::function<void()> wait_for_the_next = [&] {
    begun.open();
    worker.post(wait_for_the_next);
    const Worker::Pause pause;
    go_on.wait();
  };
  worker.post(wait_for_the_next);
  REQUIRE(begun.wait_for(depth));
  CHECK_FALSE(begun.wait_for(depth + 1, 50ms));
  go_on.open();
  CHECK(begun.wait_for(depth + 1));
  worker.stop();
}

TEST_CASE("stop drops what has not begun and waits for what runs") {
  Gate begun;
  std::atomic<int> ended{0};
  Worker worker(nullptr);
  worker.post([&] {
    begun.open();
    std::this_thread::sleep_for(50ms);
    ++ended;
  });
  worker.post([&] { ended += 100; });
  REQUIRE(begun.wait());
  worker.stop();
  CHECK(ended == 1);
}

TEST_CASE("a task may stop its own worker") {
  Gate stopped;
  auto worker = std::make_unique<Worker>(nullptr);
  worker->post([&] {
    worker->stop();
    stopped.open();
  });
  CHECK(stopped.wait());
}

TEST_CASE("tasks in an executor run as it likes, until the worker is stopped") {
  std::vector<std::function<void()>> taken;
  int ran = 0;
  Worker worker([&](std::function<void()> task) { taken.push_back(std::move(task)); });
  REQUIRE(worker.post([&] { ++ran; }));
  REQUIRE(worker.post([&] { ++ran; }));
  taken.at(0)();
  CHECK(ran == 1);
  worker.stop();
  taken.at(1)();
  CHECK(ran == 1);
}
