#include <catch2/catch.hpp>

#include <string>

#include "support/splits.hpp"
#include "unit/response_reader_harness.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

ReaderContext forwarded() {
  ReaderContext context = context_for();
  context.forwarded = true;
  context.limits.max_json_response_size = 100;
  return context;
}

std::string verdict(int status, std::string_view fields, std::string_view body,
                    ReaderContext context = forwarded()) {
  Reading reading(std::move(context));
  return reading.head(status, fields).body(body).finish().verdict();
}

}  // namespace

TEST_CASE("every status is an answer to a forwarded request") {
  for (const int status : {200, 202, 204, 206, 301, 307, 304, 400, 401, 403, 404, 421, 500, 599}) {
    CAPTURE(status);
    CHECK(verdict(status, html_type + "WWW-Authenticate: Bearer\r\n", "x") == "body; answered");
  }
}

TEST_CASE("JSON and event streams are read as such, where they are whole and plain") {
  const std::string gzip = "Content-Encoding: gzip\r\n";
  const std::string answer = result_for("1");
  CHECK(verdict(200, json_type, answer) == "message; answered");
  CHECK(verdict(404, json_type, answer) == "message; answered");
  CHECK(verdict(206, json_type, answer) == "body; answered");
  CHECK(verdict(200, json_type + gzip, answer) == "body; answered");
  CHECK(verdict(200, json_type + "Content-Encoding: identity\r\n", answer) == "message; answered");
  CHECK(verdict(200, sse_type, event_of(answer)) == "stream; answered");
  CHECK(verdict(201, sse_type, event_of(answer)) == "stream; answered");
  CHECK(verdict(400, sse_type, event_of(answer)) == "body; answered");
  CHECK(verdict(200, sse_type + gzip, event_of(answer)) == "body; answered");
  CHECK(verdict(200, "", "x") == "body; answered");
  ReaderContext head = forwarded();
  head.is_bodiless = true;
  CHECK(verdict(200, json_type + "Content-Length: 1000\r\n", "", head) == "body; answered");
}

TEST_CASE("a transfer coding other than chunked cannot be passed on") {
  Reading reading(forwarded());
  reading.head(200, html_type + "Content-Encoding: gzip\r\nTransfer-Encoding: gzip, chunked\r\n");
  CHECK(reading.verdict() == "failed bad_content_encoding");
  CHECK(reading.spoilt());
}

TEST_CASE("JSON that is no message comes byte for byte all the same") {
  for (const std::string text : {"[]", "{", "{\"error\":\"invalid_token\"}",
                                 "[{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]", " "}) {
    CAPTURE(text);
    for_each_split(text, [&](const Pieces& pieces) {
      Reading reading(forwarded());
      reading.head(400, json_type);
      for (const std::string_view piece : pieces) reading.body(piece);
      reading.finish();
      if (reading.verdict() != "message; answered" || reading.sink.body != text) FAIL();
    });
  }
  CHECK(verdict(200, json_type, "") == "message; answered");
}

TEST_CASE("a message of any id is passed on") {
  Reading reading(forwarded());
  reading.head(200, json_type).body(result_for("77")).finish();
  REQUIRE(reading.sink.messages.size() == 1);
  CHECK(reading.sink.messages[0].json() == result_for("77"));
}

TEST_CASE("a forwarded JSON body is bounded as any other") {
  CHECK(verdict(400, json_type + "Content-Length: 101\r\n", "") == "failed json_too_large");
  CHECK(verdict(400, json_type, std::string(101, ' ')) == "message; failed json_too_large");
  CHECK(verdict(400, json_type, std::string(100, ' ')) == "message; answered");
}

TEST_CASE("any other body comes as it is, paused or not, up to max_stream_size") {
  ReaderContext context = forwarded();
  context.limits.max_stream_size = 10;
  const bool pauses = GENERATE(false, true);
  for (const std::string& text : {std::string(10, 'x'), std::string(11, 'x')}) {
    for_each_split(text, [&](const Pieces& pieces) {
      Reading reading(context);
      if (pauses) reading.sink.flow = [] { return Flow::pause; };
      reading.head(200, html_type);
      for (const std::string_view piece : pieces) reading.body(piece);
      reading.finish();
      const bool over = text.size() > 10;
      if (reading.sink.body != std::string(10, 'x')) FAIL();
      if (reading.verdict() != (over ? "body; failed stream_too_large" : "body; answered")) FAIL();
    });
  }
}

TEST_CASE("a forwarded body that breaks off is told from a whole one") {
  Reading reading(forwarded());
  reading.head(200, html_type).body("x");
  reading.reader.finish_broken(broken(ErrorCode::body_truncated));
  CHECK(reading.verdict() == "body; unanswered body_truncated <- body_truncated");
}
