// Endpoint URLs and redirect targets. Parsed by libcurl's URL API, so that what is checked here is
// what a transfer will connect to. No I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <mcphttp/error.hpp>

struct Curl_URL;  // CURLU

namespace mcphttp::http {

// An absolute http or https URL without user info and fragment. Only parse_url() makes one worth
// trusting.
struct Url {
  std::string scheme;  // "http" or "https"
  // Lower case; an IPv6 literal in brackets, an IPv4 address in dotted decimal.
  std::string host;
  std::uint16_t port = 0;  // the scheme's default if none was given
  // Begins with "/"; dot segments removed, percent-encoding as given.
  std::string path_and_query;

  friend bool operator==(const Url&, const Url&) = default;
};

// The URL in `text`. Fails with invalid_argument, in words that do not repeat `text`: if the scheme
// is missing or another one; for user info, a fragment, an empty host, an IPv6 zone or a port
// outside 1 to 65535; for any byte that is not visible ASCII (RFC 3986 section 2), and for a
// backslash, which parsers disagree about. Fails with out_of_memory if libcurl has none.
Result<Url> parse_url(std::string_view text);

// Where requests go: a URL, and what libcurl makes of it, which would otherwise be done for each
// transfer. Immutable: any thread.
class Target {
 public:
  // `url` is from parse_url(). Throws std::bad_alloc.
  explicit Target(Url url);

  const Url& url() const noexcept { return url_; }
  const std::string& text() const noexcept { return text_; }
  // For CURLOPT_CURLU; libcurl only reads it. Lives as long as this.
  Curl_URL* parsed() const noexcept { return parsed_.get(); }

 private:
  struct Deleter {
    void operator()(Curl_URL* url) const noexcept;
  };

  const Url url_;
  const std::string text_;
  const std::unique_ptr<Curl_URL, Deleter> parsed_;
};

// The host of a proxy as libcurl will read it, as in Url. Fails with invalid_argument, in words
// that do not repeat `text` (it may hold a password), where libcurl would refuse it, or connect
// directly.
Result<std::string> parse_proxy_host(std::string_view text);

// The URL as text, to be given to libcurl; the port only if it is not the default.
std::string to_string(const Url& url);

// scheme://host:port (RFC 6454 section 4), the port always present: equal text means same origin.
std::string origin(const Url& url);

// True for localhost, names below it (RFC 6761 6.3), 127.0.0.0/8 in dotted decimal, and ::1 with or
// without brackets. `host` as in Url, in any case.
bool is_loopback_host(std::string_view host);

// The absolute URL that a Location value means where `base` was requested (RFC 3986 section 5),
// without fragment. Nothing if parse_url() would refuse it.
std::optional<std::string> resolve_location(const Url& base, std::string_view location);

}  // namespace mcphttp::http
