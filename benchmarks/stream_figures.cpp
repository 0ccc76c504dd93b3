#include "stream_figures.hpp"

#include <utility>

#include "support/memory.hpp"
#include "wake_ups.hpp"

namespace mcphttp::bench {
namespace {

struct WakeUps {
  double p50_us;
  double cpu_us;
};

WakeUps measure_wake_ups(StreamOpener& opener, const Arguments& arguments) {
  const Stopwatch stopwatch;
  request_wake_ups(arguments.url, arguments.count);
  std::vector<double> ages = opener.receive(arguments.count);
  return {median(std::move(ages)), stopwatch.cpu().count() / static_cast<double>(arguments.count)};
}

}  // namespace

Figures measure_streams(StreamOpener& opener, const Arguments& arguments) {
  opener.open_until(1);
  const std::size_t base = test::current_rss_bytes();
  const std::size_t few = arguments.width / 10;
  opener.open_until(few);
  const WakeUps of_few = measure_wake_ups(opener, arguments);
  const Stopwatch opening;
  opener.open_until(arguments.width);
  const double open_us = opening.cpu().count() / static_cast<double>(arguments.width - few);
  const std::size_t held = test::current_rss_bytes() - base;
  const WakeUps of_all = measure_wake_ups(opener, arguments);
  return {{"stream_bytes", static_cast<double>(held) / static_cast<double>(arguments.width - 1)},
          {"open_cpu_us", open_us},
          {"p50_us", of_all.p50_us},
          {"cpu_us", of_all.cpu_us},
          {"p50_us_few", of_few.p50_us},
          {"cpu_us_few", of_few.cpu_us},
          {"cpu_growth", of_all.cpu_us / of_few.cpu_us}};
}

}  // namespace mcphttp::bench
