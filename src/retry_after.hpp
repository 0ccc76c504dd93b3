// Retry-After (RFC 9110 10.2.3). Pure; the clock is an argument.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace mcphttp::http {

// No wait is reported longer than this, whatever the server says.
inline constexpr std::chrono::milliseconds max_retry_after = std::chrono::hours(24 * 365);

// How long to wait from `now`: a number of seconds, or an HTTP-date in any of its three forms (RFC
// 9110 5.6.7; the name of the day is not checked). A date that has passed is 0. Nothing for any
// other text.
std::optional<std::chrono::milliseconds> parse_retry_after(
    std::string_view value, std::chrono::system_clock::time_point now);

}  // namespace mcphttp::http
