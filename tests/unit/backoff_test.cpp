#include "backoff.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <vector>

using mcphttp::Backoff;
using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

namespace {

std::uint64_t lowest() { return 0; }

// A draw that is `choices` - 1 modulo the number of choices of a wait between `shortest` and
// `longest`.
Backoff::RandomSource highest(std::vector<std::uint64_t> spans) {
  return [spans = std::move(spans), i = std::size_t{0}]() mutable { return spans.at(i++); };
}

std::vector<Milliseconds> waits(Backoff& backoff, std::size_t count) {
  std::vector<Milliseconds> result(count);
  for (Milliseconds& wait : result) wait = backoff.next(std::nullopt);
  return result;
}

}  // namespace

TEST_CASE("the shortest waits double from one second to half the cap") {
  Backoff backoff(lowest);
  CHECK(waits(backoff, 7) == std::vector<Milliseconds>{1s, 2s, 4s, 8s, 15s, 15s, 15s});
}

TEST_CASE("the longest waits double from two seconds to the cap") {
  Backoff backoff(highest({1000, 2000, 4000, 8000, 15000, 15000}));
  CHECK(waits(backoff, 6) == std::vector<Milliseconds>{2s, 4s, 8s, 16s, 30s, 30s});
}

TEST_CASE("a draw beyond the span of a wait wraps around into it") {
  Backoff backoff([] { return std::uint64_t{1001 + 17}; });
  CHECK(backoff.next(std::nullopt) == 1017ms);
}

TEST_CASE("no wait is outside its bounds whatever is drawn") {
  Backoff backoff(std::mt19937_64{7});
  for (int round = 0; round < 200; ++round) {
    backoff.reset();
    Milliseconds floor = 1s;
    for (int i = 0; i < 70; ++i) {
      const Milliseconds wait = backoff.next(std::nullopt);
      REQUIRE(wait >= floor);
      REQUIRE(wait <= std::min<Milliseconds>(floor * 2, 30s));
      floor = std::min<Milliseconds>(floor * 2, 15s);
    }
  }
}

TEST_CASE("waits are spread over their whole span") {
  Backoff backoff(std::mt19937_64{7});
  Milliseconds least = Milliseconds::max();
  Milliseconds most = Milliseconds::zero();
  for (int i = 0; i < 1000; ++i) {
    backoff.reset();
    const Milliseconds wait = backoff.next(std::nullopt);
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  CHECK(least < 1050ms);
  CHECK(most > 1950ms);
}

TEST_CASE("a server's retry is never shortened, and never shortens a wait") {
  Backoff backoff(lowest);
  CHECK(backoff.next(1500ms) == 1500ms);
  CHECK(backoff.next(1500ms) == 2s);
  CHECK(backoff.next(0ms) == 4s);
  CHECK(backoff.next(std::chrono::hours(2)) == std::chrono::hours(2));
  CHECK(backoff.next(Milliseconds::max()) == Milliseconds::max());
  CHECK(backoff.next(std::nullopt) == 15s);
}

TEST_CASE("reset begins again with the shortest delay") {
  Backoff backoff(lowest);
  waits(backoff, 5);
  backoff.reset();
  CHECK(backoff.next(std::nullopt) == 1s);
  CHECK(backoff.next(std::nullopt) == 2s);
}

TEST_CASE("initial delay and cap can be chosen") {
  Backoff quick(lowest, 100ms, 350ms);
  CHECK(waits(quick, 4) == std::vector<Milliseconds>{100ms, 175ms, 175ms, 175ms});
  Backoff constant([] { return std::numeric_limits<std::uint64_t>::max(); }, 5s, 5s);
  CHECK(waits(constant, 3) == std::vector<Milliseconds>{5s, 5s, 5s});
  Backoff endless(lowest, 1s, Milliseconds::max());
  for (int i = 0; i < 80; ++i) CHECK(endless.next(std::nullopt) > 0ms);
}
