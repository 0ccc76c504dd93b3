#include <mcphttp/response.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mcphttp/sse_parser.hpp>

using namespace mcphttp;

namespace {

class Collector final : public SseSink {
 public:
  Flow on_event(const SseEvent& event) override {
    events.emplace_back(Event::Parts{std::string(event.type), std::string(event.data),
                                     std::string(event.last_event_id), event.has_id, event.retry});
    return Flow::proceed;
  }
  std::vector<Event> events;
};

// The events of a stream; `id` is in force when it begins.
std::vector<Event> parse(const std::string& text, const std::string& id) {
  SseParserOptions options;
  options.last_event_id = id;
  SseParser parser(options);
  Collector collector;
  const SseParser::FeedResult result = parser.feed(text, collector);
  CHECK(result.status == SseParser::Status::ok);
  return std::move(collector.events);
}

void check_frame(const Event& event) {
  const std::string before = event.has_id() ? "earlier" : std::string(event.last_event_id());
  const std::string frame = event.frame();
  CAPTURE(frame);
  const std::vector<Event> again = parse(frame, before);
  REQUIRE(again.size() == 1);
  CHECK(again[0].type() == event.type());
  CHECK(again[0].data() == event.data());
  CHECK(again[0].last_event_id() == event.last_event_id());
  CHECK(again[0].has_id() == event.has_id());
  CHECK(again[0].retry() == event.retry());
  CHECK(again[0].frame() == frame);
}

Message parse_message(const std::string& text) {
  auto message = Message::parse(text);
  REQUIRE(message);
  return std::move(*message);
}

}  // namespace

TEST_CASE("the frame of an event re-parses to the same event") {
  const std::vector<std::string> types = {"", "message", "x", " x ", ":x", "data", "\xC3\xA4"};
  const std::vector<std::string> data = {"",
                                         "a",
                                         " a",
                                         ":",
                                         "\n",
                                         "\n\n",
                                         "a\nb",
                                         "\na",
                                         "a\n",
                                         "a\n\nb\n\n",
                                         "data: x",
                                         "id: 1",
                                         ": c",
                                         "\xEF\xBB\xBF",
                                         "\t",
                                         "\xFF",
                                         "  {\"a\": 1}  ",
                                         "x: y\nevent: z",
                                         std::string("\0", 1)};
  const std::vector<std::pair<std::string, bool>> ids = {{"", false}, {"7", false}, {"", true},
                                                         {"7", true}, {" 7", true}, {"a:b", true}};
  const std::vector<std::optional<std::uint64_t>> retries = {std::nullopt, 0, 1500,
                                                             18446744073709551615U};
  for (const std::string& type : types) {
    for (const std::string& text : data) {
      for (const auto& [id, has_id] : ids) {
        for (const auto& retry : retries) {
          check_frame(Event(Event::Parts{type, text, id, has_id, retry}));
        }
      }
    }
  }
}

TEST_CASE("events that were parsed survive framing, whatever their line ends") {
  const std::string stream =
      "\xEF\xBB\xBF: c\r\nid: 1\r\ndata: a\rdata:b\ndata\n\n"
      "event: x\ndata:  two spaces\n\n"
      "id\nretry: 00012\ndata: \n\n"
      "retry: 99999999999999999999999\ndata: big\r\r";
  const std::vector<Event> events = parse(stream, "0");
  REQUIRE(events.size() == 4);
  for (const Event& event : events) check_frame(event);

  std::string relayed;
  for (const Event& event : events) relayed += event.frame();
  const std::vector<Event> again = parse(relayed, "0");
  REQUIRE(again.size() == events.size());
  for (std::size_t i = 0; i < again.size(); ++i) CHECK(again[i].frame() == events[i].frame());
}

TEST_CASE("no part of an event that was put together can break out of its place in the frame") {
  const std::string bad = GENERATE(as<std::string>(), "\n", "\r", "\r\n", "\n\n", "a\n", "\na",
                                   "a\r\rdata: forged\n\ndata: more\nid: 8\n\n");
  CAPTURE(bad);
  const std::vector<Event> typed = parse(Event({bad, "x", "7", true, {}}).frame(), "");
  REQUIRE(typed.size() == 1);
  std::string spaced = bad;
  for (char& c : spaced) c = c == '\r' || c == '\n' ? ' ' : c;
  CHECK(typed[0].type() == spaced);
  CHECK(typed[0].data() == "x");
  CHECK(typed[0].last_event_id() == "7");

  for (const std::string& id : {bad, std::string("i\0", 2)}) {
    const std::vector<Event> identified = parse(Event({"", "x", id, true, {}}).frame(), "earlier");
    REQUIRE(identified.size() == 1);
    CHECK(identified[0].data() == "x");
    CHECK(identified[0].last_event_id() == "earlier");
    CHECK_FALSE(identified[0].has_id());
  }

  const Event comment({"", bad, "", false, {}, Event::Kind::comment});
  CHECK(parse(comment.frame() + "data: x\n\n", "").size() == 1);
  CHECK(parse(comment.frame() + "data: x\n\n", "").front().data() == "x");
  const Event block({bad, "", bad, true, 5, Event::Kind::block});
  CHECK(parse(block.frame(), "").empty());
}

TEST_CASE("the lines of a comment that was put together are comments each") {
  CHECK(Event({"", " a\nb\r\n\rc", "", false, {}, Event::Kind::comment}).frame() ==
        ": a\n:b\n:\n:c\n\n");
  CHECK(Event({"", "", "", false, {}, Event::Kind::comment}).frame() == ":\n\n");
}

TEST_CASE("a frame holds nothing that the event did not have") {
  CHECK(Event(Event::Parts{"", "a", "7", false, std::nullopt}).frame() == "data: a\n\n");
  CHECK(Event(Event::Parts{"message", "a\nb", "7", true, 5}).frame() ==
        "id: 7\nretry: 5\ndata: a\ndata: b\n\n");
  CHECK(Event(Event::Parts{"x", "", "", true, std::nullopt}).frame() ==
        "event: x\nid: \ndata: \n\n");
}

TEST_CASE("an event with a message frames and shows the message's text") {
  const std::string text = R"({"jsonrpc":"2.0", "id":1,"result":{}})";
  Event event(Event::Parts{"", "", "9", true, std::nullopt}, parse_message(text), true);
  check_frame(event);
  CHECK(event.data() == text);
  CHECK(event.type() == "message");
  CHECK(event.is_response());
  REQUIRE(event.message() != nullptr);
  CHECK(event.message()->id() == "1");
  auto taken = std::move(event).take_message();
  REQUIRE(taken);
  CHECK(taken->json() == text);
}

TEST_CASE("a replaced message keeps the event's id, type and retry") {
  Event event(Event::Parts{"", "", "9", true, 5},
              parse_message(R"({"jsonrpc":"2.0","method":"n"})"), false);
  event.replace_message(parse_message(R"({"jsonrpc":"2.0","method":"m"})"));
  check_frame(event);
  CHECK(event.frame() == "id: 9\nretry: 5\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n");
  REQUIRE(event.message() != nullptr);
  CHECK(event.message()->method() == "m");
  CHECK_FALSE(event.is_response());
}

TEST_CASE("line ends in a replaced message cannot break the frame") {
  for (const std::string text :
       {"{\"jsonrpc\":\"2.0\",\r\"method\":\"m\"}", "{\"jsonrpc\":\"2.0\",\r\n\"method\":\"m\"}",
        "\r{\"jsonrpc\":\"2.0\",\n\r\"method\":\"m\"}\r\n"}) {
    Event event(Event::Parts{});
    event.replace_message(parse_message(text));
    const std::vector<Event> again = parse(event.frame(), "");
    REQUIRE(again.size() == 1);
    CHECK(parse_message(std::string(again[0].data())).method() == "m");
  }
}

TEST_CASE("blocks and comments are framed as what they are") {
  using Kind = Event::Kind;
  CHECK(Event(Event::Parts{"", "", "7", true, 5, Kind::block}).frame() == "id: 7\nretry: 5\n\n");
  CHECK(Event(Event::Parts{"x", "", "7", false, {}, Kind::block}).frame() == "event: x\n\n");
  CHECK(Event(Event::Parts{"", " alive", "", false, {}, Kind::comment}).frame() == ": alive\n\n");
  CHECK(Event(Event::Parts{"", "", "", false, {}, Kind::comment}).frame() == ":\n\n");
}

TEST_CASE("an event without a message has none to take") {
  Event event(Event::Parts{"", "x", "", false, std::nullopt});
  CHECK(event.message() == nullptr);
  CHECK_FALSE(event.is_response());
  CHECK_FALSE(std::move(event).take_message());
}

TEST_CASE("a retry beyond what milliseconds hold is the longest there is") {
  const auto retry = [](std::optional<std::uint64_t> value) {
    return Event(Event::Parts{"", "", "", false, value}).retry();
  };
  CHECK(retry(std::nullopt) == std::nullopt);
  CHECK(retry(0) == std::chrono::milliseconds(0));
  CHECK(retry(2500) == std::chrono::milliseconds(2500));
  CHECK(retry(9223372036854775807U) == std::chrono::milliseconds::max());
  CHECK(retry(18446744073709551615U) == std::chrono::milliseconds::max());
}

TEST_CASE("a header is found without regard to case, the first of several") {
  ResponseHead head;
  head.headers = {{"X-One", "1"}, {"x-two", "2"}, {"X-ONE", "3"}, {"X-Empty", ""}};
  const auto found = [&head](std::string_view name) -> std::string {
    const std::string* value = head.find(name);
    return value ? *value : "none";
  };
  CHECK(found("x-one") == "1");
  CHECK(found("X-TWO") == "2");
  CHECK(found("X-Empty").empty());
  CHECK(found("X-On") == "none");
  CHECK(found("X-One ") == "none");
  CHECK(found("") == "none");
  CHECK(ResponseHead().find("X-One") == nullptr);
}
