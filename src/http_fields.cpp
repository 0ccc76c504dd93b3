#include "http_fields.hpp"

#include <algorithm>
#include <limits>

#include "field_scanner.hpp"

namespace mcphttp::http {
namespace {

constexpr std::uint64_t max_keep_alive_seconds = std::uint64_t{24} * 60 * 60;

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Anywhere in a received field (RFC 9110 5.5).
constexpr auto is_forbidden = [](char c) noexcept { return c == '\r' || c == '\n' || c == '\0'; };

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::string_view take_digits(FieldScanner& scanner) noexcept {
  return scanner.take_while([](char c) { return is_digit(c); });
}

bool is_visible(char c) noexcept { return c >= 0x21 && c <= 0x7E; }

bool is_field_char(char c) noexcept {
  return is_ows(c) || is_visible(c) || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view without_line_end(std::string_view line) noexcept {
  if (line.empty() || line.back() != '\n') return line;
  line.remove_suffix(1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// Cuts the text before the first comma off `rest`, and returns it without optional whitespace.
std::string_view take_element(std::string_view& rest) noexcept {
  const std::size_t comma = std::min(rest.find(','), rest.size());
  const std::string_view element = trim_ows(rest.substr(0, comma));
  rest.remove_prefix(std::min(comma + 1, rest.size()));
  return element;
}

}  // namespace

std::optional<HeaderField> parse_header_line(std::string_view line) noexcept {
  line = without_line_end(line);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
  const std::string_view value = line.substr(colon + 1);
  if (std::any_of(value.begin(), value.end(), is_forbidden)) return std::nullopt;
  return HeaderField{line.substr(0, colon), trim_ows(value)};
}

bool is_folded_line(std::string_view line) noexcept {
  return !line.empty() && is_ows(line.front());
}

std::optional<int> parse_status_line(std::string_view line) noexcept {
  constexpr std::string_view name = "HTTP/";
  if (line.substr(0, name.size()) != name) return std::nullopt;
  FieldScanner scanner(without_line_end(line.substr(name.size())));
  if (take_digits(scanner).empty()) return std::nullopt;
  if (scanner.consume('.') && take_digits(scanner).empty()) return std::nullopt;
  if (!scanner.consume(' ')) return std::nullopt;
  scanner.skip_ows();
  const std::string_view digits = take_digits(scanner);
  const bool ends = scanner.at_end() || scanner.sees(' ');
  if (digits.size() != 3 || digits.front() == '0' || !ends) return std::nullopt;
  return (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
}

bool iequals(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  return a == b || std::equal(a.begin(), a.end(), b.begin(),
                              [](char x, char y) { return lower(x) == lower(y); });
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::vector<std::string_view> split_list(std::string_view value) {
  std::vector<std::string_view> elements;
  while (!value.empty() && elements.size() + 1 < max_list_elements) {
    const std::string_view element = take_element(value);
    if (!element.empty()) elements.push_back(element);
  }
  if (value = trim_ows(value); !value.empty()) elements.push_back(value);
  return elements;
}

std::optional<std::uint64_t> parse_content_length(std::string_view value) noexcept {
  const std::optional<std::uint64_t> length = parse_digits(take_element(value));
  while (length && !value.empty()) {
    if (parse_digits(take_element(value)) != length) return std::nullopt;
  }
  return length;
}

std::size_t count_fields(const std::vector<Header>& headers, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(),
                    [name](const Header& header) { return iequals(header.name, name); }));
}

bool lengths_differ(const std::vector<Header>& headers) {
  const std::string* first = nullptr;
  for (const Header& header : headers) {
    if (!iequals(header.name, "Content-Length")) continue;
    if (first == nullptr) first = &header.value;
    if (header.value != *first) return true;
  }
  return false;
}

std::optional<std::chrono::seconds> parse_keep_alive_timeout(std::string_view value) noexcept {
  while (!value.empty()) {
    FieldScanner element(take_element(value));
    if (!iequals(element.token(), "timeout") || !element.consume('=')) continue;
    if (const auto seconds = parse_digits(element.rest())) {
      return std::chrono::seconds(std::min(*seconds, max_keep_alive_seconds));
    }
  }
  return std::nullopt;
}

bool is_token(std::string_view name) noexcept {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_token_char(c); });
}

bool is_field_value(std::string_view value) noexcept {
  return std::all_of(value.begin(), value.end(), is_field_char);
}

bool is_visible_ascii(std::string_view value) noexcept {
  return !value.empty() && std::all_of(value.begin(), value.end(), is_visible);
}

std::optional<std::uint64_t> parse_digits(std::string_view text) noexcept {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  for (const char c : text) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number > (max - digit) / 10) return max;
    number = number * 10 + digit;
  }
  return number;
}

}  // namespace mcphttp::http
