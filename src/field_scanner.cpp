#include "field_scanner.hpp"

#include <algorithm>

namespace mcphttp::http {
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

std::string_view FieldScanner::token() noexcept {
  return take_while([](char c) { return is_token_char(c); });
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
