#include "callers.hpp"

#include <algorithm>
#include <utility>

#include "helpers.hpp"

namespace mcphttp::test {
namespace {

using namespace std::chrono_literals;

std::string arguments(std::uint64_t number) {
  return R"({"number":)" + std::to_string(number) + "}";
}

}  // namespace

Callers::Callers(Client& client, std::uint64_t seed)
    : client_(client), dice_(seed), begun_(threads + chains) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { call_on_and_on(i); });
  for (std::size_t i = threads; i < threads + chains; ++i) start(i, *begin(i));
}

Callers::~Callers() {
  stop(20s);
  for (std::thread& thread : threads_) thread.join();
}

void Callers::call_on_and_on(std::size_t caller) {
  for (auto number = begin(caller); number;) {
    const auto result = client_.call_tool("t", arguments(*number), chance_options());
    std::this_thread::sleep_for(dice_.up_to(4ms));
    number = end_and_begin(caller, *number, result);
  }
}

void Callers::start(std::size_t caller, std::uint64_t number) {
  client_
      .start_tool("t", arguments(number), chance_options(),
                  [this, caller, number](const Result<ToolResult>& result) {
                    if (const auto next = end_and_begin(caller, number, result))
                      start(caller, *next);
                  })
      .detach();
}

// Some listen to progress, some have little patience.
CallOptions Callers::chance_options() {
  CallOptions options;
  if (dice_.one_in(2)) options.on_progress = [](const Progress&) {};
  if (dice_.one_in(20)) options.timeouts.total = dice_.up_to(20ms) + 1ms;
  if (dice_.one_in(20)) options.timeouts.request = dice_.up_to(50ms) + 1ms;
  return options;
}

std::optional<std::uint64_t> Callers::begin(std::size_t caller) {
  const std::lock_guard lock(mutex_);
  return next_number(caller);
}

// In one step, so that whoever sees all calls ended knows that none will begin.
std::optional<std::uint64_t> Callers::end_and_begin(std::size_t caller, std::uint64_t number,
                                                    const Result<ToolResult>& result) {
  const std::lock_guard lock(mutex_);
  if (!result) {
    const std::string name(to_string(result.error().code));
    ++outcomes_.errors[name];
    outcomes_.wrong += name == "unknown" || name == "internal" ? 1 : 0;
  } else {
    const auto& content = result->content;
    ++outcomes_.results;
    outcomes_.wrong += content.size() == 1 && content[0].text == std::to_string(number) ? 0 : 1;
  }
  return next_number(caller);
}

std::optional<std::uint64_t> Callers::next_number(std::size_t caller) {
  begun_[caller].reset();
  if (stopping_) return std::nullopt;
  begun_[caller] = Clock::now();
  return numbers_++;
}

Callers::Outcomes Callers::outcomes() const {
  const std::lock_guard lock(mutex_);
  return outcomes_;
}

bool Callers::hang(std::chrono::seconds longest) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(begun_.begin(), begun_.end(),
                     [&](const auto& begun) { return begun && Clock::now() - *begun > longest; });
}

bool Callers::stop(std::chrono::seconds within) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const auto all_ended = [this] {
    const std::lock_guard lock(mutex_);
    return std::none_of(begun_.begin(), begun_.end(),
                        [](const auto& begun) { return begun.has_value(); });
  };
  for (const auto deadline = Clock::now() + within; !all_ended() && Clock::now() < deadline;)
    std::this_thread::sleep_for(1ms);
  return all_ended();
}

}  // namespace mcphttp::test
