#include "backoff.hpp"

#include <algorithm>
#include <utility>

namespace mcphttp {
namespace {

std::chrono::milliseconds doubled(std::chrono::milliseconds delay, std::chrono::milliseconds cap) {
  return delay > cap / 2 ? cap : delay * 2;
}

}  // namespace

Backoff::Backoff(RandomSource random, Milliseconds initial, Milliseconds cap)
    : random_(std::move(random)), initial_(initial), cap_(cap), longest_(doubled(initial, cap)) {}

Backoff::Milliseconds Backoff::next(std::optional<Milliseconds> server_retry) {
  const Milliseconds shortest = std::max(longest_ / 2, initial_);
  // The bias of the remainder is below one in 2^40 for any sensible delay.
  const auto choices = static_cast<std::uint64_t>((longest_ - shortest).count()) + 1;
  const Milliseconds wait = shortest + Milliseconds(static_cast<std::int64_t>(random_() % choices));
  longest_ = doubled(longest_, cap_);
  return std::max(wait, server_retry.value_or(Milliseconds::zero()));
}

void Backoff::reset() { longest_ = doubled(initial_, cap_); }

}  // namespace mcphttp
