// Base64 (RFC 4648 section 4). Pure.
#pragma once

#include <string>
#include <string_view>

namespace mcphttp {

// With padding, without line breaks.
std::string encode_base64(std::string_view bytes);

}  // namespace mcphttp
