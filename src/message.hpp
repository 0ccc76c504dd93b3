// Reading messages with a parser at hand, and comparing ids. Private to the library.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/message.hpp>

#include "json.hpp"

namespace mcphttp {

// Message::parse with the parser of the event loop. Give `text` json::padding bytes of spare
// capacity to save a copy; it is moved from only on success.
Result<Message> parse_message(std::string&& text, std::size_t max_depth,
                              json::Checker& checker) noexcept;

// The messages of `text`: of an array its elements in order, each a Message with its own text (MCP
// 2025-03-26, batches), else the one message it is. `max_depth` holds for each message; the array
// around them does not count. Fails as parse_message does, as a whole if one element is no message;
// malformed_message also for an empty array and for more than `max_messages` elements.
Result<std::vector<Message>> parse_batch(std::string&& text, std::size_t max_depth,
                                         std::size_t max_messages, json::Checker& checker) noexcept;

enum class IdMatch {
  same,
  type_changed,  // "1" for 1, or 1 for "1"
  different,
};

// Compares the raw id of a request with that of a response. Strings are compared by their
// characters, numbers by their digits; an empty (absent) or null id is different from every other.
IdMatch match_ids(std::string_view expected_raw, std::string_view received_raw);

// The raw token under which a request with these params asks for progress (MCP 2025-11-25,
// Progress); empty if it does not.
std::string_view progress_token_of(std::string_view params);

// True for a progress notification with that raw token.
bool is_progress(const Message& message, std::string_view token);

}  // namespace mcphttp
