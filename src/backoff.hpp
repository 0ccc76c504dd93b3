// How long to wait before a stream is opened again. No clock, no global randomness.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace mcphttp {

// Exponential delays with jitter. With the defaults the first wait lies between 1 s and 2 s, the
// second between 2 s and 4 s, and so on; from the fifth on all lie between 15 s and 30 s. Thus none
// is below `initial` or above `cap`, and clients that lost the same server do not come back in
// step. A value; needs external synchronisation.
class Backoff {
 public:
  using Milliseconds = std::chrono::milliseconds;
  // Draws uniformly from all 64-bit values; std::mt19937_64 is one.
  using RandomSource = std::function<std::uint64_t()>;

  static constexpr Milliseconds default_initial = std::chrono::seconds(1);
  static constexpr Milliseconds default_cap = std::chrono::seconds(30);

  // `random` must not be empty. `initial` must be positive and `cap` at least `initial`.
  explicit Backoff(RandomSource random, Milliseconds initial = default_initial,
                   Milliseconds cap = default_cap);

  // The next wait. A server's `retry` (WHATWG HTML 9.2.6) is a lower bound: it is never shortened,
  // not even to the cap.
  Milliseconds next(std::optional<Milliseconds> server_retry);

  // Begins again with the shortest delay: the stream has proved itself.
  void reset();

 private:
  RandomSource random_;
  Milliseconds initial_;
  Milliseconds cap_;
  Milliseconds longest_;  // the upper end of the next wait; its lower end is half of it
};

}  // namespace mcphttp
