#include <catch2/catch.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "support/splits.hpp"
#include "unit/response_reader_harness.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

const std::string answer = result_for("1");

Reading stream(ReaderContext context, const std::string& body) {
  Reading reading(std::move(context));
  reading.head(200, sse_type).body(body);
  return reading;
}

// What a finished stream hands out, one line for each thing, without the line of its head.
std::string handed_out(const std::string& body, ReaderContext context = context_for()) {
  Reading reading(std::move(context));
  const std::string text = reading.head(200, sse_type).body(body).finish().transcript();
  return text.substr(text.find('\n') + 1);
}

std::string lines(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& line : all) out.append(out.empty() ? "" : "\n").append(line);
  return out;
}

const std::string unanswered = "stream; unanswered stream_ended_without_response";

}  // namespace

TEST_CASE("events are handed out in order, the response last") {
  CHECK(handed_out(event_of(notification) + event_of(answer) + event_of(notification)) ==
        lines({"message message '" + notification + "' under ",
               "response message '" + answer + "' under ", "stream; answered"}));
}

TEST_CASE("a stream delivers its response at once, whether or not it stays open") {
  Reading reading;
  reading.head(200, sse_type).body(event_of(answer));
  CHECK(reading.verdict() == "stream; answered");
  CHECK_FALSE(reading.spoilt());
  CHECK(reading.reader.events() == 1);
  reading.body(event_of(notification));
  CHECK(reading.sink.events.size() == 1);
}

TEST_CASE(
    "priming events, other types and empty data are events, never messages, never warned of") {
  CHECK(handed_out("id: p\ndata:\n\n"
                   "event: endpoint\ndata: /messages\n\n"
                   "event: x\ndata: " +
                   answer +
                   "\n\n"
                   "data\n\n") ==
        lines({"event message '' id p", "event endpoint '/messages' under p",
               "event x '" + answer + "' under p", "event message '' under p", unanswered}));
}

TEST_CASE("blocks without data and comments are handed out where they are wanted") {
  const std::string body = ": hello\nid: a\nretry: 5\n\nid: b\ndata: " + notification +
                           "\n\nevent: x\n\n:bye\n\n" + event_of(answer);
  const std::string message = "message message '" + notification + "' id b";
  const std::string last = "response message '" + answer + "' under b";
  ReaderContext context = context_for();
  CHECK(handed_out(body, context) == lines({message, last, "stream; answered"}));
  context.extras.blocks = true;
  const std::string primer = "block message '' id a retry 5";
  const std::string typed = "block x '' under b";
  CHECK(handed_out(body, context) == lines({primer, message, typed, last, "stream; answered"}));
  context.extras.comments = true;
  CHECK(handed_out(body, context) == lines({"comment ' hello'", primer, message, typed,
                                            "comment 'bye'", last, "stream; answered"}));
}

TEST_CASE("what is relayed re-parses to what came, extras included") {
  ReaderContext context = context_for();
  context.extras = {true, true};
  const std::string body =
      "\xEF\xBB\xBF: c\r\nid: 1\r\ndata: a\rdata:b\ndata\n\nid\n\nretry: 7\n\n" +
      ("event: x\ndata:  y\nretry: 08\n\n:" + std::string(5000, 'z')) + "\nevent:  odd\nid: 2\n\n" +
      event_of(notification) + "id: 3\n" + event_of(answer);
  const Reading first = stream(context, body);
  std::string relayed;
  for (const Event& event : first.sink.events) relayed += event.frame();
  for (const std::size_t size : {1U, 7U, 100'000U}) {
    Reading again(context);
    again.head(200, sse_type);
    for (const std::string_view piece : cut_every(relayed, size)) again.body(piece);
    CHECK(again.sink.log == first.sink.log);
  }
}

TEST_CASE("an event carries id and retry of its own block only") {
  CHECK(handed_out("id: a\nretry: 10\ndata: \n\ndata: \n\nid\ndata: \n\nretry: x\ndata:\n\n") ==
        lines({"event message '' id a retry 10", "event message '' under a", "event message '' id ",
               "event message '' under ", unanswered}));
}

TEST_CASE("the response is told by its id") {
  struct MatchCase {
    std::string request_id;
    std::string data;
    std::string verdict;
    std::vector<WarningKind> warnings;
  };
  const std::vector<MatchCase> cases = {
      {"1", result_for("1"), "stream; answered", {}},
      {"1", error_for("1"), "stream; answered", {}},
      {"1", R"({"jsonrpc":"2.0","\u0069d":1,"result":{}})", "stream; answered", {}},
      {"\"a\"", result_for("\"a\""), "stream; answered", {}},
      {"\"a\"", result_for("\"\\u0061\""), "stream; answered", {}},
      {"123456789012345678901234567890",
       result_for("123456789012345678901234567890"),
       "stream; answered",
       {}},
      {"1", result_for("\"1\""), "stream; answered", {WarningKind::id_type_changed}},
      {"\"1\"", result_for("1"), "stream; answered", {WarningKind::id_type_changed}},
      {"1", error_for("null"), "stream; answered", {}},
      {"1", error_for(""), "stream; answered", {}},
      {"1", result_for("2"), unanswered, {WarningKind::foreign_message}},
      {"1", error_for("2"), unanswered, {WarningKind::foreign_message}},
      {"1", result_for("10"), unanswered, {WarningKind::foreign_message}},
      {"1", result_for("\"\""), unanswered, {WarningKind::foreign_message}},
      {"\"a\"", result_for("\"A\""), unanswered, {WarningKind::foreign_message}},
      {"1", R"({"jsonrpc":"2.0","id":1,"method":"ping"})", unanswered, {}},
      {"1", notification, unanswered, {}},
  };
  for (const MatchCase& c : cases) {
    Reading reading(context_for(c.request_id));
    reading.head(200, sse_type).body(event_of(c.data)).finish();
    CAPTURE(c.request_id, c.data);
    CHECK(reading.verdict() == c.verdict);
    std::vector<WarningKind> kinds;
    for (const Warning& warning : reading.sink.warnings) kinds.push_back(warning.kind);
    CHECK(kinds == c.warnings);
    REQUIRE(reading.sink.events.size() == 1);
    CHECK(reading.sink.events[0].is_response() == (c.verdict == "stream; answered"));
    CHECK(reading.sink.events[0].message() != nullptr);
  }
}

TEST_CASE("the id may change its type in a JSON body, with a warning") {
  Reading reading;
  reading.head(200, json_type).body(result_for("\"1\"")).finish();
  REQUIRE(reading.sink.warnings.size() == 1);
  CHECK(reading.sink.warnings[0].kind == WarningKind::id_type_changed);
}

TEST_CASE("a foreign response is skipped and the real one still found") {
  CHECK(handed_out(event_of(result_for("2")) + event_of(answer)) ==
        lines({"warning foreign_message", "message message '" + result_for("2") + "' under ",
               "response message '" + answer + "' under ", "stream; answered"}));
}

TEST_CASE("a malformed event is warned of, and names the error only if no response follows") {
  struct FaultCase {
    std::string data;
    std::string code;
  };
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  const std::vector<FaultCase> cases = {
      {"{", "malformed_json"},
      {"not json", "malformed_json"},
      {"\"\xFF\"", "malformed_json"},
      {"{}", "malformed_message"},
      {"[" + answer + "]", "malformed_message"},
      {R"({"jsonrpc":"2.0","id":1,"id":1,"result":{}})", "malformed_message"},
      {R"({"jsonrpc":"2.0","id":1,"result":)" + deep + "}", "json_too_deep"},
  };
  for (const FaultCase& c : cases) {
    CAPTURE(c.data);
    const std::string event = "event message '" + c.data + "' under ";
    CHECK(handed_out(event_of(c.data)) ==
          lines({"warning malformed_event", event, "stream; unanswered " + c.code}));
    CHECK(handed_out(event_of(c.data) + event_of(answer)) ==
          lines({"warning malformed_event", event, "response message '" + answer + "' under ",
                 "stream; answered"}));
  }
}

TEST_CASE("the first of several faults names the error, and each is warned of") {
  const std::string text = handed_out(event_of("{}") + event_of("{"));
  CHECK(text.find("unanswered malformed_message") != std::string::npos);
  CHECK(stream(context_for(), event_of("{}") + event_of("{")).sink.warnings.size() == 2);
}

TEST_CASE("a fault says where it was and whether the request may have been carried out") {
  Reading reading;
  reading.head(200, sse_type).body(event_of(notification) + event_of("{")).finish();
  REQUIRE(reading.sink.warnings.size() == 1);
  CHECK(reading.sink.warnings[0].text.find("event 2") != std::string::npos);
  CHECK(reading.error().delivery == Delivery::unknown);
  CHECK(reading.error().http_status == 200);
}

TEST_CASE("the unfinished last event is taken if it is the response and the end was clean") {
  struct RescueCase {
    std::string tail;
    bool rescued;
  };
  const std::vector<RescueCase> cases = {
      {"data: " + answer, true},
      {"data: " + answer + "\n", true},
      {"data: " + answer + "\r", true},
      {"data:" + answer, true},
      {"event: message\ndata: " + answer, true},
      {"id: 3\ndata: " + answer + "\n: comment", true},
      {"data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}", true},
      {"data: " + error_for("1"), true},
      {"data: " + error_for("null"), true},
      {"data: " + result_for("\"1\""), true},
      {"data: " + result_for("2"), false},
      {"data: " + notification, false},
      {"data: " + answer.substr(0, answer.size() - 1), false},
      {"event: x\ndata: " + answer, false},
      {"data:", false},
      {"dat", false},
      {"", false},
  };
  for (const RescueCase& c : cases) {
    Reading clean;
    clean.head(200, sse_type).body(event_of(notification) + c.tail).finish();
    CAPTURE(c.tail);
    CHECK(clean.verdict() == (c.rescued ? "stream; answered" : unanswered));
    CHECK(clean.sink.messages.size() == (c.rescued ? 1 : 0));
    CHECK(clean.sink.events.size() == 1);
    bool warned = false;
    for (const Warning& warning : clean.sink.warnings)
      warned = warned || warning.kind == WarningKind::unterminated_event;
    CHECK(warned == c.rescued);

    Reading cut;
    cut.head(200, sse_type).body(event_of(notification) + c.tail);
    cut.reader.finish_broken(broken(ErrorCode::body_truncated));
    CHECK(cut.verdict() == unanswered + " <- body_truncated");
    CHECK(cut.sink.messages.empty());
  }
}

TEST_CASE("a rescued message is bounded in depth and counts no event") {
  ReaderContext context = context_for();
  context.limits.max_json_depth = 1;
  Reading reading(context);
  reading.head(200, sse_type).body("data: " + answer).finish();
  CHECK(reading.verdict() == unanswered);
  Reading rescued;
  rescued.head(200, sse_type).body("data: " + answer).finish();
  CHECK(rescued.reader.events() == 0);
  REQUIRE(rescued.sink.messages.size() == 1);
  CHECK(rescued.sink.messages[0].json() == answer);
}

TEST_CASE("a pause stops behind the event that asked for it") {
  const std::string first = event_of(notification);
  const std::string whole = first + event_of(notification) + event_of(answer);
  Reading reading;
  reading.sink.flow = [] { return Flow::pause; };
  reading.head(200, sse_type);
  const auto [consumed, flow] = reading.reader.read_body(whole);
  CHECK(consumed == first.size());
  CHECK(flow == Flow::pause);
  CHECK(reading.sink.events.size() == 1);
  CHECK(reading.reader.body_bytes() == first.size());
  reading.body(whole.substr(consumed));
  CHECK(reading.verdict() == "stream; answered");
  CHECK(reading.sink.events.size() == 3);
  CHECK(reading.pauses() == 1);  // the response ends the reading, paused or not
  CHECK(reading.reader.body_bytes() == whole.size());
}

TEST_CASE("a pause is asked for by single events too") {
  const std::string whole =
      event_of("") + event_of(notification) + event_of("{") + event_of(notification);
  std::size_t asked = 0;
  Reading every;
  every.sink.flow = [&asked] { return ++asked % 2 == 0 ? Flow::pause : Flow::proceed; };
  every.head(200, sse_type).body(whole).finish();
  Reading never;
  never.head(200, sse_type).body(whole).finish();
  CHECK(every.transcript() == never.transcript());
  CHECK(every.pauses() == 2);
  CHECK(every.consumed() == whole.size());
}

TEST_CASE("a stream may end while it is paused") {
  Reading reading;
  reading.sink.flow = [] { return Flow::pause; };
  reading.head(200, sse_type);
  const std::string body = event_of(notification);
  CHECK(reading.reader.read_body(body).bytes == body.size());
  reading.reader.finish_broken(broken(ErrorCode::timeout_total));
  CHECK(reading.verdict() == "stream; failed timeout_total");
}

TEST_CASE("the data of an event is handed out byte for byte") {
  const std::string raw = R"( {"jsonrpc" : "2.0" , "id":1,"result":"\ud800 \u00e4"} )";
  Reading reading;
  reading.head(200, sse_type).body("data: " + raw + "\n\n");
  REQUIRE(reading.sink.events.size() == 1);
  CHECK(reading.sink.events[0].data() == raw);
  Reading body;
  body.head(200, json_type).body(raw).finish();
  REQUIRE(body.sink.messages.size() == 1);
  CHECK(body.sink.messages[0].json() == raw);
}
