#include "option_checks.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace mcphttp;
using namespace std::chrono_literals;

namespace {

http::Url url_of(const std::string& text) {
  auto url = http::parse_url(text);
  REQUIRE(url);
  return *url;
}

std::optional<Error> check(const TransportOptions& options,
                           const std::string& url = "https://host.example/mcp") {
  return check_options(options, url_of(url));
}

class NoAuthorizer final : public Authorizer {
 public:
  void authorize(const std::string& /*url*/, std::function<void(std::string)> /*done*/) override {}
  void refused(const AuthorizationRefusal& /*refusal*/,
               std::function<void(bool)> /*done*/) override {}
};

}  // namespace

TEST_CASE("the defaults are in order") { CHECK_FALSE(check({})); }

TEST_CASE("headers that the transport sets itself are refused, in any case") {
  for (const std::string name :
       {"Accept", "ACCEPT-ENCODING", "Connection", "content-encoding", "Content-Length",
        "Content-Type", "Expect", "Host", "Last-Event-ID", "Transfer-Encoding", "User-Agent",
        "Upgrade", "MCP-Session-Id", "mcp-protocol-version", "Mcp-Method", "Mcp-Param-X"}) {
    CAPTURE(name);
    const auto error = check_headers({{name, "x"}});
    REQUIRE(error);
    CHECK(error->code == ErrorCode::invalid_argument);
  }
  for (const std::string name : {"X-Trace", "Authorization", "Mc", "McpX", "X-Mcp-Method"}) {
    CAPTURE(name);
    CHECK_FALSE(check_headers({{name, "x"}}));
  }
}

TEST_CASE("a header must be a token and a value that stays in its line") {
  for (const std::string name : {"", "a b", "a:", "a\n", "\xC3\xA4"}) {
    CAPTURE(name);
    CHECK(check_headers({{name, "x"}}));
  }
  for (const std::string& value :
       {std::string("a\r"), std::string("a\nb"), std::string("a\0b", 3)}) {
    CHECK(check_headers({{"X-A", value}}));
  }
  CHECK_FALSE(check_headers({{"X-A", ""}, {"X-B", "a\tb"}, {"X-C", "\xC3\xA4"}}));
}

TEST_CASE("a refusal never shows the value") {
  TransportOptions options;
  options.headers = {{"X-Key", "hush\n"}};
  CHECK(check(options)->detail.find("hush") == std::string::npos);
  options = {};
  options.bearer_token = "hush hush";
  CHECK(check(options)->detail.find("hush") == std::string::npos);
  options = {};
  options.session_id = "hush\n";
  CHECK(check(options)->detail.find("hush") == std::string::npos);
}

TEST_CASE("a negative time is refused, zero is none") {
  using Field = std::optional<Timeouts::Milliseconds> Timeouts::*;
  for (const Field field : {&Timeouts::connect, &Timeouts::headers, &Timeouts::idle,
                            &Timeouts::total, &Timeouts::request, &Timeouts::diagnostic}) {
    Timeouts timeouts;
    timeouts.*field = -1ms;
    CHECK(check_timeouts(timeouts));
    timeouts.*field = 0ms;
    CHECK_FALSE(check_timeouts(timeouts));
  }
}

TEST_CASE("credentials do not cross the network in the open, unless that is allowed") {
  struct Case {
    std::string url;
    bool refused;
  };
  const std::vector<Case> cases = {
      {"https://host.example/", false},    {"http://host.example/", true},
      {"http://192.0.2.1/", true},         {"http://127.0.0.1/", false},
      {"http://localhost:8080/", false},   {"http://[::1]/", false},
      {"http://localhost.example/", true},
  };
  TransportOptions with_token;
  with_token.bearer_token = "abc";
  TransportOptions with_authorizer;
  with_authorizer.authorizer = std::make_shared<NoAuthorizer>();
  for (TransportOptions options : {with_token, with_authorizer}) {
    for (const Case& c : cases) {
      CAPTURE(c.url);
      CHECK(check(options, c.url).has_value() == c.refused);
    }
    options.allow_bearer_over_http = true;
    CHECK_FALSE(check(options, "http://host.example/"));
    options.allow_bearer_over_http = false;
    options.unix_socket_path = "/run/mcp.sock";
    CHECK_FALSE(check(options, "http://host.example/"));
  }
}

TEST_CASE("credentials for this host do not leave it by way of a proxy") {
  TransportOptions options;
  options.bearer_token = "abc";
  for (const std::string proxy :
       {"", "http://127.0.0.1:8080", "localhost", "socks5://127.0.0.1", "http://a:b@[::1]"}) {
    CAPTURE(proxy);
    options.proxy = proxy;
    CHECK_FALSE(check(options, "http://127.0.0.1/"));
  }
  for (const std::string proxy :
       {"http://proxy.example", "proxy.example:80", "socks5h://a:b@proxy.example"}) {
    CAPTURE(proxy);
    options.proxy = proxy;
    CHECK(check(options, "http://127.0.0.1/"));
    CHECK_FALSE(check(options, "https://127.0.0.1/"));
  }
}

TEST_CASE("an Authorization header is a credential like another") {
  TransportOptions options;
  options.headers = {{"authorization", "Basic abc"}};
  CHECK_FALSE(check(options));
  CHECK_FALSE(check(options, "http://127.0.0.1/"));
  CHECK(check(options, "http://host.example/"));
  options.allow_bearer_over_http = true;
  CHECK_FALSE(check(options, "http://host.example/"));
  options.bearer_token = "abc";
  CHECK(check(options)->detail.find("Authorization") != std::string::npos);

  TransportOptions plain;
  SendOptions send;
  CHECK_FALSE(check_send(send, plain, url_of("http://host.example/")));
  send.headers = {{"Authorization", "Basic abc"}};
  CHECK(check_send(send, plain, url_of("http://host.example/")));
  CHECK_FALSE(check_send(send, plain, url_of("https://host.example/")));
  CHECK(check_send(send, options, url_of("https://host.example/")));
}

TEST_CASE("a proxy must be one that libcurl will use, and is never shown") {
  TransportOptions options;
  for (const std::string proxy :
       {"http://user:hush@h:99999999", "ftp://user:hush@h", "http://user:hush@h ost",
        "http://user:hush@[::1", "http://user:hush%0d%0a@h", "http://user:hush%00@h"}) {
    CAPTURE(proxy);
    options.proxy = proxy;
    const auto error = check(options);
    REQUIRE(error);
    CHECK(error->code == ErrorCode::invalid_argument);
    CHECK(error->detail.find("hush") == std::string::npos);
  }
  options.proxy = "http://user:hush@proxy.example:3128";
  CHECK_FALSE(check(options));
}

TEST_CASE("what the environment says of proxies is not known beforehand") {
  TransportOptions options;
  options.proxy_from_environment = true;
  CHECK_FALSE(check(options));
  options.proxy = "http://127.0.0.1:1";
  CHECK(check(options));
  options.proxy.clear();
  options.bearer_token = "abc";
  CHECK_FALSE(check(options, "https://127.0.0.1/"));
  CHECK(check(options, "http://127.0.0.1/"));
  options.allow_bearer_over_http = true;
  CHECK_FALSE(check(options, "http://127.0.0.1/"));
}

TEST_CASE("every other option is held to its rule") {
  struct Case {
    std::string name;
    std::function<void(TransportOptions&)> change;
  };
  const std::vector<Case> bad = {
      {"token with a space", [](TransportOptions& o) { o.bearer_token = "a b"; }},
      {"token of two lines", [](TransportOptions& o) { o.bearer_token = "a\nb"; }},
      {"session id with a space", [](TransportOptions& o) { o.session_id = "a b"; }},
      {"session id too long", [](TransportOptions& o) { o.session_id = std::string(1025, 'x'); }},
      {"revision with a space", [](TransportOptions& o) { o.protocol_version = "a b"; }},
      {"no first delay", [](TransportOptions& o) { o.reconnection.initial_delay = 0ms; }},
      {"negative delay", [](TransportOptions& o) { o.reconnection.initial_delay = -1ms; }},
      {"cap below the first", [](TransportOptions& o) { o.reconnection.max_delay = 999ms; }},
      {"negative attempts", [](TransportOptions& o) { o.reconnection.max_attempts = -1; }},
      {"negative redirects", [](TransportOptions& o) { o.max_redirects = -1; }},
      {"user agent of two lines", [](TransportOptions& o) { o.user_agent = "a\r\nb"; }},
      {"a negative time", [](TransportOptions& o) { o.timeouts.idle = -1ms; }},
      {"a header of ours",
       [](TransportOptions& o) {
         o.headers = {{"Host", "x"}};
       }},
  };
  for (const Case& c : bad) {
    CAPTURE(c.name);
    TransportOptions options;
    c.change(options);
    const auto error = check(options);
    REQUIRE(error);
    CHECK(error->code == ErrorCode::invalid_argument);
    CHECK(error->delivery == Delivery::not_sent);
  }
  TransportOptions good;
  good.session_id = std::string(1024, 'x');
  good.protocol_version = "2025-11-25";
  good.reconnection = {5ms, 5ms, 0};
  good.max_redirects = 0;
  CHECK_FALSE(check(good));
}
