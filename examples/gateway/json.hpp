// JSON as the gateway reads and writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace gateway {

using Json = nlohmann::json;

// Nothing if the text is malformed, or if an object in it has two members of one name: upstream
// might read the other one than the gateway has judged.
std::optional<Json> parse_unambiguous(std::string_view text);

// One line of ASCII, whatever foreign text is in it.
std::string to_line(const Json& json);

}  // namespace gateway
