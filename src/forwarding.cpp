#include "forwarding.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "http_fields.hpp"
#include "make_error.hpp"

namespace mcphttp {
namespace {

// RFC 9110 7.6.1, 11.7 and 6.6.2: a proxy's credentials are meant for the next hop, and trailers
// are not passed on.
constexpr std::array hop_fields{"Connection",
                                "Keep-Alive",
                                "Proxy-Authenticate",
                                "Proxy-Authentication-Info",
                                "Proxy-Authorization",
                                "Proxy-Connection",
                                "TE",
                                "Trailer",
                                "Transfer-Encoding",
                                "Upgrade"};

// Said anew by whoever sends the next message.
constexpr std::array sender_fields{"Content-Length", "Expect", "Host"};

template <class Names>
bool is_among(std::string_view name, const Names& names) {
  return std::any_of(names.begin(), names.end(),
                     [name](const auto& other) { return http::iequals(name, other); });
}

std::vector<std::string> named_by_connection(const std::vector<Header>& headers) {
  std::vector<std::string> names;
  for (const Header& header : headers) {
    if (!http::iequals(header.name, "Connection")) continue;
    for (const std::string_view name : http::split_list(header.value)) names.emplace_back(name);
  }
  return names;
}

void drop_hop_fields(std::vector<Header>& headers) {
  const std::vector<std::string> named = named_by_connection(headers);
  std::erase_if(headers, [&named](const Header& header) {
    return is_among(header.name, hop_fields) || is_among(header.name, named);
  });
}

}  // namespace

std::string header_line(std::string_view name, std::string_view value) {
  if (value.empty()) return fmt::format("{};", name);
  return fmt::format("{}: {}", name, value);
}

bool is_line_of(std::string_view name, std::string_view line) {
  return line.size() > name.size() && http::iequals(line.substr(0, name.size()), name) &&
         (line[name.size()] == ':' || line[name.size()] == ';');
}

std::optional<Error> check_forwarded(const ForwardRequest& request) {
  if (!http::is_token(request.method)) return invalid_argument("method: not a token");
  if (request.method == "CONNECT") return invalid_argument("method: CONNECT asks for a tunnel");
  if (request.method == "HEAD" && !request.body.empty())
    return invalid_argument("body: a HEAD has none");
  for (const Header& header : request.headers) {
    if (!http::is_token(header.name)) return invalid_argument("headers: a name is not a token");
    if (!http::is_field_value(header.value)) {
      return invalid_argument(
          fmt::format("headers: the value of {} has a forbidden character", header.name));
    }
  }
  return std::nullopt;
}

std::vector<std::string> forwarded_header_lines(const ForwardRequest& request,
                                                const TransportOptions& options) {
  std::vector<Header> headers = request.headers;
  drop_hop_fields(headers);
  const bool has_credentials = !options.bearer_token.empty() || options.authorizer != nullptr;
  std::erase_if(headers, [&](const Header& header) {
    return is_among(header.name, sender_fields) ||
           http::count_fields(options.headers, header.name) != 0 ||
           (has_credentials && http::iequals(header.name, "Authorization"));
  });
  headers.insert(headers.end(), options.headers.begin(), options.headers.end());
  std::vector<std::string> lines;
  // A line that is only a name keeps libcurl from adding a field of its own.
  for (const char* added : {"Accept", "Content-Type", "Expect"}) {
    if (http::count_fields(headers, added) == 0) lines.push_back(std::string(added) + ":");
  }
  for (const Header& header : headers) lines.push_back(header_line(header.name, header.value));
  if (!options.bearer_token.empty() && options.authorizer == nullptr) {
    lines.push_back("Authorization: Bearer " + options.bearer_token);
  }
  return lines;
}

void drop_response_hop_fields(std::vector<Header>& headers) {
  const bool overridden = http::count_fields(headers, "Transfer-Encoding") != 0;
  drop_hop_fields(headers);
  if (!overridden) return;
  std::erase_if(headers,
                [](const Header& header) { return http::iequals(header.name, "Content-Length"); });
}

}  // namespace mcphttp
