// Wake-ups: events that the server sends into idle streams, each with the time at which it was
// sent. Server and clients run on one machine and read one clock.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "figures.hpp"

namespace mcphttp::bench {

// Asks the server behind `url` for so many wake-ups, one each millisecond, on a connection of its
// own. Throws std::runtime_error if it does not accept.
void request_wake_ups(const std::string& url, std::size_t count);

// The data of an event sent now.
std::string wake_up_message();

// How long ago the event was sent whose text holds that message; nothing if it holds none.
std::optional<Microseconds> age_of_wake_up(std::string_view text);

}  // namespace mcphttp::bench
