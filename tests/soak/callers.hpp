// Those who call: several threads that block, and several chains of asynchronous calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <mcphttp/client.hpp>

#include "dice.hpp"

namespace mcphttp::test {

class Callers {
 public:
  struct Outcomes {
    std::uint64_t results = 0;
    std::uint64_t wrong = 0;                      // results of another call, and nameless errors
    std::map<std::string, std::uint64_t> errors;  // by code
  };

  // They call until the object is destroyed.
  Callers(Client& client, std::uint64_t seed);
  ~Callers();
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  Outcomes outcomes() const;
  // True if a call has been under way for longer.
  bool hang(std::chrono::seconds longest) const;
  // No more calls; false if one does not end in time.
  bool stop(std::chrono::seconds within);

 private:
  static constexpr std::size_t threads = 3;
  static constexpr std::size_t chains = 4;
  using Clock = std::chrono::steady_clock;

  void call_on_and_on(std::size_t caller);
  void start(std::size_t caller, std::uint64_t number);
  CallOptions chance_options();
  // The number of the caller's next call; nothing once there is to be none.
  std::optional<std::uint64_t> begin(std::size_t caller);
  std::optional<std::uint64_t> end_and_begin(std::size_t caller, std::uint64_t number,
                                             const Result<ToolResult>& result);
  std::optional<std::uint64_t> next_number(std::size_t caller);

  Client& client_;
  Dice dice_;
  mutable std::mutex mutex_;
  bool stopping_ = false;                                // guarded
  std::uint64_t numbers_ = 0;                            // guarded
  Outcomes outcomes_;                                    // guarded
  std::vector<std::optional<Clock::time_point>> begun_;  // guarded; by caller
  std::vector<std::thread> threads_;
};

}  // namespace mcphttp::test
