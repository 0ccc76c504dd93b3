#include "url.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "http_fields.hpp"
#include "make_error.hpp"

namespace mcphttp::http {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, UrlDeleter>;

struct PartDeleter {
  void operator()(char* part) const noexcept { curl_free(part); }
};

Error refused(std::string detail) {
  return make_error(ErrorCode::invalid_argument, std::move(detail));
}

Error refused(CURLUcode code) {
  switch (static_cast<int>(code)) {
    case CURLUE_OUT_OF_MEMORY: {
      return make_error(ErrorCode::out_of_memory, "no memory to parse a URL");
    }
    case CURLUE_BAD_PORT_NUMBER:
      return refused("the URL's port is not a number from 1 to 65535");
    case CURLUE_USER_NOT_ALLOWED:
      return refused("the URL contains user info; give credentials as options");
    default:
      return refused(std::string("the URL is malformed: ") + curl_url_strerror(code));
  }
}

// The text after "http://" or "https://", if `text` begins so.
std::optional<std::string_view> after_scheme(std::string_view text) {
  for (const std::string_view prefix :
       {std::string_view("http://"), std::string_view("https://")}) {
    if (iequals(text.substr(0, prefix.size()), prefix)) return text.substr(prefix.size());
  }
  return std::nullopt;
}

// Refuses, before libcurl sees it, what libcurl would guess at or repair. Null if nothing is wrong.
const char* fault_of(std::string_view text) {
  if (!is_visible_ascii(text) || text.find('\\') != std::string_view::npos) {
    return "the URL is empty, or has a character that must be percent-encoded "
           "(space, control, backslash, non-ASCII)";
  }
  const std::optional<std::string_view> rest = after_scheme(text);
  if (!rest) return "the URL does not begin with http:// or https://";
  if (rest->empty() || std::string_view("/?#").find(rest->front()) != std::string_view::npos) {
    return "the URL has no host";
  }
  if (rest->find('#') != std::string_view::npos) return "the URL has a fragment";
  return nullptr;
}

// One part of a parsed URL; empty if it has none.
std::string part(CURLU* handle, CURLUPart which, unsigned flags = 0) {
  char* raw = nullptr;
  if (curl_url_get(handle, which, &raw, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, PartDeleter> owned(raw);
  return raw;
}

// The parts of a URL that libcurl has accepted, unless we do not.
Result<Url> read_parts(CURLU* handle) {
  Url url;
  url.scheme = part(handle, CURLUPART_SCHEME);
  url.host = to_lower(part(handle, CURLUPART_HOST));
  // libcurl decodes percent-encoding in a host name.
  if (!is_visible_ascii(url.host)) {
    return tl::unexpected(refused("the URL is malformed: bad host name"));
  }
  // A zone means something on one host only (WHATWG URL 3.5 refuses it too).
  if (!part(handle, CURLUPART_ZONEID).empty()) {
    return tl::unexpected(refused("the URL's IPv6 address has a zone identifier"));
  }
  const auto port = parse_digits(part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT));
  constexpr std::uint16_t max_port = std::numeric_limits<std::uint16_t>::max();
  if (!port || *port == 0 || *port > max_port) {
    return tl::unexpected(refused(CURLUE_BAD_PORT_NUMBER));
  }
  url.port = static_cast<std::uint16_t>(*port);
  url.path_and_query = part(handle, CURLUPART_PATH);
  const std::string query = part(handle, CURLUPART_QUERY);
  if (!query.empty()) url.path_and_query += "?" + query;
  return url;
}

bool is_proxy_scheme(std::string_view scheme) {
  constexpr std::array schemes{"http", "https", "socks4", "socks4a", "socks5", "socks5h"};
  return std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
}

// libcurl drops a proxy whose user info it cannot decode, and connects without it.
bool is_decodable(CURLU* handle, CURLUPart which) {
  char* raw = nullptr;
  const CURLUcode code = curl_url_get(handle, which, &raw, CURLU_URLDECODE);
  const std::unique_ptr<char, PartDeleter> owned(raw);
  return code == CURLUE_OK || code == CURLUE_NO_USER || code == CURLUE_NO_PASSWORD;
}

// The URL without path and query, the port left out if it is the default.
std::string authority(const Url& url) {
  const bool is_default = url.port == (url.scheme == "https" ? 443 : 80);
  return url.scheme + "://" + url.host + (is_default ? "" : ":" + std::to_string(url.port));
}

// True if `reference` begins with a scheme of its own (RFC 3986 4.1 and 3.1).
bool has_scheme(std::string_view reference) {
  const std::size_t end = reference.find_first_of(":/?");
  return end != std::string_view::npos && reference[end] == ':';
}

// `reference` joined to `base` as in RFC 3986 5.2.2 and 5.2.3, dot segments not yet removed.
std::string merged(const Url& base, std::string_view reference) {
  if (has_scheme(reference)) return std::string(reference);
  if (reference.substr(0, 2) == "//") return base.scheme + ":" + std::string(reference);
  const std::string_view whole = base.path_and_query;
  const std::string_view path = whole.substr(0, whole.find('?'));
  std::string_view kept;  // of the base
  if (reference.empty()) {
    kept = whole;
  } else if (reference.front() == '?') {
    kept = path;
  } else if (reference.front() != '/') {
    kept = path.substr(0, path.rfind('/') + 1);
  }
  return authority(base).append(kept).append(reference);
}

Result<Url> parse_once(std::string_view text) {
  const UrlHandle handle(curl_url());
  if (!handle) return tl::unexpected(refused(CURLUE_OUT_OF_MEMORY));
  const CURLUcode code =
      curl_url_set(handle.get(), CURLUPART_URL, std::string(text).c_str(), CURLU_DISALLOW_USER);
  if (code != CURLUE_OK) return tl::unexpected(refused(code));
  return read_parts(handle.get());
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  const char* const fault = fault_of(text);
  if (fault != nullptr) return tl::unexpected(refused(fault));
  Result<Url> url = parse_once(text);
  if (!url || text.find('%') == std::string_view::npos) return url;
  // libcurl looks for an IPv4 address in a host name before it decodes it: "6%380" comes out as
  // "680", and means 0.0.2.168 when it is read again to be connected to.
  const Result<Url> again = parse_once(to_string(*url));
  if (again && *again == *url) return url;
  return tl::unexpected(refused("the URL is malformed: bad host name"));
}

Result<std::string> parse_proxy_host(std::string_view text) {
  const UrlHandle handle(curl_url());
  if (!handle) return tl::unexpected(refused(CURLUE_OUT_OF_MEMORY));
  const bool is_read = is_visible_ascii(text) &&
                       curl_url_set(handle.get(), CURLUPART_URL, std::string(text).c_str(),
                                    CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME) == CURLUE_OK;
  if (!is_read || !is_proxy_scheme(part(handle.get(), CURLUPART_SCHEME)) ||
      !is_decodable(handle.get(), CURLUPART_USER) ||
      !is_decodable(handle.get(), CURLUPART_PASSWORD)) {
    return tl::unexpected(refused("proxy: not the URL of an HTTP or SOCKS proxy"));
  }
  return to_lower(part(handle.get(), CURLUPART_HOST));
}

Target::Target(Url url) : url_(std::move(url)), text_(to_string(url_)), parsed_(curl_url()) {
  const bool is_parsed =
      parsed_ && curl_url_set(parsed_.get(), CURLUPART_URL, text_.c_str(), 0) == CURLUE_OK;
  if (!is_parsed) throw std::bad_alloc();
}

void Target::Deleter::operator()(Curl_URL* url) const noexcept { curl_url_cleanup(url); }

std::string to_string(const Url& url) { return authority(url) + url.path_and_query; }

std::string origin(const Url& url) {
  return url.scheme + "://" + url.host + ":" + std::to_string(url.port);
}

bool is_loopback_host(std::string_view host) {
  constexpr std::string_view suffix = ".localhost";
  if (iequals(host, "localhost") || host == "::1" || host == "[::1]") return true;
  if (host.size() > suffix.size() && iequals(host.substr(host.size() - suffix.size()), suffix)) {
    return true;
  }
  in_addr address{};
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 24U) == 127;
}

std::optional<std::string> resolve_location(const Url& base, std::string_view location) {
  const Result<Url> url = parse_url(merged(base, location.substr(0, location.find('#'))));
  if (!url) return std::nullopt;
  return to_string(*url);
}

}  // namespace mcphttp::http
