// A second opinion on event streams: whole input at once, no cleverness, so that it can be checked
// by reading WHATWG HTML 9.2.6 beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcphttp::test {

struct OracleEvent {
  std::string type;
  std::string data;
  std::string id;
  bool has_data =
      false;  // false: a block that dispatches nothing, but had an id, a retry or a type
  bool has_id = false;
  std::optional<std::uint64_t> retry;

  bool operator==(const OracleEvent&) const = default;
};

struct OracleResult {
  std::vector<OracleEvent> events;
  std::string last_id;
  std::optional<std::uint64_t> retry;
  bool too_large =
      false;  // SseParserOptions::max_event_size was exceeded; nothing after that is read

  bool operator==(const OracleResult&) const = default;
};

OracleResult sse_oracle(std::string_view stream, std::size_t max_event_size,
                        std::string last_id = {});

}  // namespace mcphttp::test
