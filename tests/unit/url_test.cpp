#include "url.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace mcphttp::http;  // NOLINT(google-build-using-namespace): the unit under test
using mcphttp::ErrorCode;
using mcphttp::Result;

namespace {

Url parsed(const std::string& text) {
  const Result<Url> url = parse_url(text);
  INFO(text);
  REQUIRE(url);
  return *url;
}

}  // namespace

TEST_CASE("a URL is taken apart and put together again") {
  struct Case {
    std::string text;
    Url url;
    std::string again;
  };
  const auto c = GENERATE(values<Case>({
      {"http://h", {"http", "h", 80, "/"}, "http://h/"},
      {"https://Tools.Example/mcp",
       {"https", "tools.example", 443, "/mcp"},
       "https://tools.example/mcp"},
      {"HTTP://h:8080/A?b=C&d", {"http", "h", 8080, "/A?b=C&d"}, "http://h:8080/A?b=C&d"},
      {"https://h:443/", {"https", "h", 443, "/"}, "https://h/"},
      {"https://h:80/", {"https", "h", 80, "/"}, "https://h:80/"},
      {"http://h?x=/y", {"http", "h", 80, "/?x=/y"}, "http://h/?x=/y"},
      {"http://h:/", {"http", "h", 80, "/"}, "http://h/"},
      {"http://h/a/../b/./c?d/../e", {"http", "h", 80, "/b/c?d/../e"}, "http://h/b/c?d/../e"},
      {"http://h/%2F%20~", {"http", "h", 80, "/%2F%20~"}, "http://h/%2F%20~"},
      {"http://h/a@b:c", {"http", "h", 80, "/a@b:c"}, "http://h/a@b:c"},
      {"http://127.0.0.1:65535/", {"http", "127.0.0.1", 65535, "/"}, "http://127.0.0.1:65535/"},
      {"http://[::1]:81/x", {"http", "[::1]", 81, "/x"}, "http://[::1]:81/x"},
      {"http://[FE80::1]/", {"http", "[fe80::1]", 80, "/"}, "http://[fe80::1]/"},
      {"http://a_b.x-y./", {"http", "a_b.x-y.", 80, "/"}, "http://a_b.x-y./"},
      {"http://%6cocalhost/", {"http", "localhost", 80, "/"}, "http://localhost/"},
  }));
  const Url url = parsed(c.text);
  CHECK(url.scheme == c.url.scheme);
  CHECK(url.host == c.url.host);
  CHECK(url.port == c.url.port);
  CHECK(url.path_and_query == c.url.path_and_query);
  CHECK(to_string(url) == c.again);
  CHECK(parsed(c.again) == url);
  CHECK(Target(url).text() == c.again);
  CHECK(Target(url).parsed() != nullptr);
}

TEST_CASE("an unfit URL is refused with the reason, which does not repeat it") {
  struct Case {
    std::string text;
    std::string reason;
  };
  const auto c = GENERATE(values<Case>({
      {"", "empty"},
      {"secret", "http:// or https://"},
      {"secret.example/mcp", "http:// or https://"},
      {"//secret/mcp", "http:// or https://"},
      {"http:/secret", "http:// or https://"},
      {"http:secret", "http:// or https://"},
      {"ftp://secret/", "http:// or https://"},
      {"httpss://secret/", "http:// or https://"},
      {"file:///secret", "http:// or https://"},
      {"http://", "no host"},
      {"http:///secret", "no host"},
      {"http://?secret", "no host"},
      {"http://:80/secret", "malformed"},
      {"http://secret@h/", "user info"},
      {"http://user:secret@h/", "user info"},
      {"http://@h/secret", "user info"},
      {"http://h/#secret", "fragment"},
      {"http://h#", "fragment"},
      {"http://h:0/secret", "port"},
      {"http://h:65536/secret", "port"},
      {"http://h:4294967376/secret", "port"},
      {"http://h:8a/secret", "port"},
      {"http://h:-1/secret", "port"},
      {"http://h:80:80/secret", "port"},
      {"http://h /secret", "percent-encoded"},
      {" http://h/secret", "percent-encoded"},
      {"http://h/secret\r\nX: y", "percent-encoded"},
      {"http://h/secret\x7F", "percent-encoded"},
      {"http://h/secret\xC3\xBC", "percent-encoded"},
      {"http://h\\@secret/", "percent-encoded"},
      {"http://h/\\secret", "percent-encoded"},
      {std::string("http://h\0.secret/", 17), "percent-encoded"},
      {"http://h%00/secret", "malformed"},
      {"http://h%7f/secret", "malformed"},
      {"http://h%c3%bc/secret", "malformed"},
      {"http://a%2fb/secret", "malformed"},
      {"http://6%380/secret", "malformed"},
      {"http://0x7f%2e1/secret", "malformed"},
      {"http://[fe80::1%25secret]/", "zone"},
      {"http://[fe80::1%secret]/", "zone"},
      {"http://[::1/secret", "malformed"},
      {"http://[secret]/", "malformed"},
      {"http://a<b/secret", "malformed"},
  }));
  INFO(c.text);
  const Result<Url> url = parse_url(c.text);
  REQUIRE_FALSE(url);
  CHECK(url.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(url.error().detail, Catch::Contains(c.reason));
  CHECK_THAT(url.error().detail, !Catch::Contains("secret"));
}

TEST_CASE("an origin is scheme, host and port in one canonical form") {
  CHECK(origin(parsed("http://h/a?b")) == "http://h:80");
  CHECK(origin(parsed("HTTP://H:80")) == "http://h:80");
  CHECK(origin(parsed("https://h")) == "https://h:443");
  CHECK(origin(parsed("https://h:8443/x")) == "https://h:8443");
  CHECK(origin(parsed("http://[0:0:0:0:0:0:0:1]/")) == "http://[::1]:80");
  CHECK(origin(parsed("http://2130706433/")) == "http://127.0.0.1:80");
}

TEST_CASE("only names and addresses of this machine are loopback hosts") {
  const std::string yes = GENERATE("localhost", "LocalHost", "a.localhost", "a.b.LOCALHOST",
                                   "127.0.0.1", "127.255.255.254", "::1", "[::1]");
  CHECK(is_loopback_host(yes));
  const std::string no =
      GENERATE("", "localhost.example", "xlocalhost", ".localhost", "example", "128.0.0.1",
               "127.0.0.1.example", "127.example", "127.1", "1127.0.0.1", "0.0.0.0", "::", "[::2]",
               "[::1", "[fe80::1%25eth0]", "[::ffff:127.0.0.1]", "10.127.0.0");
  INFO(no);
  CHECK_FALSE(is_loopback_host(no));
}

TEST_CASE("a location is resolved as RFC 3986 section 5.4 shows") {
  struct Case {
    std::string location;
    std::string expected;
  };
  const auto c = GENERATE(values<Case>({
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {"g?y#s", "http://a/b/c/g?y"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"g#s/../x", "http://a/b/c/g"},
  }));
  INFO(c.location);
  CHECK(resolve_location(parsed("http://a/b/c/d;p?q"), c.location) == c.expected);
}

TEST_CASE("a location keeps or replaces scheme, host and port of its base") {
  const Url base = parsed("https://h:8443/mcp?to=/x/y");
  CHECK(resolve_location(base, "/mcp/") == "https://h:8443/mcp/");
  CHECK(resolve_location(base, "mcp/") == "https://h:8443/mcp/");
  CHECK(resolve_location(base, "a/b:c") == "https://h:8443/a/b:c");
  CHECK(resolve_location(base, "//o/x") == "https://o/x");
  CHECK(resolve_location(base, "//o:1/../x") == "https://o:1/x");
  CHECK(resolve_location(base, "HTTP://O/x/../y?z") == "http://o/y?z");
  CHECK(resolve_location(base, "http://h:8443/") == "http://h:8443/");
  CHECK(resolve_location(parsed("http://[::1]:9/a"), "b") == "http://[::1]:9/b");
}

TEST_CASE("a location that is malformed or no web address is refused") {
  const Url base = parsed("http://h/mcp");
  const auto location = GENERATE(values<std::string>({
      "ftp://h/",
      "javascript:alert(1)",
      "a:b",
      "http:g",
      "http:///x",
      "///x",
      "//",
      "//user@h/",
      "http://user:x@h/",
      "http://h:0/",
      "/a b",
      "/a\r\nX: y",
      "/\xC3\xBC",
      "/\\evil",
      "\\\\evil\\x",
      "http://h\\@evil/",
  }));
  INFO(location);
  CHECK_FALSE(resolve_location(base, location));
}
