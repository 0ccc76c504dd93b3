#include "figures.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace mcphttp::bench {
namespace {

Microseconds to_microseconds(const timeval& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

}  // namespace

void print(const Figures& figures) {
  const char* separator = "{";
  for (const auto& [name, value] : figures) {
    std::printf("%s\"%s\": %.6g", separator, name.c_str(), value);
    separator = ", ";
  }
  std::printf("}\n");
}

Microseconds cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return to_microseconds(usage.ru_utime) + to_microseconds(usage.ru_stime);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace mcphttp::bench
