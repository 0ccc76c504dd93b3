#include <catch2/catch.hpp>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "unit/response_reader_harness.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

constexpr std::size_t far_over = 10000;

ReaderContext limited(std::size_t ResponseLimits::*field, std::size_t value) {
  ReaderContext context = context_for();
  context.limits.*field = value;
  return context;
}

// A result of exactly `size` bytes.
std::string result_of_size(std::size_t size) {
  std::string text = R"({"jsonrpc":"2.0","id":1,"result":"")";
  text.insert(text.size() - 1, size - text.size() - 1, 'x');
  return text + "}";
}

std::string nested(std::size_t arrays) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string(arrays, '[') +
         std::string(arrays, ']') + "}";
}

}  // namespace

TEST_CASE("max_json_response_size counts the body of an answer") {
  constexpr std::size_t limit = 500;
  const auto context = limited(&ResponseLimits::max_json_response_size, limit);
  CHECK(Reading(context).head(200, json_type).body(result_of_size(limit)).finish().verdict() ==
        "message; answered");
  CHECK(Reading(context).head(200, json_type).bytewise(result_of_size(limit)).finish().verdict() ==
        "message; answered");
  Reading over(context);
  over.head(200, json_type).body(result_of_size(limit + 1));
  CHECK(over.verdict() == "message; failed json_too_large");
  CHECK(over.spoilt());
  CHECK(over.error().detail.find("max_json_response_size (500 bytes)") != std::string::npos);
  Reading far(context);
  far.head(200, json_type).bytewise(std::string(far_over, 'x'));
  CHECK(far.verdict() == "message; failed json_too_large");
  CHECK(far.reader.body_bytes() == far_over);
}

TEST_CASE("max_json_response_size counts a JSON error body, which is parsed whole") {
  ReaderContext context = limited(&ResponseLimits::max_error_response_size, 4);
  context.limits.max_json_response_size = 100;
  const std::string answer = error_for("1");
  REQUIRE(answer.size() <= 100);
  CHECK(Reading(context).head(400, json_type).body(answer).finish().verdict() ==
        "message; answered");
  const std::string filler(100 - answer.size(), ' ');
  CHECK(Reading(context).head(400, json_type).body(answer + filler).finish().verdict() ==
        "message; answered");
  Reading over(context);
  over.head(400, json_type).bytewise(answer + filler + " ");
  CHECK(over.verdict() == "failed json_too_large");
  CHECK(over.error().http_status == 400);
  CHECK(over.spoilt());
}

TEST_CASE("a Content-Length over max_json_response_size is refused before a byte of the body") {
  const auto context = limited(&ResponseLimits::max_json_response_size, 100);
  struct LengthCase {
    int status;
    std::string value;
    bool refused;
  };
  const std::vector<LengthCase> cases = {
      {200, "100", false},
      {200, "101", true},
      {400, "101", true},
      {400, "100", false},
      {200, "100, 100", false},
      {200, "18446744073709551615", true},
      {200, "101, 5", false} /* no length at all */,
      {200, "x", false},
      {200, "-1", false},
      {200, "99999999999999999999999", true},
  };
  for (const LengthCase& c : cases) {
    Reading reading(context);
    reading.head(c.status, json_type + "Content-Length: " + c.value + "\r\n");
    CAPTURE(c.status, c.value);
    CHECK(reading.verdict().find(c.refused ? "failed json_too_large" : "open") !=
          std::string::npos);
    CHECK(reading.sink.heads.size() == (c.refused || c.status == 400 ? 0 : 1));
    if (c.refused) CHECK(reading.spoilt());
  }
}

TEST_CASE("a Content-Length bounds nothing but JSON") {
  const auto context = limited(&ResponseLimits::max_json_response_size, 10);
  const std::string length = "Content-Length: 99999\r\n";
  for (const std::string& type : {sse_type, html_type}) {
    CHECK_FALSE(Reading(context).head(200, type + length).reader.outcome());
  }
}

TEST_CASE("an announcement beyond memory is not believed when there is no limit") {
  const auto context = limited(&ResponseLimits::max_json_response_size, unlimited);
  for (const char* length : {"18446744073709551615", "9223372036854775807", "1000000000000000"}) {
    Reading reading(context);
    reading.head(200, json_type + "Content-Length: " + length + "\r\n");
    CHECK(reading.body(result_for("1")).finish().verdict() == "message; answered");
  }
}

TEST_CASE("max_error_response_size truncates a diagnostic and is never an error") {
  constexpr std::size_t limit = 50;
  const auto context = limited(&ResponseLimits::max_error_response_size, limit);
  for (const int status : {200, 206, 401, 403, 404, 500}) {
    const std::string equal(limit, 'a');
    CAPTURE(status);
    Reading at(context);
    at.head(status, html_type).bytewise(equal).finish();
    CHECK(at.error().diagnostic.text == equal);
    CHECK_FALSE(at.error().diagnostic.truncated);
    CHECK_FALSE(at.spoilt());

    Reading over(context);
    over.head(status, html_type).body(equal + "b");
    REQUIRE(over.reader.outcome());
    CHECK(over.error().code == at.error().code);
    CHECK(over.error().diagnostic.text == equal);
    CHECK(over.error().diagnostic.truncated);
    CHECK(over.spoilt());

    Reading far(context);
    far.head(status, html_type).bytewise(std::string(far_over, 'a'));
    CHECK(far.transcript() == over.transcript());
  }
}

TEST_CASE("the prefix of a JSON error body that is no answer is bounded too") {
  const auto context = limited(&ResponseLimits::max_error_response_size, 5);
  CHECK(Reading(context).head(400, json_type).body("12345").finish().verdict() ==
        "failed http_error [12345]");
  CHECK(Reading(context).head(400, json_type).body("123456").finish().verdict() ==
        "failed http_error [12345...]");
  CHECK(Reading(context).head(400, json_type).bytewise(error_for("2")).finish().verdict() ==
        "failed http_error [{\"jso...]");
}

TEST_CASE("max_sse_event_size ends the stream with its own error") {
  constexpr std::size_t limit = 200;
  const auto context = limited(&ResponseLimits::max_sse_event_size, limit);
  CHECK(Reading(context).head(200, sse_type).body(event_of(result_of_size(limit))).verdict() ==
        "stream; answered");
  CHECK(Reading(context).head(200, sse_type).bytewise(event_of(result_of_size(limit))).verdict() ==
        "stream; answered");
  Reading over(context);
  over.head(200, sse_type).body(event_of(result_of_size(limit + 1)));
  CHECK(over.verdict() == "stream; failed event_too_large");
  CHECK(over.spoilt());
  CHECK(over.error().detail.find("max_sse_event_size (200 bytes)") != std::string::npos);
  Reading far(context);
  far.head(200, sse_type).bytewise("data: " + std::string(far_over, 'x')).finish();
  CHECK(far.transcript() == over.transcript());
}

TEST_CASE("an event over the limit is no bare end of stream, and ends what follows") {
  const auto context = limited(&ResponseLimits::max_sse_event_size, 60);
  Reading reading(context);
  reading.head(200, sse_type)
      .body(event_of("broken") + event_of(std::string(61, 'x')) + event_of(result_for("1")))
      .finish();
  CHECK(reading.verdict() == "stream; failed event_too_large");
  CHECK(reading.sink.events.size() == 1);
}

TEST_CASE("max_header_size counts every line of every block, and 32 for each") {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  const std::string block = "HTTP/1.1 200 OK\r\n" + json_type + "\r\n";
  const std::string trailers = "X: y\r\n\r\n";
  const std::size_t lines = 2 + 3 + 2;
  const std::size_t size = interim.size() + block.size() + trailers.size() + lines * 32;

  const auto read = [&](std::size_t limit) {
    Reading reading(limited(&ResponseLimits::max_header_size, limit));
    reading.lines(interim).lines(block).body(result_for("1")).lines(trailers).finish();
    CHECK(reading.reader.header_bytes() <= size);
    return reading.verdict();
  };
  CHECK(read(size) == "message; answered");
  CHECK(read(size - 1) == "message; failed headers_too_large");
  CHECK(read(size - trailers.size() - 64) == "message; failed headers_too_large");
  CHECK(read(size - trailers.size() - 65) == "failed headers_too_large");
}

TEST_CASE("headers far over the limit are not kept, however they come") {
  const auto context = limited(&ResponseLimits::max_header_size, 1000);
  const std::vector<std::string> shapes = {"a: b\r\n", " fold\r\n", "\n",
                                           "HTTP/1.1 100 Continue\r\n\r\n"};
  for (const std::string& shape : shapes) {
    Reading reading(context);
    reading.lines("HTTP/1.1 100 Continue\r\n");
    for (std::size_t i = 0; i < far_over; ++i) reading.lines(shape);
    CAPTURE(shape);
    CHECK(reading.verdict() == "failed headers_too_large");
    CHECK(reading.spoilt());
    CHECK(reading.error().http_status == 0);
    CHECK(reading.reader.header_bytes() < 2000);
  }
  Reading one(context);
  one.lines("HTTP/1.1 200 OK\r\nX: " + std::string(far_over, 'x') + "\r\n");
  CHECK(one.verdict() == "failed headers_too_large");
}

TEST_CASE("max_stream_size counts every byte of a stream; an answer within it is an answer") {
  const std::string answer = event_of(result_for("1"));
  const std::string chatter = event_of(notification) + ": comment\n\n";
  const std::string whole = chatter + answer;
  struct StreamCase {
    std::size_t limit;
    std::string verdict;
  };
  const std::vector<StreamCase> cases = {
      {whole.size(), "stream; answered"},
      {whole.size() - 1, "stream; failed stream_too_large"},
      {chatter.size(), "stream; failed stream_too_large"},
      {chatter.size() - 1, "stream; failed stream_too_large"},
      {1, "stream; failed stream_too_large"},
  };
  for (const StreamCase& c : cases) {
    const auto context = limited(&ResponseLimits::max_stream_size, c.limit);
    Reading at_once(context);
    at_once.head(200, sse_type).body(whole).finish();
    Reading bytewise(context);
    bytewise.head(200, sse_type).bytewise(whole).finish();
    Reading paused(context);
    paused.sink.flow = [] { return Flow::pause; };
    paused.head(200, sse_type).body(whole).finish();
    CAPTURE(c.limit);
    CHECK(at_once.verdict() == c.verdict);
    CHECK(bytewise.transcript() == at_once.transcript());
    CHECK(paused.transcript() == at_once.transcript());
  }
  Reading after(limited(&ResponseLimits::max_stream_size, whole.size()));
  after.head(200, sse_type).body(whole + std::string(far_over, 'x'));
  CHECK(after.verdict() == "stream; answered");
}

TEST_CASE("max_json_depth holds for answers, error bodies and events") {
  const auto context = limited(&ResponseLimits::max_json_depth, 4);
  CHECK(Reading(context).head(200, json_type).body(nested(3)).finish().verdict() ==
        "message; answered");
  CHECK(Reading(context).head(200, json_type).body(nested(4)).finish().verdict() ==
        "message; failed json_too_deep");
  CHECK(Reading(context).head(200, json_type).body(nested(5000)).finish().verdict() ==
        "message; failed json_too_deep");
  CHECK(Reading(context).head(400, json_type).body("[[[[[]]]]]").finish().verdict() ==
        "failed http_error [[[[[[]]]]]]");
  CHECK(Reading(context).head(200, sse_type).body(event_of(nested(3))).finish().verdict() ==
        "stream; answered");
  CHECK(Reading(context).head(200, sse_type).body(event_of(nested(4))).finish().verdict() ==
        "stream; unanswered json_too_deep");
}

TEST_CASE("an event id that no header can carry is warned of once") {
  const auto warnings = [](const std::string& body) {
    const auto context = limited(&ResponseLimits::max_event_id_size, 10);
    Reading read(context);
    read.head(200, sse_type).body(body);
    for (const Warning& warning : read.sink.warnings) {
      CHECK(warning.kind == WarningKind::event_id_dropped);
    }
    return read.sink.warnings.size();
  };
  CHECK(warnings("id: a \t\xC3\xA4\xFF\ndata:\n\n") == 0);
  CHECK(warnings("id\ndata:\n\n") == 0);
  CHECK(warnings("id: \x01\ndata:\n\nid: a\x7F\ndata:\n\n") == 1);
  CHECK(warnings("id: \x1B[2J\n\n") == 1);
}

TEST_CASE("an event id over max_event_id_size is warned of once") {
  const auto context = limited(&ResponseLimits::max_event_id_size, 3);
  const auto warnings = [&context](const std::string& body) {
    return Reading(context).head(200, sse_type).body(body).sink.warnings.size();
  };
  CHECK(warnings("id: abc\ndata: \n\n") == 0);
  CHECK(warnings("id: abcd\ndata: \n\n") == 1);
  CHECK(warnings("id: abcd\n\n") == 1);
  CHECK(warnings("id: abcd\ndata: \n\nid: abcde\n\ndata: \n\n") == 1);
  CHECK(warnings("id: " + std::string(far_over, 'x') + "\ndata: \n\n") == 1);
}

TEST_CASE("limits of zero mean what they say") {
  CHECK(Reading(limited(&ResponseLimits::max_json_response_size, 0))
            .head(200, json_type + "Content-Length: 0\r\n")
            .finish()
            .verdict() == "message; failed malformed_json");
  CHECK(Reading(limited(&ResponseLimits::max_json_response_size, 0))
            .head(200, json_type)
            .body("x")
            .verdict() == "message; failed json_too_large");
  CHECK(Reading(limited(&ResponseLimits::max_json_response_size, 0))
            .head(400, json_type)
            .finish()
            .verdict() == "failed http_error");
  CHECK(Reading(limited(&ResponseLimits::max_error_response_size, 0))
            .head(500, html_type)
            .verdict() == "failed http_error [...]");
  CHECK(Reading(limited(&ResponseLimits::max_error_response_size, 0))
            .head(400, json_type)
            .body(error_for("1"))
            .finish()
            .verdict() == "message; answered");
  CHECK(Reading(limited(&ResponseLimits::max_error_response_size, 0))
            .head(400, json_type)
            .body("{}")
            .finish()
            .verdict() == "failed http_error [...]");
  CHECK(Reading(limited(&ResponseLimits::max_sse_event_size, 0))
            .head(200, sse_type)
            .body("data:\n\n: comment\n\ndata: x")
            .verdict() == "stream; failed event_too_large");
  CHECK(Reading(limited(&ResponseLimits::max_header_size, 0))
            .lines("HTTP/1.1 200 OK\r\n")
            .verdict() == "failed headers_too_large");
  CHECK(Reading(limited(&ResponseLimits::max_stream_size, 0))
            .head(200, sse_type)
            .finish()
            .verdict() == "stream; unanswered stream_ended_without_response");
  CHECK(Reading(limited(&ResponseLimits::max_stream_size, 0))
            .head(200, sse_type)
            .body("\n")
            .verdict() == "stream; failed stream_too_large");
  CHECK(Reading(limited(&ResponseLimits::max_json_depth, 0))
            .head(200, json_type)
            .body(result_for("1"))
            .finish()
            .verdict() == "message; failed json_too_deep");
  CHECK(Reading(limited(&ResponseLimits::max_event_id_size, 0))
            .head(200, sse_type)
            .body("id: a\ndata:\n\n")
            .sink.warnings.size() == 1);
}

TEST_CASE("unlimited is no limit") {
  ReaderContext context = context_for();
  ResponseLimits& limits = context.limits;
  for (std::size_t* field :
       {&limits.max_json_response_size, &limits.max_error_response_size, &limits.max_sse_event_size,
        &limits.max_header_size, &limits.max_stream_size, &limits.max_json_depth,
        &limits.max_event_id_size}) {
    *field = std::numeric_limits<std::size_t>::max();
  }
  const std::string answer = result_of_size(far_over);
  CHECK(Reading(context).head(200, json_type).bytewise(answer).finish().verdict() ==
        "message; answered");
  CHECK(Reading(context).head(200, sse_type).bytewise(event_of(answer)).verdict() ==
        "stream; answered");
  Reading error(context);
  error.head(500, html_type).bytewise(std::string(far_over, 'x')).finish();
  CHECK(error.error().diagnostic.text.size() == far_over);
  CHECK_FALSE(error.error().diagnostic.truncated);
}
