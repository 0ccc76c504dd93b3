#include "deadline.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace mcphttp;
using std::chrono::milliseconds;

namespace {

TimePoint at(int ms) { return TimePoint() + milliseconds(ms); }

// Deadlines that write their names down.
struct Bench {
  DeadlineQueue queue;
  std::string ran;

  std::unique_ptr<Deadline> make(char name) {
    return std::make_unique<Deadline>(queue, [this, name] { ran += name; });
  }
};

}  // namespace

TEST_CASE("a queue without armed deadlines has nothing next") {
  Bench bench;
  CHECK_FALSE(bench.queue.next());
  const auto idle = bench.make('a');
  CHECK_FALSE(bench.queue.next());
  bench.queue.expire(at(1000));
  CHECK(bench.ran.empty());
}

TEST_CASE("deadlines run when due, earliest first, each once") {
  Bench bench;
  const auto a = bench.make('a');
  const auto b = bench.make('b');
  const auto c = bench.make('c');
  a->arm(at(30));
  b->arm(at(10));
  c->arm(at(20));
  CHECK(bench.queue.next() == at(10));
  bench.queue.expire(at(9));
  CHECK(bench.ran.empty());
  bench.queue.expire(at(10));
  CHECK(bench.ran == "b");
  CHECK(bench.queue.next() == at(20));
  bench.queue.expire(at(100));
  CHECK(bench.ran == "bca");
  bench.queue.expire(at(100));
  CHECK(bench.ran == "bca");
  CHECK_FALSE(bench.queue.next());
}

TEST_CASE("deadlines of the same time run in the order of arming") {
  Bench bench;
  const auto a = bench.make('a');
  const auto b = bench.make('b');
  b->arm(at(5));
  a->arm(at(5));
  bench.queue.expire(at(5));
  CHECK(bench.ran == "ba");
}

TEST_CASE("arming again moves a deadline, both ways") {
  Bench bench;
  const auto a = bench.make('a');
  a->arm(at(10));
  a->arm(at(20));
  bench.queue.expire(at(10));
  CHECK(bench.ran.empty());
  a->arm(at(5));
  CHECK(bench.queue.next() == at(5));
  bench.queue.expire(at(10));
  CHECK(bench.ran == "a");
  a->arm(at(15));
  bench.queue.expire(at(15));
  CHECK(bench.ran == "aa");
}

TEST_CASE("a deadline that was disarmed or destroyed does not run") {
  Bench bench;
  const auto a = bench.make('a');
  auto b = bench.make('b');
  a->arm(at(1));
  b->arm(at(1));
  a->disarm();
  a->disarm();
  b.reset();
  CHECK_FALSE(bench.queue.next());
  bench.queue.expire(at(1));
  CHECK(bench.ran.empty());
}

TEST_CASE("a deadline may arm itself again when it runs") {
  DeadlineQueue queue;
  int runs = 0;
  std::unique_ptr<Deadline> self;
  self = std::make_unique<Deadline>(queue, [&] {
    ++runs;
    self->arm(at(10 * (runs + 1)));
  });
  self->arm(at(10));
  queue.expire(at(10));
  CHECK(runs == 1);
  CHECK(queue.next() == at(20));
  queue.expire(at(45));
  CHECK(runs == 4);
  CHECK(queue.next() == at(50));
}

TEST_CASE("a deadline may arm, disarm and destroy others that are due") {
  Bench bench;
  auto destroyed = bench.make('d');
  const auto disarmed = bench.make('x');
  const auto armed = bench.make('a');
  Deadline first(bench.queue, [&] {
    bench.ran += '1';
    destroyed.reset();
    disarmed->disarm();
    armed->arm(at(5));
  });
  first.arm(at(1));
  destroyed->arm(at(2));
  disarmed->arm(at(3));
  bench.queue.expire(at(5));
  CHECK(bench.ran == "1a");
}
