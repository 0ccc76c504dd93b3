#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "unit/response_reader_harness.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

const std::string challenge = "WWW-Authenticate: Bearer realm=\"x\"\r\n";
const std::string page = "<p>no</p>";

struct Case {
  int status;
  std::string fields;
  std::string body;
  std::string verdict;
};

std::string verdict_on(const Case& c, Awaits awaits, bool session_in_use) {
  ReaderContext context = context_for();
  context.awaits = awaits;
  context.session_in_use = session_in_use;
  return Reading(std::move(context)).head(c.status, c.fields).body(c.body).finish().verdict();
}

void check_all(const std::vector<Case>& cases, Awaits awaits, bool session_in_use) {
  for (const Case& c : cases) {
    CAPTURE(c.status, c.fields, c.body);
    CHECK(verdict_on(c, awaits, session_in_use) == c.verdict);
  }
}

// What is judged alike whether or not a session is in use.
const std::vector<Case> answers_to_requests = {
    {200, json_type, result_for("1"), "message; answered"},
    {200, json_type, error_for("1"), "message; answered"},
    {200, json_type, error_for("null"), "message; answered"},
    {200, json_type, error_for(""), "message; answered"},
    {200, json_type, result_for("\"1\""), "message; answered"},
    {200, json_type, result_for("2"), "message; failed id_mismatch"},
    {200, json_type, error_for("2"), "message; failed id_mismatch"},
    {200, json_type, notification, "message; failed malformed_message"},
    {200, json_type, "[" + result_for("1") + "]", "message; failed malformed_message"},
    {200, json_type, R"({"jsonrpc":"2.0","id":1})", "message; failed malformed_message"},
    {200, json_type, "", "message; failed malformed_json"},
    {200, json_type, "{", "message; failed malformed_json"},
    {200, json_type, result_for("1") + "x", "message; failed malformed_json"},
    {200, json_type, "\xEF\xBB\xBF" + result_for("1"), "message; answered"},
    {200, "content-type: Application/JSON; Charset=\"UTF-8\"\r\n", result_for("1"),
     "message; answered"},
    {201, json_type, result_for("1"), "message; answered"},
    {203, json_type, result_for("1"), "message; answered"},
    {226, json_type, result_for("1"), "message; answered"},
    {299, json_type, result_for("1"), "message; answered"},
    {202, json_type, result_for("1"), "failed stream_ended_without_response"},
    {202, "", "", "failed stream_ended_without_response"},
    {202, sse_type, event_of(result_for("1")), "failed stream_ended_without_response"},
    {204, "", "", "failed stream_ended_without_response"},
    {205, json_type, "", "failed stream_ended_without_response"},
    {206, json_type, "{}", "failed http_error [{}]"},
    {206, sse_type, "data", "failed http_error [data]"},
    {206, html_type, page, "failed http_error [<p>no</p>]"},
    {200, sse_type, event_of(result_for("1")), "stream; answered"},
    {200, "Content-Type: TEXT/Event-Stream;charset=utf-8\r\n", event_of(result_for("1")),
     "stream; answered"},
    {200, sse_type, "", "stream; unanswered stream_ended_without_response"},
    {201, sse_type, event_of("x"), "failed http_error [data: x\\n\\n]"},
    {200, html_type, page, "failed bad_content_type [<p>no</p>]"},
    {201, html_type, page, "failed bad_content_type [<p>no</p>]"},
    {200, "", result_for("1"), "failed bad_content_type [" + result_for("1") + "]"},
    {200, "Content-Type: json\r\n", "x", "failed bad_content_type [x]"},
    {200, "Content-Type: application/json-rpc\r\n", "x", "failed bad_content_type [x]"},
    {200, "Content-Type:\r\n", "", "failed bad_content_type"},
};

const std::vector<Case> refusals_of_requests = {
    {300, html_type, page, "redirected "},
    {301, "Location: /a\r\n", "", "redirected /a"},
    {304, "", "", "redirected "},
    {307, "Location: /a\r\n" + json_type, error_for("1"), "redirected /a"},
    {308, "Location: http://h/b\r\n", "", "redirected http://h/b"},
    {399, "", "", "redirected "},
    {400, html_type, page, "failed http_error [<p>no</p>]"},
    {400, "", "", "failed http_error"},
    {400, json_type, error_for("1"), "message; answered"},
    {400, json_type, error_for("\"1\""), "message; answered"},
    {400, json_type, error_for("null"), "message; answered"},
    {400, json_type, error_for(""), "message; answered"},
    {400, json_type, error_for("2"), "failed http_error [" + error_for("2") + "]"},
    {400, json_type, result_for("1"), "failed http_error [" + result_for("1") + "]"},
    {400, json_type, notification, "failed http_error [" + notification + "]"},
    {400, json_type, R"({"error":"no"})", R"(failed http_error [{"error":"no"}])"},
    {400, json_type, "{", "failed http_error [{]"},
    {400, json_type, "", "failed http_error"},
    {400, sse_type, event_of(error_for("1")),
     "failed http_error [data: " + error_for("1") + "\\n\\n]"},
    {401, challenge, "", "failed unauthorized"},
    {401, challenge + json_type, error_for("1"), "failed unauthorized"},
    {401, html_type, page, "failed unauthorized [<p>no</p>]"},
    {401, json_type, error_for("1"), "failed unauthorized [" + error_for("1") + "]"},
    {402, challenge + json_type, error_for("1"), "message; answered"},
    {403, challenge, "", "failed unauthorized"},
    {403, html_type, page, "failed http_error [<p>no</p>]"},
    {403, json_type, error_for("1"), "failed http_error [" + error_for("1") + "]"},
    {405, "Allow: GET\r\n", "", "failed http_error"},
    {407, challenge, "", "failed http_error"},
    {500, json_type, error_for("1"), "message; answered"},
    {503, html_type, page, "failed http_error [<p>no</p>]"},
    {599, json_type, result_for("1"), "failed http_error [" + result_for("1") + "]"},
    {999, html_type, page, "failed http_error [<p>no</p>]"},
};

}  // namespace

TEST_CASE("an answer to a request is judged by status and content type") {
  check_all(answers_to_requests, Awaits::response, false);
  check_all(answers_to_requests, Awaits::response, true);
}

TEST_CASE("a refusal of a request is judged by status, challenge and content type") {
  check_all(refusals_of_requests, Awaits::response, false);
  check_all(refusals_of_requests, Awaits::response, true);
}

TEST_CASE("404 means the end of a session only if one is in use") {
  const std::vector<Case> without = {
      {404, html_type, page, "failed http_error [<p>no</p>]"},
      {404, json_type, error_for("1"), "message; answered"},
      {404, challenge, "", "failed http_error"},
  };
  check_all(without, Awaits::response, false);
  const std::vector<Case> within = {
      {404, html_type, page, "failed session_expired"},
      {404, json_type, error_for("1"), "failed session_expired"},
      {404, json_type, result_for("1"), "failed session_expired"},
      {404, "", "", "failed session_expired"},
      {404, sse_type, "", "failed session_expired"},
      {404, "Content-Encoding: gzip\r\n", "x", "failed session_expired"},
  };
  check_all(within, Awaits::response, true);
  check_all(within, Awaits::acceptance, true);
}

TEST_CASE("any 2xx accepts a notification, whatever is in it") {
  for (const int status : {200, 201, 202, 204, 205, 206, 299}) {
    const std::vector<Case> cases = {
        {status, "", "", "accepted; accepted"},
        {status, json_type, result_for("1"), "accepted; accepted"},
        {status, json_type + "Content-Length: 99999999999\r\n", "", "accepted; accepted"},
        {status, sse_type, "data: x\n\n", "accepted; accepted"},
        {status, html_type, page, "accepted; accepted"},
        {status, "Content-Encoding: gzip\r\n", "x", "accepted; accepted"},
    };
    check_all(cases, Awaits::acceptance, false);
  }
}

TEST_CASE("a refused notification tells why") {
  const std::vector<Case> cases = {
      {307, "Location: /a\r\n", "", "redirected /a"},
      {400, html_type, page, "failed http_error [<p>no</p>]"},
      {400, json_type, error_for("null"), "message; answered"},
      {400, json_type, error_for(""), "message; answered"},
      {400, json_type, error_for("1"), "failed http_error [" + error_for("1") + "]"},
      {400, json_type, result_for("1"), "failed http_error [" + result_for("1") + "]"},
      {401, challenge, "", "failed unauthorized"},
      {403, json_type, error_for("null"), "failed http_error [" + error_for("null") + "]"},
      {404, html_type, page, "failed http_error [<p>no</p>]"},
  };
  check_all(cases, Awaits::acceptance, false);
}

TEST_CASE("a GET that opens a stream asks for no answer, so a refusal is never one") {
  const std::vector<Case> cases = {
      {400, json_type, error_for("null"), "failed http_error [" + error_for("null") + "]"},
      {400, json_type, error_for("1"), "failed http_error [" + error_for("1") + "]"},
      {405, "Allow: POST\r\n", "", "failed http_error"},
      {200, sse_type, event_of(error_for("null")),
       "stream; unanswered stream_ended_without_response"},
      {200, json_type, result_for("1"), "failed bad_content_type [" + result_for("1") + "]"},
  };
  check_all(cases, Awaits::stream, false);
}

TEST_CASE("a coding that nobody asked for makes a body unreadable, never a status") {
  const std::vector<Case> cases = {
      {200, json_type + "Content-Encoding: gzip\r\n", "x", "failed bad_content_encoding"},
      {200, sse_type + "content-encoding: br\r\n", "x", "failed bad_content_encoding"},
      {200, json_type + "Content-Encoding: identity, deflate\r\n", "x",
       "failed bad_content_encoding"},
      {200, json_type + "Content-Encoding:\r\n gzip\r\n", "x", "failed bad_content_encoding"},
      {200, json_type + "Transfer-Encoding: gzip, chunked\r\n", "x", "failed bad_content_encoding"},
      {200, json_type + "Transfer-Encoding: identity\r\n", "x", "failed bad_content_encoding"},
      {200, html_type + "Content-Encoding: zstd\r\n", "x", "failed bad_content_encoding"},
      {200, json_type + "Content-Encoding: Identity\r\nTransfer-Encoding: Chunked\r\n",
       result_for("1"), "message; answered"},
      {200, json_type + "Content-Encoding:\r\nTransfer-Encoding: ,chunked,\r\n", result_for("1"),
       "message; answered"},
      {400, json_type + "Content-Encoding: gzip\r\n", "x",
       "failed http_error <- bad_content_encoding"},
      {503, html_type + "Transfer-Encoding: gzip\r\n", "x",
       "failed http_error <- bad_content_encoding"},
      {401, challenge + "Content-Encoding: gzip\r\n", "x", "failed unauthorized"},
      {401, "Content-Encoding: gzip\r\n", "x", "failed unauthorized <- bad_content_encoding"},
      {403, "Content-Encoding: gzip\r\n", "x", "failed http_error <- bad_content_encoding"},
      {307, "Location: /a\r\nContent-Encoding: gzip\r\n", "x", "redirected /a"},
      {202, "Content-Encoding: gzip\r\n", "x", "failed stream_ended_without_response"},
  };
  check_all(cases, Awaits::response, false);
  for (const int status : {200, 202, 307, 400, 401}) {
    Reading reading;
    reading.head(status, challenge + "Content-Encoding: gzip\r\n");
    CAPTURE(status);
    REQUIRE(reading.reader.outcome());
    CHECK(reading.spoilt());
  }
}

TEST_CASE("what needs no body is judged before one has come") {
  const std::vector<Case> cases = {
      {202, "", "", "failed stream_ended_without_response"},
      {204, "", "", "failed stream_ended_without_response"},
      {307, "Location: /a\r\n", "", "redirected /a"},
      {401, challenge, "", "failed unauthorized"},
      {403, challenge, "", "failed unauthorized"},
      {404, html_type, "", "failed session_expired"},
  };
  for (const Case& c : cases) {
    ReaderContext context = context_for();
    context.session_in_use = true;
    Reading reading(std::move(context));
    reading.head(c.status, c.fields);
    CAPTURE(c.status);
    CHECK(reading.verdict() == c.verdict);
    CHECK(reading.reader.phase() == ResponseReader::Phase::over);
    CHECK_FALSE(reading.spoilt());
  }
}

TEST_CASE("the phase tells what the body is, and whether it says anything of the answer") {
  using Phase = ResponseReader::Phase;
  struct PhaseCase {
    int status;
    std::string fields;
    Phase phase;
    bool diagnostic;
  };
  const std::vector<PhaseCase> cases = {
      {200, json_type, Phase::json, false},      {200, sse_type, Phase::events, false},
      {200, html_type, Phase::diagnostic, true}, {400, json_type, Phase::json, true},
      {400, html_type, Phase::diagnostic, true}, {202, "", Phase::over, false},
  };
  for (const PhaseCase& c : cases) {
    Reading reading;
    CHECK(reading.reader.phase() == Phase::headers);
    reading.head(c.status, c.fields);
    CAPTURE(c.status, c.fields);
    CHECK(reading.reader.phase() == c.phase);
    CHECK(reading.reader.body_is_diagnostic() == c.diagnostic);
    CHECK(reading.reader.status() == c.status);
    reading.finish();
    CHECK(reading.reader.phase() == Phase::over);
    CHECK_FALSE(reading.reader.body_is_diagnostic());
  }
}

TEST_CASE("interim responses have no say") {
  Reading reading;
  reading.lines(
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
      "Link: </a>\r\n\r\n");
  CHECK(reading.reader.phase() == ResponseReader::Phase::headers);
  reading.head(200, json_type).body(result_for("1")).finish();
  CHECK(reading.verdict() == "message; answered");
  REQUIRE(reading.sink.heads.size() == 1);
  CHECK(reading.sink.heads[0].status == 200);
  REQUIRE(reading.sink.heads[0].headers.size() == 1);
  CHECK(reading.sink.heads[0].headers[0].value == "application/json");
}

TEST_CASE("trailers are not believed") {
  Reading reading;
  reading.head(200, json_type + "Transfer-Encoding: chunked\r\n").body(result_for("1"));
  reading.lines("Content-Type: text/html\r\nHTTP/1.1 500 No\r\nContent-Encoding: gzip\r\n\r\n");
  CHECK(reading.finish().verdict() == "message; answered");
  CHECK(reading.reader.status() == 200);
}

TEST_CASE("header lines may end in LF, be folded, or be no fields") {
  Reading reading;
  reading.lines(
      "HTTP/2 200\n"
      " a fold of nothing\r\n"
      "no field\r\n"
      "\tand its fold\r\n"
      "X-Fold: a\r\n  b\r\n\tc  \r\n"
      "Content-Type:application/json\n"
      "\n");
  REQUIRE(reading.sink.heads.size() == 1);
  const ResponseHead& head = reading.sink.heads[0];
  CHECK(head.headers.size() == 2);
  REQUIRE(head.find("x-fold") != nullptr);
  CHECK(*head.find("x-fold") == "a  b\tc");
}

TEST_CASE("an error quotes the head") {
  ReaderContext context = context_for();
  context.now = [] {
    return std::chrono::system_clock::from_time_t(784111777);  // Sun, 06 Nov 1994 08:49:37 GMT
  };
  Reading reading(std::move(context));
  reading.head(401,
               "WWW-Authenticate: Basic\r\nwww-authenticate: Bearer scope=\"a\"\r\n"
               "Retry-After: Sun, 06 Nov 1994 08:50:07 GMT\r\n"
               "Content-Type: text/plain; charset=utf-8\r\nLocation: /login\r\n");
  REQUIRE(reading.reader.outcome());
  const Error& error = reading.error();
  CHECK(error.http_status == 401);
  CHECK(error.www_authenticate == "Basic, Bearer scope=\"a\"");
  CHECK(error.retry_after == std::chrono::seconds(30));
  CHECK(error.content_type == "text/plain; charset=utf-8");
  CHECK(error.location == "/login");
  CHECK(error.delivery == Delivery::answered);
}

TEST_CASE("an error quotes a head that has been handed out, too") {
  Reading reading(context_for());
  reading.head(200,
               "X-Other: x\r\nContent-Type: application/json\r\nRetry-After: 7\r\n"
               "WWW-Authenticate: Basic\r\nLocation: /there\r\n");
  REQUIRE(reading.sink.heads.size() == 1);
  CHECK(reading.sink.heads[0].headers.size() == 5);
  reading.reader.read_body("{");
  reading.reader.finish();
  REQUIRE(reading.reader.outcome());
  const Error& error = reading.error();
  CHECK(error.code == ErrorCode::malformed_json);
  CHECK(error.http_status == 200);
  CHECK(error.content_type == "application/json");
  CHECK(error.retry_after == std::chrono::seconds(7));
  CHECK(error.www_authenticate == "Basic");
  CHECK(error.location == "/there");
}

TEST_CASE("delivery is answered for refusals by status, and else unknown") {
  struct DeliveryCase {
    int status;
    std::string fields;
    std::string body;
    Delivery delivery;
  };
  const std::vector<DeliveryCase> cases = {
      {503, html_type, page, Delivery::answered}, {401, html_type, page, Delivery::answered},
      {307, "", "", Delivery::answered},          {200, html_type, page, Delivery::unknown},
      {200, json_type, "{", Delivery::unknown},   {200, sse_type, "", Delivery::unknown},
  };
  for (const DeliveryCase& c : cases) {
    Reading reading;
    reading.head(c.status, c.fields).body(c.body).finish();
    CAPTURE(c.status, c.fields);
    CHECK(reading.error().delivery == c.delivery);
  }
}

TEST_CASE("no server text enters the detail of an error") {
  const std::string secret = "SECRET";
  for (const int status : {200, 206, 400, 401, 404, 500}) {
    for (const std::string& type :
         {json_type, sse_type, html_type, "Content-Type: SECRET\r\n" + std::string()}) {
      Reading reading;
      reading.head(status, type + "X: SECRET\r\n").body("data: " + secret + "\n\n").finish();
      CAPTURE(status, type);
      CHECK(reading.error().detail.find(secret) == std::string::npos);
      for (const Warning& warning : reading.sink.warnings) {
        CHECK(warning.text.find(secret) == std::string::npos);
      }
    }
  }
}

TEST_CASE("nothing that comes after the outcome changes it") {
  Reading reading;
  reading.head(400, json_type).body(error_for("1")).finish();
  const std::string before = reading.transcript();
  REQUIRE(before.find("answered") != std::string::npos);
  reading.lines("X: y\r\n").body("more").finish();
  reading.reader.finish_truncated();
  reading.reader.finish_broken(broken(ErrorCode::body_truncated));
  CHECK(reading.transcript() == before);
}
