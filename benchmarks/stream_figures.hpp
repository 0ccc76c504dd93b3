// What is measured of many open streams, whoever opens them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "scenario.hpp"

namespace mcphttp::bench {

// Opens streams on one loop and reports what comes in on them. The members may be called from the
// thread that measures only.
class StreamOpener {
 public:
  virtual ~StreamOpener() = default;
  // Returns once `total` streams are open, those opened before included.
  virtual void open_until(std::size_t total) = 0;
  // Returns once so many wake-ups more have come in; their ages, in microseconds.
  virtual std::vector<double> receive(std::size_t count) = 0;

 protected:
  StreamOpener() = default;
  StreamOpener(const StreamOpener&) = default;
  StreamOpener& operator=(const StreamOpener&) = default;
};

// How many streams may be on the way to being open: more would overrun the server's backlog.
inline constexpr std::size_t most_opening = 200;

// Opens a tenth of the streams, then all of them, and wakes each time.
Figures measure_streams(StreamOpener& opener, const Arguments& arguments);

}  // namespace mcphttp::bench
