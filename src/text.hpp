// Text from outside, made fit to be printed: valid UTF-8 on one line, nothing in it that steers a
// terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <mcphttp/error.hpp>

namespace mcphttp::text {

// `text`, read as UTF-8, for one line of a log. LF, CR and TAB become \n, \r and \t; other C0, DEL
// and C1 controls \xNN; line and paragraph separators and the bidirectional controls U+202A to
// U+202E and U+2066 to U+2069 become \u{202E} and the like. Each maximal invalid part becomes one
// U+FFFD (Unicode 3.9, as in WHATWG Encoding). A backslash is left alone: the result is to be read,
// not decoded, and escaping it again changes nothing. At most `max_size` bytes, then "..." if there
// was more.
std::string escape_printable(std::string_view text, std::size_t max_size = std::string_view::npos);

// The beginning of a body as a Diagnostic, escaped as by escape_printable(). `charset` as in
// http::MediaType, lower case: us-ascii, iso-8859-1 or latin1; anything else is read as UTF-8. A
// leading UTF-8 byte-order mark is dropped and means UTF-8 (WHATWG Encoding 6). `truncated` says
// that more bytes followed: a sequence they would have completed is dropped, not replaced. The text
// is at most `max_size` bytes, and never more than four times `bytes`; what does not fit is left
// out, and `truncated` of the result set.
Diagnostic make_diagnostic(std::string_view bytes, std::string_view charset, bool truncated,
                           std::size_t max_size = std::string_view::npos);

}  // namespace mcphttp::text
