#include "media_type.hpp"

#include <catch2/catch.hpp>

#include <string>

using mcphttp::http::parse_media_type;

TEST_CASE("a media type gives essence and charset in lower case") {
  struct Case {
    std::string value;
    std::string essence;
    std::string charset;
  };
  const auto c = GENERATE(values<Case>({
      {"application/json", "application/json", ""},
      {"Application/JSON; Charset=\"UTF-8\"", "application/json", "utf-8"},
      {"TEXT/Event-Stream;charset=utf-8", "text/event-stream", "utf-8"},
      {" text/html \t; \t charset=ISO-8859-1 ", "text/html", "iso-8859-1"},
      {"text/html; version=1; charset=utf-8; x=y", "text/html", "utf-8"},
      {"text/html; title=\"a; charset=x\"; charset=utf-8", "text/html", "utf-8"},
      {"text/html; charset=utf-8; charset=latin1", "text/html", "utf-8"},
      {"text/html; charset=\"ut\\f-8\"", "text/html", "utf-8"},
      {"application/vnd.api+json", "application/vnd.api+json", ""},
      {"text/html;", "text/html", ""},
      {"text/html;;; ;charset=utf-8", "text/html", "utf-8"},
  }));
  INFO(c.value);
  const auto type = parse_media_type(c.value);
  REQUIRE(type);
  CHECK(type->essence == c.essence);
  CHECK(type->charset == c.charset);
}

TEST_CASE("malformed parameters are ignored") {
  const auto value = GENERATE(values<std::string>({
      "text/html; charset",
      "text/html; charset=",
      "text/html; charset =x",
      "text/html; charset= x",
      "text/html; charset=\"unclosed",
      "text/html; charset=a b",
      "text/html; charset=\"a\"b",
      "text/html; =x",
      "text/html; \"charset=x\"",
      "text/html; xcharset=x",
  }));
  INFO(value);
  const auto type = parse_media_type(value);
  REQUIRE(type);
  CHECK(type->essence == "text/html");
  CHECK(type->charset.empty());
  if (value.find("unclosed") == std::string::npos) {
    CHECK(parse_media_type(value + "; charset=utf-8")->charset == "utf-8");
  }
}

TEST_CASE("what is no media type is refused") {
  const auto value = GENERATE(values<std::string>({
      "",
      " ",
      "application",
      "application/",
      "/json",
      "/",
      "application /json",
      "application/ json",
      "application/json text/html",
      "application/json, text/html",
      "application/json/x",
      "app(lication/json",
      "text/h\x80tml",
      ";charset=utf-8",
  }));
  INFO(value);
  CHECK_FALSE(parse_media_type(value));
}
