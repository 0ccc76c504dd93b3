// What a server sends in header lines and error bodies, into every function that reads it. Each
// oracle is a promise of the function's header comment.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "http_fields.hpp"
#include "text.hpp"
#include "url.hpp"

namespace {

namespace http = mcphttp::http;
namespace text = mcphttp::text;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_lines(std::string_view input) {
  if (const auto field = http::parse_header_line(input)) {
    require(http::is_token(field->name));
    const std::string again = std::string(field->name) + ": " + std::string(field->value) + "\r\n";
    const auto reparsed = http::parse_header_line(again);
    require(reparsed && reparsed->name == field->name && reparsed->value == field->value);
    require(!http::parse_status_line(input) && !http::is_folded_line(input));
  }
  const auto status = http::parse_status_line(input);
  require(!status || (*status >= 100 && *status <= 999));
}

void check_values(std::string_view input) {
  require(http::split_list(input).size() <= http::max_list_elements);
  const auto now = std::chrono::system_clock::time_point(std::chrono::hours(24 * 365 * 56));
  if (const auto wait = http::parse_retry_after(input, now)) {
    require(wait->count() >= 0 && *wait <= http::max_retry_after);
  }
  if (const auto timeout = http::parse_keep_alive_timeout(input)) {
    require(timeout->count() >= 0 && *timeout <= std::chrono::hours(24));
  }
  if (const auto length = http::parse_content_length(input)) {
    require(http::parse_content_length(std::to_string(*length)) == length);
  }
  if (const auto type = http::parse_media_type(input)) {
    const auto again = http::parse_media_type(type->essence);
    require(again && again->essence == type->essence && again->charset.empty());
    require(type->charset == http::to_lower(type->charset));
  }
}

std::string quoted(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string serialised(const std::vector<http::Challenge>& challenges) {
  std::string result;
  for (const http::Challenge& challenge : challenges) {
    result += challenge.scheme + " " + challenge.token68;
    for (const auto& [name, value] : challenge.parameters) {
      result.append(", ").append(name).append("=").append(quoted(value));
    }
    result += ", ";
  }
  return result;
}

void check_challenges(std::string_view input) {
  const auto challenges = http::parse_challenges(input);
  require(challenges.size() <= http::max_challenges);
  std::size_t parameters = 0;
  for (const http::Challenge& challenge : challenges) {
    require(http::is_token(challenge.scheme));
    parameters += challenge.parameters.size();
  }
  require(parameters <= http::max_challenge_parameters);
  const std::string once = serialised(challenges);
  require(serialised(http::parse_challenges(once)) == once);
}

void check_urls(std::string_view input) {
  const auto url = http::parse_url(input);
  if (url) {
    require(http::parse_url(http::to_string(*url)) == *url);
    require(http::is_visible_ascii(http::to_string(*url)));
    require(http::origin(*url) == http::to_lower(http::origin(*url)));
  }
  static const http::Url base = *http::parse_url("http://h:81/a/b?c");
  if (const auto location = http::resolve_location(base, input)) {
    const auto target = http::parse_url(*location);
    require(target && http::to_string(*target) == *location);
    const bool names_host = input.substr(0, 2) == "//" || input.find(':') < input.find('/');
    require(names_host || http::origin(*target) == http::origin(base));
  }
}

void check_text(std::string_view input) {
  for (const std::string_view charset : {"utf-8", "us-ascii", "iso-8859-1"}) {
    const auto whole = text::make_diagnostic(input, charset, false);
    require(whole.text.size() <= 4 * input.size() && !whole.truncated);
    require(text::escape_printable(whole.text) == whole.text);
    for (const char c : whole.text) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);

    const auto bounded = text::make_diagnostic(input, charset, true, input.size());
    require(bounded.text.size() <= input.size() && bounded.truncated);
    require(whole.text.compare(0, bounded.text.size(), bounded.text) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check_lines(input);
  check_values(input);
  check_challenges(input);
  check_urls(input);
  check_text(input);
  return 0;
}
