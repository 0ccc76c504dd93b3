// The challenges of WWW-Authenticate (RFC 9110 11.6.1). Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcphttp::http {

struct Challenge {
  std::string scheme;   // lower case
  std::string token68;  // empty unless given instead of parameters
  // In the order sent; names in lower case, values unquoted.
  std::vector<std::pair<std::string, std::string>> parameters;
};

// Bounds for one field value; what comes after is ignored.
inline constexpr std::size_t max_challenges = 16;
inline constexpr std::size_t max_challenge_parameters = 64;  // of all challenges together

// The challenges in a field value, or in several joined by commas. Elements that are neither a
// challenge nor a parameter of the one before are skipped; an unquoted value goes up to whitespace
// or a comma, since servers send URLs so.
std::vector<Challenge> parse_challenges(std::string_view value);

}  // namespace mcphttp::http
