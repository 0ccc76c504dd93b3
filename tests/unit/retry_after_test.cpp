#include "retry_after.hpp"

#include <catch2/catch.hpp>

#include <string>

using mcphttp::http::max_retry_after;
using mcphttp::http::parse_retry_after;
using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

namespace {

// Sun, 06 Nov 1994 08:49:37 GMT.
constexpr std::chrono::system_clock::time_point example{std::chrono::seconds(784111777)};

// The instant that `text` names, as a wait that begins 100 s before the example.
std::optional<Milliseconds> wait(const std::string& text) {
  return parse_retry_after(text, example - 100s);
}

}  // namespace

TEST_CASE("a number of seconds is a wait of its own") {
  CHECK(parse_retry_after("2", example) == 2s);
  CHECK(parse_retry_after(" 120\t", example) == 120s);
  CHECK(parse_retry_after("0", example) == 0s);
  CHECK(parse_retry_after("007", example) == 7s);
}

TEST_CASE("the three forms of a date name the same instant") {
  CHECK(wait("Sun, 06 Nov 1994 08:49:37 GMT") == 100s);
  CHECK(wait("Sunday, 06-Nov-94 08:49:37 GMT") == 100s);
  CHECK(wait("Sun Nov  6 08:49:37 1994") == 100s);
  CHECK(wait("Wed Nov 16 08:49:37 1994") == 100s + 240h);
  CHECK(wait(" Sun, 06 Nov 1994 08:49:37 GMT ") == 100s);
}

TEST_CASE("a date is measured in milliseconds from now") {
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", example - 1500ms) == 1500ms);
}

TEST_CASE("dates are counted across months, leap days and leap seconds") {
  CHECK(wait("Wed, 30 Nov 1994 08:49:37 GMT") == 100s + 24 * 24h);
  CHECK(parse_retry_after("Fri, 01 Mar 1996 00:00:00 GMT",
                          std::chrono::sys_days(std::chrono::year(1996) / 2 / 28)) == 48h);
  CHECK(parse_retry_after("Thu, 31 Dec 1998 23:59:60 GMT",
                          std::chrono::sys_days(std::chrono::year(1998) / 12 / 31)) == 24h);
}

TEST_CASE("a date that has passed is no wait") {
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", example) == 0s);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", example + 1h) == 0s);
  CHECK(parse_retry_after("Mon, 01 Jan 0001 00:00:00 GMT", example) == 0s);
}

TEST_CASE("a two-digit year is at most 50 years ahead") {
  using std::chrono::sys_days;
  using std::chrono::year;
  const auto now = sys_days(year(2026) / 7 / 28);
  CHECK(parse_retry_after("Wednesday, 29-Jul-26 00:00:00 GMT", now) == 24h);
  CHECK(parse_retry_after("Monday, 01-Jan-76 00:00:00 GMT", now) == max_retry_after);
  CHECK(parse_retry_after("Saturday, 01-Jan-77 00:00:00 GMT", now) == 0s);
  CHECK(parse_retry_after("Saturday, 01-Jan-00 00:00:00 GMT", now) == 0s);
  CHECK(parse_retry_after("Friday, 01-Jan-00 00:00:00 GMT", sys_days(year(2099) / 12 / 31)) == 24h);
}

TEST_CASE("no wait is longer than a year") {
  CHECK(parse_retry_after("31536000", example) == max_retry_after);
  CHECK(parse_retry_after("31536001", example) == max_retry_after);
  CHECK(parse_retry_after("18446744073709551615", example) == max_retry_after);
  CHECK(parse_retry_after(std::string(1000, '9'), example) == max_retry_after);
  CHECK(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", example) == max_retry_after);
}

TEST_CASE("anything else is no wait at all") {
  const auto value = GENERATE(values<std::string>({
      "",
      "-1",
      "+1",
      "1.5",
      "2s",
      "soon",
      "Sun, 06 Nov 1994 08:49:37",
      "Sun, 06 Nov 1994 08:49:37 GMT+1",
      "Sun, 06 Nov 1994 08:49:37 UTC",
      "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun,06 Nov 1994 08:49:37 GMT",
      "Sun, 06 nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 94 08:49:37 GMT",
      "Sunday, 06-Nov-1994 08:49:37 GMT",
      "Sunday, 06-Nov 94 08:49:37 GMT",
      "Sun, 31 Feb 1994 08:49:37 GMT",
      "Sun, 00 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT",
      "Sun, 06 Nov 1994 08:60:00 GMT",
      "Sun, 06 Nov 1994 08:49:61 GMT",
      "Sun, 06 Nov 1994 8:49:37 GMT",
      "Sun Nov 6 08:49:37 1994",
      "Sun Nov  6 08:49:37 1994 ET",
      "Sun Nov  6 08:49:37",
      "Su",
      ",",
  }));
  INFO(value);
  CHECK_FALSE(wait(value));
}

TEST_CASE("every beginning of a date is refused") {
  for (const std::string whole : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                  "Sun Nov  6 08:49:37 1994"}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      INFO(whole.substr(0, size));
      CHECK_FALSE(wait(whole.substr(0, size)));
    }
  }
}
