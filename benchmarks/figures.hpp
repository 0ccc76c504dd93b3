// What a measured program finds out, and how it measures: each prints its figures as one line of
// JSON, which run.py reads.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace mcphttp::bench {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

using Figures = std::vector<std::pair<std::string, double>>;

// One line of JSON on stdout.
void print(const Figures& figures);

// User and system time of this process so far, all threads together (getrusage(2)).
Microseconds cpu_time();

// The middle one; 0 if there are none.
double median(std::vector<double> values);

// Wall and CPU time since it was made.
class Stopwatch {
 public:
  Microseconds wall() const { return Clock::now() - begin_; }
  Microseconds cpu() const { return cpu_time() - cpu_begin_; }

 private:
  Clock::time_point begin_ = Clock::now();
  Microseconds cpu_begin_ = cpu_time();
};

}  // namespace mcphttp::bench
