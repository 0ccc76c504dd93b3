#include "http_fields.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace mcphttp::http;  // NOLINT(google-build-using-namespace): the unit under test

namespace {

constexpr std::uint64_t max_number = std::numeric_limits<std::uint64_t>::max();

using Number = std::optional<std::uint64_t>;
using Views = std::vector<std::string_view>;

}  // namespace

TEST_CASE("a header line gives name and trimmed value, whatever its line end") {
  struct Case {
    std::string line;
    std::string name;
    std::string value;
  };
  const auto c = GENERATE(values<Case>({
      {"Content-Type: text/html\r\n", "Content-Type", "text/html"},
      {"Content-Type: text/html\n", "Content-Type", "text/html"},
      {"Content-Type:text/html", "Content-Type", "text/html"},
      {"x:\t a \t b \t\r\n", "x", "a \t b"},
      {"x:\r\n", "x", ""},
      {"x: \t\r\n", "x", ""},
      {"Location: http://h:80/a:b\r\n", "Location", "http://h:80/a:b"},
      {"x: \x80\xFF\x01\r\n", "x", "\x80\xFF\x01"},
      {"!#$%&'*+-.^_`|~09azAZ: v", "!#$%&'*+-.^_`|~09azAZ", "v"},
  }));
  const auto field = parse_header_line(c.line);
  REQUIRE(field);
  CHECK(field->name == c.name);
  CHECK(field->value == c.value);
}

TEST_CASE("lines that are no header field are refused") {
  const auto line = GENERATE(values<std::string>({
      "",
      "\r\n",
      "no colon\r\n",
      ": value\r\n",
      "name : value\r\n",
      "name\t: value\r\n",
      " folded: line\r\n",
      "na(me: value\r\n",
      "na\x80me: value\r\n",
      "name: a\rb\r\n",
      "name: a\nb\r\n",
      "name: a\r\r\n",
      std::string("name: a\0b\r\n", 11),
      "HTTP/1.1 200 OK: x\r\n",
  }));
  CHECK_FALSE(parse_header_line(line));
}

TEST_CASE("a line that begins with whitespace is folded") {
  CHECK(is_folded_line(" more\r\n"));
  CHECK(is_folded_line("\tmore\r\n"));
  CHECK_FALSE(is_folded_line("name: value\r\n"));
  CHECK_FALSE(is_folded_line("\r\n"));
  CHECK_FALSE(is_folded_line(""));
}

TEST_CASE("a status line gives its status") {
  struct Case {
    std::string line;
    std::optional<int> status;
  };
  const auto c = GENERATE(values<Case>({
      {"HTTP/1.1 200 OK\r\n", 200},      {"HTTP/1.1 200\r\n", 200},
      {"HTTP/1.1 200 \n", 200},          {"HTTP/1.0 404 Not Found", 404},
      {"HTTP/2 200 \r\n", 200},          {"HTTP/3 103", 103},
      {"HTTP/1.1  200 OK", 200},         {"HTTP/1.1 999 x", 999},
      {"HTTP/1.1 099 x", std::nullopt},  {"HTTP/1.1 20 x", std::nullopt},
      {"HTTP/1.1 2000", std::nullopt},   {"HTTP/1.1 200OK", std::nullopt},
      {"HTTP/1.1\r\n", std::nullopt},    {"HTTP/1. 200", std::nullopt},
      {"HTTP/ 200", std::nullopt},       {"HTTP/x 200", std::nullopt},
      {"http/1.1 200 OK", std::nullopt}, {"ICY 200 OK", std::nullopt},
      {"name: value", std::nullopt},     {"", std::nullopt},
  }));
  INFO(c.line);
  CHECK(parse_status_line(c.line) == c.status);
}

TEST_CASE("names compare without regard to ASCII case only") {
  CHECK(iequals("Content-TYPE", "content-type"));
  CHECK(iequals("", ""));
  CHECK_FALSE(iequals("a", "ab"));
  CHECK_FALSE(iequals("[", "{"));
  CHECK_FALSE(iequals("@", "`"));
  CHECK_FALSE(iequals("\xC4", "\xE4"));
  CHECK(to_lower("AZ[\xC4-az") == "az[\xC4-az");
}

TEST_CASE("a list is split at commas, empty elements dropped") {
  CHECK(split_list("chunked") == Views{"chunked"});
  CHECK(split_list(" gzip ,\tchunked\t") == Views{"gzip", "chunked"});
  CHECK(split_list(",, a,,b , ,") == Views{"a", "b"});
  CHECK(split_list("").empty());
  CHECK(split_list(" , ").empty());
}

TEST_CASE("a list of too many elements keeps all that follows in the last") {
  std::string value = "e";
  for (std::size_t i = 1; i < max_list_elements; ++i) value += ",e";
  CHECK(split_list(value) == Views(max_list_elements, "e"));
  CHECK(split_list(value + ", chunked").size() == max_list_elements);
  CHECK(split_list(value + ", chunked").back() == "e, chunked");
  CHECK(split_list(std::string(100000, ',')).empty());
}

TEST_CASE("Content-Length is digits, or the same number several times") {
  struct Case {
    std::string value;
    Number length;
  };
  const auto c = GENERATE(values<Case>({
      {"0", 0},
      {" 42\t", 42},
      {"042", 42},
      {"5, 5", 5},
      {"5,5 ,5", 5},
      {"18446744073709551615", max_number},
      {"18446744073709551614", max_number - 1},
      {"18446744073709551616", max_number},
      {"99999999999999999999999999999999", max_number},
      {"", std::nullopt},
      {"5, 6", std::nullopt},
      {"5,,5", std::nullopt},
      {"5 5", std::nullopt},
      {"-1", std::nullopt},
      {"+1", std::nullopt},
      {"0x10", std::nullopt},
      {"1e3", std::nullopt},
      {"5;", std::nullopt},
  }));
  INFO(c.value);
  CHECK(parse_content_length(c.value) == c.length);
}

TEST_CASE("Keep-Alive gives its timeout") {
  using std::chrono::seconds;
  struct Case {
    std::string value;
    std::optional<seconds> timeout;
  };
  const auto c = GENERATE(values<Case>({
      {"timeout=5, max=100", seconds(5)},
      {"max=100,TimeOut=5", seconds(5)},
      {"timeout=0", seconds(0)},
      {"timeout=x, timeout=7", seconds(7)},
      {"timeout=99999999999999999999999", seconds(86400)},
      {"max=100", std::nullopt},
      {"timeout", std::nullopt},
      {"timeout=", std::nullopt},
      {"timeout=-5", std::nullopt},
      {"xtimeout=5", std::nullopt},
      {"", std::nullopt},
  }));
  INFO(c.value);
  CHECK(parse_keep_alive_timeout(c.value) == c.timeout);
}

TEST_CASE("what we send is checked byte by byte") {
  const std::string token_marks = "!#$%&'*+-.^_`|~";
  for (int i = 0; i < 256; ++i) {
    INFO(i);
    const std::string one(1, static_cast<char>(i));
    const bool alphanumeric =
        (i >= '0' && i <= '9') || (i >= 'A' && i <= 'Z') || (i >= 'a' && i <= 'z');
    CHECK(is_token(one) ==
          (alphanumeric || (i != 0 && token_marks.find(one) != std::string::npos)));
    CHECK(is_field_value(one) == (i == '\t' || (i >= 0x20 && i != 0x7F)));
    CHECK(is_visible_ascii(one) == (i >= 0x21 && i <= 0x7E));
    CHECK(is_field_value("a" + one + "b") == is_field_value(one));
    CHECK(is_visible_ascii("a" + one + "b") == is_visible_ascii(one));
    CHECK(is_token("a" + one + "b") == is_token(one));
  }
  CHECK_FALSE(is_token(""));
  CHECK(is_field_value(""));
  CHECK_FALSE(is_visible_ascii(""));
}

TEST_CASE("several lengths of a body differ unless they are the same words") {
  const mcphttp::Header two{"Content-Length", "2"};
  const mcphttp::Header also_two{"content-length", "2"};
  const mcphttp::Header five{"CONTENT-LENGTH", "5"};
  const mcphttp::Header other{"X-Length", "7"};
  CHECK_FALSE(lengths_differ({}));
  CHECK_FALSE(lengths_differ({other, two}));
  CHECK_FALSE(lengths_differ({two, other, also_two}));
  CHECK(lengths_differ({two, other, five}));
  CHECK(lengths_differ({two, also_two, five}));
}
