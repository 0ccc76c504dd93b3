#include "field_scanner.hpp"

#include <algorithm>
#include <array>

namespace mcphttp::http {
namespace {

constexpr auto token_chars = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}();

}  // namespace

bool is_token_char(char c) noexcept { return token_chars[static_cast<unsigned char>(c)]; }

std::string_view trim_ows(std::string_view text) noexcept {
  while (!text.empty() && is_ows(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ows(text.back())) text.remove_suffix(1);
  return text;
}

void FieldScanner::skip_ows() noexcept {
  while (!rest_.empty() && is_ows(rest_.front())) rest_.remove_prefix(1);
}

bool FieldScanner::consume(char c) noexcept {
  if (!sees(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

std::string_view FieldScanner::take_while(bool (*accept)(char)) noexcept {
  const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), accept);
  const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  rest_.remove_prefix(taken.size());
  return taken;
}

std::optional<std::string> FieldScanner::quoted_string() {
  if (!sees('"')) return std::nullopt;
  std::string value;
  for (std::size_t i = 1; i < rest_.size(); ++i) {
    if (rest_[i] == '"') {
      rest_.remove_prefix(i + 1);
      return value;
    }
    const bool escaped = rest_[i] == '\\' && i + 1 < rest_.size();
    value += rest_[escaped ? ++i : i];
  }
  return std::nullopt;
}

void FieldScanner::skip_to(char delimiter) {
  while (!rest_.empty() && !sees(delimiter)) {
    if (!sees('"')) {
      rest_.remove_prefix(1);
    } else if (!quoted_string()) {
      rest_ = {};
    }
  }
}

}  // namespace mcphttp::http
