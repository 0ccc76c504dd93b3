// Content-Type (RFC 9110 8.3.1). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mcphttp::http {

struct MediaType {
  std::string essence;  // "type/subtype", lower case
  std::string charset;  // lower case, without quotes; empty if not given
};

// The media type of a Content-Type value; nothing if it is not one. Parameters other than charset,
// and malformed ones, are ignored; of several charsets the first counts.
std::optional<MediaType> parse_media_type(std::string_view value);

}  // namespace mcphttp::http
