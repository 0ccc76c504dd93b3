// Batches: several messages in one array, which only MCP 2025-03-26 knows.
#include <catch2/catch.hpp>

#include <string>

#include "unit/response_reader_harness.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

const std::string answer = result_for("1");
const std::string foreign = result_for("2");

ReaderContext batches() {
  ReaderContext context = context_for();
  context.takes_batches = true;
  return context;
}

std::string array(const std::vector<std::string>& messages) {
  std::string out = "[";
  for (const std::string& message : messages) out.append(out == "[" ? "" : ",").append(message);
  return out.append("]");
}

std::string body_of(const std::string& body, ReaderContext context = batches()) {
  Reading reading(std::move(context));
  return reading.head(200, json_type).body(body).finish().transcript();
}

std::string events(const std::string& body, ReaderContext context = batches()) {
  Reading reading(std::move(context));
  const std::string text = reading.head(200, sse_type).body(body).finish().transcript();
  return text.substr(text.find('\n') + 1);
}

}  // namespace

TEST_CASE("the messages of a batch are handed out in order, the answer last") {
  const std::string handed_out =
      "head message\nbody " + notification + "\nbody " + answer + "\nmessage; answered";
  CHECK(body_of(array({notification, answer})) == handed_out);
  CHECK(body_of(array({answer, notification})) == handed_out);
  CHECK(body_of(array({foreign, answer, notification})) == handed_out);
  CHECK(body_of(answer) == "head message\nbody " + answer + "\nmessage; answered");
}

TEST_CASE("a batch without the answer is none") {
  CHECK(body_of(array({notification})) == "head message\nmessage; failed malformed_message");
  CHECK(body_of(array({notification, foreign})) == "head message\nmessage; failed id_mismatch");
  CHECK(body_of("[]") == "head message\nmessage; failed malformed_message");
}

TEST_CASE(
    "a batch in an event becomes one event for each message; id and retry stand in the first") {
  const std::string body =
      "id: a\nretry: 5\ndata: " + array({answer, notification, notification}) + "\n\n";
  CHECK(events(body) == "message message '" + notification + "' id a retry 5\n" +
                            "message message '" + notification + "' under a\n" +
                            "response message '" + answer + "' under a\nstream; answered");
}

TEST_CASE("more than 1,000 messages are too many") {
  std::vector<std::string> many(999, notification);
  many.push_back(answer);
  CHECK(body_of(array(many)).find("message; answered") != std::string::npos);
  many.push_back(notification);
  CHECK(body_of(array(many)) == "head message\nmessage; failed malformed_message");
}

TEST_CASE("one bad message makes the batch bad") {
  CHECK(body_of(array({answer, "1"})) == "head message\nmessage; failed malformed_message");
  CHECK(events(event_of(array({notification, "{}"})) + event_of(answer)) ==
        "warning malformed_event\nevent message '" + array({notification, "{}"}) + "' under \n" +
            "response message '" + answer + "' under \nstream; answered");
}

TEST_CASE("a refusal may stand in a batch") {
  Reading reading(batches());
  reading.head(400, json_type).body(array({error_for("1")})).finish();
  CHECK(reading.verdict() == "message; answered");
}

TEST_CASE("other revisions know no batches") {
  CHECK(body_of(array({answer}), context_for()) ==
        "head message\nmessage; failed malformed_message");
  CHECK(events(event_of(array({answer})), context_for()).find("malformed_event") !=
        std::string::npos);
}

TEST_CASE("an event that the sink knows already is passed over whole") {
  class Knowing final : public ResponseSink {
   public:
    void on_head(ResponseHead&& /*head*/) override {}
    bool is_replay(std::string_view id) override { return id == "old"; }
    Flow on_event(Event&& /*event*/) override {
      ++events;
      return Flow::proceed;
    }
    void on_message(Message&& /*message*/) override {}
    Flow on_body(std::string&& /*piece*/) override { return Flow::proceed; }
    void on_warning(Warning&& /*warning*/) override {}
    int events = 0;
  };
  json::Checker checker;
  Knowing sink;
  ResponseReader reader(batches(), checker, sink);
  for (const std::string line :
       {"HTTP/1.1 200 OK\r\n", "Content-Type: text/event-stream\r\n", "\r\n"})
    reader.read_header_line(line);
  reader.read_body("id: old\ndata: " + array({notification, notification}) + "\n\n");
  CHECK(sink.events == 0);
  reader.read_body("id: new\ndata: " + array({notification, notification}) + "\n\n");
  CHECK(sink.events == 2);
}
