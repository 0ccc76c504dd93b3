#include "resumption.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace mcphttp;
using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

namespace {

std::uint64_t lowest() { return 0; }

std::vector<Milliseconds> delays(Resumption& resumption, std::optional<std::uint64_t> retry,
                                 std::size_t count) {
  std::vector<Milliseconds> out(count);
  for (Milliseconds& delay : out) delay = resumption.next_delay(retry);
  return out;
}

// Shows the filter an id called "first", then so many others of that size.
void fill(ReplayFilter& filter, std::size_t size, std::size_t count) {
  filter.seen("first");
  for (std::size_t i = 0; i < count; ++i) {
    std::string id = std::to_string(i) + ".";
    id.resize(size, 'x');
    filter.seen(id);
  }
}

}  // namespace

TEST_CASE("without a retry the delays grow from the first one on") {
  Resumption resumption({}, lowest);
  CHECK(delays(resumption, std::nullopt, 5) == std::vector<Milliseconds>{1s, 2s, 4s, 8s, 15s});
}

TEST_CASE("a retry is the first delay as it is, and a lower bound for those after failures") {
  Resumption quick({}, lowest);
  CHECK(delays(quick, 500, 3) == std::vector<Milliseconds>{500ms, 1s, 2s});
  Resumption slow({}, lowest);
  CHECK(delays(slow, 3000, 4) == std::vector<Milliseconds>{3s, 3s, 3s, 4s});
}

TEST_CASE("a retry of zero does not become a hot loop") {
  Resumption resumption({}, lowest);
  for (int round = 0; round < 3; ++round) {
    CHECK(resumption.next_delay(0) == 20ms);
    resumption.on_message();
  }
  CHECK(resumption.next_delay(0) == 20ms);
  CHECK(resumption.next_delay(0) >= 1s);
}

TEST_CASE("a huge retry is a long wait, and one that the clock can count") {
  for (const std::uint64_t retry :
       {std::uint64_t{3'600'001}, std::uint64_t{1} << 62, std::uint64_t{1} << 63,
        std::numeric_limits<std::uint64_t>::max()}) {
    CAPTURE(retry);
    Resumption resumption({}, lowest);
    for (int i = 0; i < 3; ++i) {
      const auto now = std::chrono::steady_clock::now();
      const Milliseconds delay = resumption.next_delay(retry);
      CHECK(delay > 1h);
      CHECK(delay < std::chrono::steady_clock::time_point::max() - now);
    }
  }
}

TEST_CASE("the budget is spent by attempts and refilled by messages alone") {
  Resumption resumption({}, lowest);
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(resumption.exhausted());
    resumption.next_delay(std::nullopt);
  }
  CHECK(resumption.exhausted());
  resumption.next_delay(std::nullopt);
  CHECK(resumption.exhausted());
  resumption.on_message();
  CHECK_FALSE(resumption.exhausted());
  CHECK(resumption.next_delay(std::nullopt) == 1s);
}

TEST_CASE("a budget of zero is exhausted from the beginning") {
  Reconnection options;
  options.max_attempts = 0;
  Resumption resumption(options, lowest);
  CHECK(resumption.exhausted());
  resumption.on_message();
  CHECK(resumption.exhausted());
}

TEST_CASE("the delays of the options are those taken") {
  Reconnection options;
  options.initial_delay = 10ms;
  options.max_delay = 30ms;
  Resumption resumption(options, lowest);
  CHECK(delays(resumption, std::nullopt, 3) == std::vector<Milliseconds>{10ms, 15ms, 15ms});
}

TEST_CASE("an id that has passed is seen, one that has not is noted") {
  ReplayFilter filter;
  CHECK_FALSE(filter.seen("a"));
  CHECK_FALSE(filter.seen("b"));
  CHECK(filter.seen("a"));
  CHECK(filter.seen("b"));
  CHECK_FALSE(filter.seen("A"));
  CHECK_FALSE(filter.seen(""));
  CHECK(filter.seen(""));
}

TEST_CASE("the filter remembers the latest 256 ids") {
  ReplayFilter full;
  fill(full, 8, ReplayFilter::max_ids - 1);
  CHECK(full.seen("first"));
  ReplayFilter over;
  fill(over, 8, ReplayFilter::max_ids);
  CHECK_FALSE(over.seen("first"));
}

TEST_CASE("the filter remembers 64 KiB of ids") {
  constexpr std::size_t size = 1024;
  ReplayFilter full;
  fill(full, size, ReplayFilter::max_size / size - 1);
  CHECK(full.seen("first"));
  ReplayFilter over;
  fill(over, size, ReplayFilter::max_size / size);
  CHECK_FALSE(over.seen("first"));
}
