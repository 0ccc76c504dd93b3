// Whether and when a broken event stream is taken up again, and what was seen of it before. Pure:
// no I/O, no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include <mcphttp/options.hpp>

#include "backoff.hpp"

namespace mcphttp {

// The delays and the budget of one stream. A value; needs external synchronisation.
class Resumption {
 public:
  Resumption(const Reconnection& options, Backoff::RandomSource random);

  // A JSON-RPC message came: the stream makes progress. Nothing else refills the budget, neither a
  // connect that succeeds nor an event without a message, or a server could keep us in a loop.
  void on_message();

  // The stream is gone: how long to wait before the next attempt. A server's `retry` is never
  // shortened; without one, and after an attempt that brought nothing, the wait grows.
  std::chrono::milliseconds next_delay(std::optional<std::uint64_t> retry);

  // True once max_attempts in a row have brought no message.
  bool exhausted() const noexcept { return attempts_ >= max_attempts_; }

 private:
  const int max_attempts_;
  int attempts_ = 0;
  Backoff backoff_;
};

// Remembers the ids of the latest events, so that a server which replays too much is not believed
// twice.
class ReplayFilter {
 public:
  static constexpr std::size_t max_ids = 256;
  static constexpr std::size_t max_size = std::size_t{64} * 1024;

  // True if an event with that id has passed before; else notes it.
  bool seen(std::string_view id);

 private:
  std::list<std::string> order_;  // a deque would hold half a KiB even while empty
  std::unordered_set<std::string> ids_;
  std::size_t size_ = 0;
};

}  // namespace mcphttp
