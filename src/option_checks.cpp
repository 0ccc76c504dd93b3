#include "option_checks.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <sys/un.h>

#include <fmt/format.h>

#include "http_fields.hpp"
#include "make_error.hpp"

namespace mcphttp {
namespace {

// Set by the transport itself; a second one from outside would contradict it.
constexpr std::array reserved_headers{
    "Accept",         "Accept-Encoding",   "Connection", "Content-Encoding",
    "Content-Length", "Content-Type",      "Expect",     "Host",
    "Last-Event-ID",  "Transfer-Encoding", "User-Agent", "Upgrade"};

// unix(7); the last byte is NUL.
constexpr std::size_t longest_socket_path = sizeof(sockaddr_un::sun_path) - 1;

bool is_reserved(std::string_view name) {
  if (name.size() >= 4 && http::iequals(name.substr(0, 4), "mcp-")) return true;
  return std::any_of(reserved_headers.begin(), reserved_headers.end(),
                     [name](const char* reserved) { return http::iequals(name, reserved); });
}

// Whoever is on the path of plain http can read a credential and use it.
bool is_in_the_open(const TransportOptions& options, const http::Url& url) {
  if (url.scheme != "http" || !options.unix_socket_path.empty()) return false;
  if (!http::is_loopback_host(url.host) || options.proxy_from_environment) return true;
  if (options.proxy.empty()) return false;
  const auto proxy = http::parse_proxy_host(options.proxy);
  return !proxy || !http::is_loopback_host(*proxy);
}

std::optional<Error> check_proxy(const TransportOptions& options) {
  if (options.proxy.empty()) return std::nullopt;
  if (options.proxy_from_environment)
    return invalid_argument("proxy: given beside proxy_from_environment");
  const auto host = http::parse_proxy_host(options.proxy);
  return host ? std::nullopt : std::optional(host.error());
}

std::optional<Error> check_session(const TransportOptions& options) {
  if (!options.session_id.empty() &&
      (!http::is_visible_ascii(options.session_id) ||
       options.session_id.size() > options.limits.max_event_id_size)) {
    return invalid_argument("session_id: not visible ASCII, or longer than max_event_id_size");
  }
  if (!options.protocol_version.empty() && !http::is_visible_ascii(options.protocol_version)) {
    return invalid_argument("protocol_version: not visible ASCII");
  }
  return std::nullopt;
}

std::optional<Error> check_reconnection(const Reconnection& reconnection) {
  if (reconnection.initial_delay.count() <= 0 ||
      reconnection.max_delay < reconnection.initial_delay) {
    return invalid_argument("reconnection: initial_delay must be positive and max_delay no less");
  }
  if (reconnection.max_attempts < 0)
    return invalid_argument("reconnection: max_attempts is negative");
  return std::nullopt;
}

std::optional<Error> check_credentials(const std::vector<Header>& headers,
                                       const TransportOptions& options, const http::Url& url) {
  const bool has_own = !options.bearer_token.empty() || options.authorizer != nullptr;
  const bool has_header = http::count_fields(headers, "Authorization") != 0;
  if (has_own && has_header)
    return invalid_argument("headers: Authorization is set by bearer_token or authorizer");
  if ((has_own || has_header) && !options.allow_bearer_over_http && is_in_the_open(options, url)) {
    return invalid_argument(
        "bearer_token, authorizer, Authorization: would cross the network over plain http "
        "(allow_bearer_over_http)");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> check_headers(const std::vector<Header>& headers) {
  for (const Header& header : headers) {
    if (!http::is_token(header.name)) return invalid_argument("headers: a name is not a token");
    if (is_reserved(header.name))
      return invalid_argument(fmt::format("headers: {} is set by the transport", header.name));
    if (!http::is_field_value(header.value)) {
      return invalid_argument(
          fmt::format("headers: the value of {} has a forbidden character", header.name));
    }
  }
  return std::nullopt;
}

std::optional<Error> check_timeouts(const Timeouts& timeouts) {
  for (const auto& time : {timeouts.connect, timeouts.headers, timeouts.idle, timeouts.total,
                           timeouts.request, timeouts.diagnostic}) {
    if (time && time->count() < 0) return invalid_argument("timeouts: a time is negative");
  }
  return std::nullopt;
}

std::optional<Error> check_send(const SendOptions& send, const TransportOptions& options,
                                const http::Url& url) {
  if (auto error = check_timeouts(send.timeouts)) return error;
  if (send.headers.empty()) return std::nullopt;
  if (auto error = check_headers(send.headers)) return error;
  return check_credentials(send.headers, options, url);
}

std::optional<Error> check_options(const TransportOptions& options, const http::Url& url) {
  if (auto error = check_headers(options.headers)) return error;
  if (auto error = check_timeouts(options.timeouts)) return error;
  if (!options.bearer_token.empty() && !http::is_visible_ascii(options.bearer_token))
    return invalid_argument("bearer_token: not visible ASCII");
  if (auto error = check_proxy(options)) return error;
  if (auto error = check_credentials(options.headers, options, url)) return error;
  if (auto error = check_session(options)) return error;
  if (auto error = check_reconnection(options.reconnection)) return error;
  if (options.max_redirects < 0) return invalid_argument("max_redirects: negative");
  if (!http::is_field_value(options.user_agent))
    return invalid_argument("user_agent: has a forbidden character");
  if (options.unix_socket_path.size() > longest_socket_path) {
    return invalid_argument(
        fmt::format("unix_socket_path: longer than {} bytes", longest_socket_path));
  }
  return std::nullopt;
}

}  // namespace mcphttp
