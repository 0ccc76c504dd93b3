// A cursor over one field value, for the grammars of RFC 9110 section 5.6. Views point into the
// scanned text.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace mcphttp::http {

inline constexpr auto token_chars = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}();

// tchar of RFC 9110 5.6.2.
constexpr bool is_token_char(char c) noexcept { return token_chars[static_cast<unsigned char>(c)]; }

// True for SP and HTAB, the only optional whitespace (RFC 9110 5.6.3).
constexpr bool is_ows(char c) noexcept { return c == ' ' || c == '\t'; }

// `text` without optional whitespace at both ends.
std::string_view trim_ows(std::string_view text) noexcept;

// Never moves beyond the end; every member is safe there.
class FieldScanner {
 public:
  explicit FieldScanner(std::string_view text) noexcept : rest_(text) {}

  bool at_end() const noexcept { return rest_.empty(); }
  // What has not been consumed.
  std::string_view rest() const noexcept { return rest_; }
  // True if the next character is `c`.
  bool sees(char c) const noexcept { return !rest_.empty() && rest_.front() == c; }

  void skip_ows() noexcept;
  // Consumes `c` if it is next.
  bool consume(char c) noexcept;
  // Consumes the longest run of characters that `accept` takes; empty if the next one is refused.
  template <class Accept>
  std::string_view take_while(Accept accept) noexcept {
    std::size_t size = 0;
    while (size < rest_.size() && accept(rest_[size])) ++size;
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view token() noexcept;
  // Consumes a quoted-string and returns it without quotes and escapes (RFC 9110 5.6.4). Nothing is
  // consumed, and nothing returned, if none begins here or it is not closed.
  std::optional<std::string> quoted_string();
  // Consumes up to the next `delimiter` outside quoted strings, or to the end. An unclosed quoted
  // string reaches to the end.
  void skip_to(char delimiter);

 private:
  std::string_view rest_;
};

}  // namespace mcphttp::http
