// What holds at every cut of the input, and how a response ends.
#include <catch2/catch.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "unit/response_reader_harness.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

struct Sample {
  std::string name;
  int status;
  std::string fields;
  std::string body;
  ReaderContext context = context_for();
  std::string trailers = {};
};

ReaderContext with(std::size_t ResponseLimits::*field, std::size_t value) {
  ReaderContext context = context_for();
  context.limits.*field = value;
  return context;
}

ReaderContext for_notification() {
  ReaderContext context = context_for("");
  context.awaits = Awaits::acceptance;
  return context;
}

const std::string answer = result_for("1");

const std::vector<Sample> samples = {
    {"result", 200, json_type, answer},
    {"result with a length", 200, json_type + "Content-Length: 36\r\n", answer},
    {"result in UTF-8", 200, json_type, R"({"jsonrpc":"2.0","id":1,"result":"äöü€😀"})"},
    {"result with a mark", 200, json_type, "\xEF\xBB\xBF" + answer},
    {"result with trailers", 200, json_type, answer, context_for(), "X: y\r\n\r\n"},
    {"malformed result", 200, json_type, answer + "}"},
    {"result over the limit", 200, json_type, answer,
     with(&ResponseLimits::max_json_response_size, 20)},
    {"foreign result", 200, json_type, result_for("7")},
    {"error as JSON", 400, json_type, error_for("null")},
    {"foreign error as JSON", 404, json_type, error_for("7")},
    {"error over the limit", 500, json_type, error_for("1"),
     with(&ResponseLimits::max_json_response_size, 20)},
    {"page", 502, html_type, "<html>\r\n\t<p>Bad gateway\x01\xC3\xA4</p></html>"},
    {"page cut inside a character", 502, html_type, "Bad gateway \xE2\x82\xAC",
     with(&ResponseLimits::max_error_response_size, 14)},
    {"page in Latin-1", 500, "Content-Type: text/plain; charset=iso-8859-1\r\n", "\xE4\xF6\xFC"},
    {"denied", 401, json_type, error_for("1")},
    {"accepted", 202, "", "thanks", for_notification()},
    {"refused notification", 400, json_type, error_for(""), for_notification()},
    {"stream", 200, sse_type, event_of(notification) + event_of(answer) + event_of("more")},
    {"stream with all line ends", 200, sse_type,
     "\xEF\xBB\xBF: hi\r\nid: 1\rretry: 5\n\ndata\n\r\nid: 2\r\nevent: x\r\ndata: a\rdata: "
     "b\n\r\n" +
         event_of(error_for("1"))},
    {"stream of faults", 200, sse_type,
     event_of("{") + event_of("\xFF") + event_of("[]") + event_of(result_for("9"))},
    {"stream without a last blank line", 200, sse_type, event_of(notification) + "data: " + answer},
    {"stream with an event over the limit", 200, sse_type,
     event_of(notification) + event_of(answer), with(&ResponseLimits::max_sse_event_size, 32)},
    {"stream over the limit", 200, sse_type, event_of(notification) + event_of(answer),
     with(&ResponseLimits::max_stream_size, 50)},
    {"stream with a long id", 200, sse_type, "id: abcdef\ndata: \n\n" + event_of(answer),
     with(&ResponseLimits::max_event_id_size, 5)},
};

std::string ended(Reading& reading, const Sample& sample) {
  reading.lines(sample.trailers).finish();
  CHECK(reading.consumed() == sample.body.size());
  CHECK(reading.reader.body_bytes() == sample.body.size());
  return reading.transcript();
}

std::string whole(const Sample& sample) {
  Reading reading(sample.context);
  reading.head(sample.status, sample.fields).body(sample.body);
  return ended(reading, sample);
}

}  // namespace

TEST_CASE("the body may be cut anywhere") {
  for (const Sample& sample : samples) {
    const std::string expected = whole(sample);
    CAPTURE(sample.name);
    for (std::size_t cut = 0; cut <= sample.body.size(); ++cut) {
      Reading reading(sample.context);
      reading.head(sample.status, sample.fields)
          .body(sample.body.substr(0, cut))
          .body(sample.body.substr(cut));
      CAPTURE(cut);
      CHECK(ended(reading, sample) == expected);
    }
    Reading reading(sample.context);
    reading.head(sample.status, sample.fields).bytewise(sample.body);
    CHECK(ended(reading, sample) == expected);
  }
}

TEST_CASE("a pause at every event changes nothing, at every cut of the body") {
  for (const Sample& sample : samples) {
    const std::string expected = whole(sample);
    CAPTURE(sample.name);
    for (std::size_t cut = 0; cut <= sample.body.size(); ++cut) {
      Reading reading(sample.context);
      reading.sink.flow = [] { return Flow::pause; };
      reading.head(sample.status, sample.fields)
          .body(sample.body.substr(0, cut))
          .body(sample.body.substr(cut));
      CAPTURE(cut);
      CHECK(ended(reading, sample) == expected);
    }
  }
}

TEST_CASE("a header that ends early is a lost connection") {
  CHECK(Reading().finish().verdict() == "failed connection_lost");
  CHECK(Reading().lines("HTTP/1.1 100 Continue\r\n\r\n").finish().verdict() ==
        "failed connection_lost");
  Reading reading;
  reading.lines("HTTP/1.1 200 OK\r\n" + json_type).finish();
  CHECK(reading.verdict() == "failed connection_lost");
  CHECK(reading.error().http_status == 0);
}

TEST_CASE("a body that breaks off is judged by what it was of") {
  struct BreakCase {
    int status;
    std::string fields;
    std::string body;
    ErrorCode why;
    std::string verdict;
  };
  const std::vector<BreakCase> cases = {
      {200, json_type, "{", ErrorCode::body_truncated, "message; failed body_truncated"},
      {200, json_type, answer, ErrorCode::body_truncated, "message; failed body_truncated"},
      {200, json_type, "{", ErrorCode::timeout_idle, "message; failed timeout_idle"},
      {200, sse_type, event_of(notification), ErrorCode::body_truncated,
       "stream; unanswered stream_ended_without_response <- body_truncated"},
      {200, sse_type, "data: " + answer, ErrorCode::body_truncated,
       "stream; unanswered stream_ended_without_response <- body_truncated"},
      {200, sse_type, event_of("{"), ErrorCode::body_truncated,
       "stream; unanswered malformed_json <- body_truncated"},
      {200, sse_type, event_of("{"), ErrorCode::timeout_idle, "stream; failed timeout_idle"},
      {200, sse_type, event_of(answer), ErrorCode::body_truncated, "stream; answered"},
      {400, json_type, error_for("1"), ErrorCode::body_truncated,
       "failed http_error [" + error_for("1") + "...] <- body_truncated"},
      {400, json_type, "", ErrorCode::timeout_total, "failed http_error [...] <- timeout_total"},
      {503, html_type, "<p>b", ErrorCode::body_truncated,
       "failed http_error [<p>b...] <- body_truncated"},
      {401, html_type, "no", ErrorCode::timeout_total,
       "failed unauthorized [no...] <- timeout_total"},
      {200, html_type, "no", ErrorCode::connection_lost,
       "failed bad_content_type [no...] <- connection_lost"},
  };
  for (const BreakCase& c : cases) {
    Reading reading;
    reading.head(c.status, c.fields).body(c.body);
    reading.reader.finish_broken(broken(c.why));
    CAPTURE(c.status, c.fields, c.body);
    CHECK(reading.verdict() == c.verdict);
    if (reading.reader.outcome()->kind != ReadOutcome::Kind::answered) {
      CHECK(reading.error().http_status == c.status);
    }
  }
}

TEST_CASE("a failure before the final header block keeps its own code and has no status") {
  for (const char* lines : {"", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 500 No\r\n"}) {
    Reading reading;
    reading.lines(lines);
    reading.reader.finish_broken(broken(ErrorCode::timeout_header));
    CHECK(reading.verdict() == "failed timeout_header");
    CHECK(reading.error().http_status == 0);
  }
}

TEST_CASE("a diagnostic body whose time is up is truncated without a cause") {
  Reading page;
  page.head(500, html_type).body("slow");
  page.reader.finish_truncated();
  CHECK(page.verdict() == "failed http_error [slow...]");
  CHECK(page.spoilt());

  Reading json;
  json.head(400, json_type).body(error_for("1"));
  json.reader.finish_truncated();
  CHECK(json.verdict() == "failed http_error [" + error_for("1") + "...]");

  Reading success;
  success.head(200, json_type).body(answer);
  success.reader.finish_truncated();
  CHECK(success.verdict() == "message; open");
  CHECK(success.finish().verdict() == "message; answered");
}

TEST_CASE("a diagnostic honours its charset and is fit to be printed") {
  struct TextCase {
    std::string type;
    std::string body;
    std::string text;
  };
  const std::vector<TextCase> cases = {
      {"text/plain", "\xC3\xA4", "ä"},
      {"text/plain; charset=UTF-8", "\xC3\xA4", "ä"},
      {"text/plain; charset=iso-8859-1", "\xE4", "ä"},
      {"text/plain; charset=\"ISO-8859-1\"", "\xE4", "ä"},
      {"text/plain; charset=us-ascii", "a\xE4", "a\uFFFD"},
      {"text/plain; charset=shift_jis", "a\xE4", "a\uFFFD"},
      {"text/plain; charset=iso-8859-1", "\xEF\xBB\xBF\xC3\xA4", "ä"},
      {"text/plain", "\xEF\xBB\xBFx", "x"},
      {"text/plain", "a\r\n\x1B[31mb", "a\\r\\n\\x1B[31mb"},
      {"application/json; charset=iso-8859-1", "\xE4", "ä"},
      {"no type", "\xC3\xA4", "ä"},
  };
  for (const int status : {400, 401, 403, 404}) {
    for (const TextCase& c : cases) {
      Reading reading;
      reading.head(status, "Content-Type: " + c.type + "\r\n").body(c.body).finish();
      CAPTURE(status, c.type);
      CHECK(reading.error().diagnostic.text == c.text);
      CHECK_FALSE(reading.error().diagnostic.truncated);
    }
  }
}

TEST_CASE("a diagnostic that grows when escaped stays within its limit") {
  Reading reading(with(&ResponseLimits::max_error_response_size, 10));
  reading.head(500, html_type).body(std::string(10, '\x01')).finish();
  CHECK(reading.verdict() == "failed http_error [\\x01\\x01...]");
}

TEST_CASE("the head is handed out once, with every field, when the answer is one") {
  Reading answered;
  answered.head(200, json_type + "A: 1\r\na: 2\r\n");
  REQUIRE(answered.sink.heads.size() == 1);
  CHECK(answered.sink.heads[0].status == 200);
  CHECK(answered.sink.heads[0].kind == ResponseKind::message);
  CHECK(answered.sink.heads[0].headers.size() == 3);

  Reading refused;
  refused.head(404, json_type);
  CHECK(refused.sink.heads.empty());
  refused.body(error_for("1")).finish();
  REQUIRE(refused.sink.heads.size() == 1);
  CHECK(refused.sink.heads[0].status == 404);
  REQUIRE(refused.sink.messages.size() == 1);
  CHECK(refused.sink.messages[0].error_code() == -32000);
}
