#include "media_type.hpp"

#include "field_scanner.hpp"
#include "http_fields.hpp"

namespace mcphttp::http {
namespace {

// The value of a charset parameter, lower case, if one stands here and is well-formed up to the
// next semicolon.
std::string charset_parameter(FieldScanner& scanner) {
  scanner.skip_ows();
  if (!iequals(scanner.token(), "charset") || !scanner.consume('=')) return {};
  const std::optional<std::string> quoted = scanner.quoted_string();
  const std::string charset = to_lower(quoted ? *quoted : std::string(scanner.token()));
  scanner.skip_ows();
  return scanner.at_end() || scanner.sees(';') ? charset : std::string();
}

}  // namespace

std::optional<MediaType> parse_media_type(std::string_view value) {
  FieldScanner scanner(trim_ows(value));
  const std::string_view type = scanner.token();
  if (type.empty() || !scanner.consume('/')) return std::nullopt;
  const std::string_view subtype = scanner.token();
  scanner.skip_ows();
  if (subtype.empty() || !(scanner.at_end() || scanner.sees(';'))) return std::nullopt;

  // The two stand side by side.
  MediaType result{to_lower({type.data(), type.size() + 1 + subtype.size()}), {}};
  while (result.charset.empty() && scanner.consume(';')) {
    result.charset = charset_parameter(scanner);
    scanner.skip_to(';');
  }
  return result;
}

}  // namespace mcphttp::http
