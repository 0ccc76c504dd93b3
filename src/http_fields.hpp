// Header lines and the small field grammars of HTTP (RFC 9110, RFC 9112). Pure functions, linear in
// their input; what they return as views points into it. Received text is judged tolerantly, what
// we send strictly.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/options.hpp>

// The rest of this room.
#include "challenges.hpp"
#include "media_type.hpp"
#include "retry_after.hpp"

namespace mcphttp::http {

// One received field, as views into its line.
struct HeaderField {
  std::string_view name;
  std::string_view value;  // without optional whitespace at both ends
};

// One header line, with or without its CRLF or LF. Nothing if the name is not a token, which
// whitespace before the colon is not either (RFC 9112 5.1), if there is no colon, or if the value
// holds CR, LF or NUL (RFC 9110 5.5).
std::optional<HeaderField> parse_header_line(std::string_view line) noexcept;

// True for a line that continues the one before it: obsolete line folding (RFC 9112 5.2).
bool is_folded_line(std::string_view line) noexcept;

// The status, 100 to 999, of "HTTP/1.1 200 OK" or "HTTP/2 200", with or without a line end. Nothing
// for any other line.
std::optional<int> parse_status_line(std::string_view line) noexcept;

// Equal but for the case of ASCII letters.
bool iequals(std::string_view a, std::string_view b) noexcept;
// A copy with ASCII letters in lower case.
std::string to_lower(std::string_view text);

// The elements of a list of tokens, as in Transfer-Encoding; empty ones are dropped (RFC
// 9110 5.6.1). Quotes mean nothing here. At most max_list_elements: what follows stays undivided in
// the last, so that it cannot pass for a coding that is known.
inline constexpr std::size_t max_list_elements = 64;
std::vector<std::string_view> split_list(std::string_view value);

// Content-Length: digits, or the same number several times (RFC 9110 8.6). A number beyond 64 bits
// is the largest there is. Nothing for anything else.
std::optional<std::uint64_t> parse_content_length(std::string_view value) noexcept;

// How many of these have that name, in any case.
std::size_t count_fields(const std::vector<Header>& headers, std::string_view name);

// True if Content-Length comes more than once, in different words: nobody can tell where such a
// response ends (RFC 9112 6.3). libcurl takes the last for right.
bool lengths_differ(const std::vector<Header>& headers);

// The `timeout` of Keep-Alive: timeout=5, max=100 (RFC 2068 19.7.1.1), at most a day. Nothing if
// there is none.
std::optional<std::chrono::seconds> parse_keep_alive_timeout(std::string_view value) noexcept;

// What may stand in a request we send: a field name (token, RFC 9110 5.6.2); a field value (visible
// ASCII, SP, HTAB and bytes from 0x80, so neither CR, LF nor NUL; RFC 9110 5.5; may be empty); one
// or more of 0x21 to 0x7E, as a session id must be (MCP 2025-11-25, Session Management).
bool is_token(std::string_view name) noexcept;
bool is_field_value(std::string_view value) noexcept;
bool is_visible_ascii(std::string_view value) noexcept;

// A number of digits only; the largest there is if it has more than 64 bits. Nothing for empty text
// or anything else.
std::optional<std::uint64_t> parse_digits(std::string_view text) noexcept;

}  // namespace mcphttp::http
