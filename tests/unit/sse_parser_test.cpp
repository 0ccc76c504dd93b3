#include <mcphttp/sse_parser.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <random>

#include "support/memory.hpp"
#include "support/splits.hpp"
#include "support/sse_oracle.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::string_literals;
using namespace std::string_view_literals;

using Status = SseParser::Status;

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// Keeps what it is given and answers with `flow`.
struct Recorder final : SseSink {
  std::vector<OracleEvent> events;
  Flow flow = Flow::proceed;

  Flow on_event(const SseEvent& event) override { return record(event, true); }
  Flow on_block(const SseEvent& block) override { return record(block, false); }

  Flow record(const SseEvent& event, bool has_data) {
    events.push_back({std::string(event.type), std::string(event.data),
                      std::string(event.last_event_id), has_data, event.has_id, event.retry});
    return flow;
  }

  std::vector<std::string> data() const {
    std::vector<std::string> values;
    for (const OracleEvent& event : events) values.push_back(event.data);
    return values;
  }
};

// Looks at nothing and keeps nothing.
struct Counter final : SseSink {
  std::size_t events = 0;

  Flow on_event(const SseEvent& /*event*/) override {
    ++events;
    return Flow::proceed;
  }
};

SseParser parser_with(std::size_t max_event_size, std::string last_event_id = {}) {
  SseParserOptions options;
  options.max_event_size = max_event_size;
  options.last_event_id = std::move(last_event_id);
  return SseParser(std::move(options));
}

struct Run {
  OracleResult result;
  std::size_t consumed = 0;

  bool operator==(const Run&) const = default;
};

Run run(const Pieces& pieces, std::size_t max_event_size = no_limit) {
  SseParser parser = parser_with(max_event_size);
  Recorder recorder;
  Run outcome;
  for (const std::string_view piece : pieces) {
    const SseParser::FeedResult fed = parser.feed(piece, recorder);
    outcome.consumed += fed.consumed;
    outcome.result.too_large = fed.status == Status::event_too_large;
  }
  outcome.result.events = std::move(recorder.events);
  outcome.result.last_id = parser.last_event_id();
  outcome.result.retry = parser.retry();
  return outcome;
}

Run run(std::string_view stream, std::size_t max_event_size = no_limit) {
  return run(Pieces{stream}, max_event_size);
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// The shortest prefix over the limit, by the oracle; the whole size if there is none.
std::size_t oracle_consumed(std::string_view stream, std::size_t max_event_size) {
  std::size_t size = 0;
  while (size < stream.size() && !sse_oracle(stream.substr(0, size), max_event_size).too_large)
    ++size;
  return size;
}

// Plain comparisons: one of Catch's assertions costs more than a run.
bool agrees_with_oracle(std::string_view stream, std::size_t max_event_size) {
  const Run whole = run(stream, max_event_size);
  return whole.result == sse_oracle(stream, max_event_size) &&
         run(cut_every(stream, 1), max_event_size) == whole;
}

bool agrees_at_every_split(std::string_view stream, std::size_t max_event_size) {
  const Run whole = run(stream, max_event_size);
  bool same = agrees_with_oracle(stream, max_event_size) &&
              whole.consumed == oracle_consumed(stream, max_event_size);
  for_each_split(
      stream, [&](const Pieces& pieces) { same = same && run(pieces, max_event_size) == whole; });
  return same;
}

const std::vector<std::string> tokens = {"data", "id", "event", "retry", ":", " ",
                                         "\r",   "\n", "x",     "\0"s,   "7", "\xEF\xBB\xBF"};

const std::vector<std::string> lines = {
    "data: x", "data", "data:{}", "id: 1", "id", "id: a\0b"s, "event:e", "retry: 7", ": hello",
    "datab",   "da",   "event",   "",      "",   "",          "foo:x",   "retry: x", "\xEF\xBB"};

const std::vector<std::string> line_ends = {"\n", "\n", "\r", "\r\n"};

// Calls check for each stream of exactly `length` tokens.
void for_each_stream(std::size_t length, const std::function<void(const std::string&)>& check) {
  std::vector<std::size_t> choice(length, 0);
  for (std::size_t at = 0; at < length;) {
    std::string stream;
    for (const std::size_t index : choice) stream += tokens[index];
    check(stream);
    for (at = 0; at < length && ++choice[at] == tokens.size(); ++at) choice[at] = 0;
  }
}

class RandomStreams {
 public:
  std::string of_tokens(std::size_t length) {
    std::string stream;
    for (std::size_t i = 0; i < length; ++i) stream += one_of(tokens);
    return stream;
  }

  std::string of_lines(std::size_t length) {
    std::string stream;
    for (std::size_t i = 0; i < length; ++i) stream += one_of(lines) + one_of(line_ends);
    return stream;
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
  const std::string& one_of(const std::vector<std::string>& choices) {
    return choices[below(choices.size())];
  }

  std::mt19937 random_{20240607};
};

}  // namespace

TEST_CASE("every short stream is read as the standard says, at every split") {
  std::size_t checked = 0;
  for (std::size_t length = 1; length <= 4; ++length) {
    for_each_stream(length, [&checked](const std::string& stream) {
      for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{3}, no_limit}) {
        if (!agrees_at_every_split(stream, limit))
          FAIL(Catch::StringMaker<std::string>::convert(stream));
      }
      ++checked;
    });
  }
  CHECK(checked == 12 + 144 + 1728 + 20736);
}

TEST_CASE("every stream of up to six tokens is read as the standard says, whole and byte by byte") {
  std::size_t checked = 0;
  const std::size_t longest = built_with_sanitizers() ? 5 : 6;
  for (std::size_t length = 5; length <= longest; ++length) {
    for_each_stream(length, [&checked](const std::string& stream) {
      const std::size_t limit = checked % 5 == 4 ? no_limit : checked % 5;
      if (!agrees_with_oracle(stream, limit))
        FAIL(Catch::StringMaker<std::string>::convert(stream));
      ++checked;
    });
  }
  CHECK(checked == 248832 + (longest == 6 ? 2985984 : 0));
}

TEST_CASE("long random streams are read as the standard says, at every split") {
  RandomStreams random;
  for (int i = 0; i < 1500; ++i) {
    const std::string stream =
        i % 2 == 0 ? random.of_lines(random.below(20)) : random.of_tokens(random.below(40));
    const std::size_t limit = i % 3 == 0 ? random.below(12) : no_limit;
    INFO("limit " << limit);
    if (!agrees_at_every_split(stream, limit))
      FAIL(Catch::StringMaker<std::string>::convert(stream));
  }
}

TEST_CASE("a long line is searched to its end, whichever character ends it") {
  for (const std::size_t size : {7U, 8U, 9U, 63U, 64U, 65U, 1000U, 70000U}) {
    for (const std::string_view end : {"\n"sv, "\r"sv, "\r\n"sv}) {
      const std::string value(size, 'v');
      const std::string stream = "data: " + value + std::string(end) + "data:" + value +
                                 std::string(end) + std::string(end) + "data: next\n\n";
      CHECK(run(stream).result == sse_oracle(stream, no_limit));
    }
  }
}

TEST_CASE("an event whose only data line lies in one feed is handed out from there") {
  struct Sink final : SseSink {
    std::string_view data;
    Flow on_event(const SseEvent& event) override {
      data = event.data;
      return Flow::proceed;
    }
  } sink;
  const std::string stream = "event: message\r\nid: 1\r\ndata: payload\r\n\r\n";
  SseParser parser;
  CHECK(parser.feed(stream, sink).status == Status::ok);
  CHECK(sink.data.data() == stream.data() + stream.find("payload"));
  CHECK(sink.data.size() == 7);
}

TEST_CASE("the bytes fed need not outlive the call") {
  SseParser parser;
  Recorder sink;
  for (std::string piece : {"event: e\nid: 1\n", "data: first\n", "data: second\n", "\n"}) {
    CHECK(parser.feed(piece, sink).status == Status::ok);
    std::fill(piece.begin(), piece.end(), '!');
  }
  for (std::string piece : {"data: alone\n", "\n"}) {
    CHECK(parser.feed(piece, sink).status == Status::ok);
    std::fill(piece.begin(), piece.end(), '!');
  }
  CHECK(sink.data() == std::vector<std::string>{"first\nsecond", "alone"});
}

TEST_CASE("an id is adopted with its block and not before") {
  SseParser parser = parser_with(no_limit, "old");
  Recorder sink;
  CHECK(parser.feed("id: new\ndata: a\n", sink).status == Status::ok);
  CHECK(parser.last_event_id() == "old");
  CHECK(parser.feed("\n", sink).status == Status::ok);
  CHECK(parser.last_event_id() == "new");
  CHECK(sink.events.front().id == "new");
}

TEST_CASE("a block without data is told apart from an event") {
  const std::vector<OracleEvent> blocks =
      run("id: 1\n\nretry: 5\n\nevent: e\n\n: c\n\nretry: x\n\nid: \0\n\ndata\n\n"sv).result.events;
  REQUIRE(blocks.size() == 4);
  CHECK(blocks[0] == OracleEvent{"message", "", "1", false, true, {}});
  CHECK(blocks[1] == OracleEvent{"message", "", "1", false, false, 5});
  CHECK(blocks[2] == OracleEvent{"e", "", "1", false, false, {}});
  CHECK(blocks[3] == OracleEvent{"message", "", "1", true, false, {}});
}

TEST_CASE("a sink that does not ask for blocks gets events only") {
  SseParser parser;
  Counter sink;
  CHECK(parser.feed("id: 1\n\ndata: x\n\n", sink).status == Status::ok);
  CHECK(sink.events == 1);
  CHECK(parser.last_event_id() == "1");
}

TEST_CASE("a retry line is valid if it is digits only, and the last valid one counts") {
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  struct {
    std::string_view stream;
    std::optional<std::uint64_t> retry;
  } const cases[] = {
      {"retry: 10\n", 10},
      {"retry:0\n", 0},
      {"retry: 10\nretry: 20\nretry: x\n", 20},
      {"retry: 007\n", 7},
      {"retry: 18446744073709551615\n", largest},
      {"retry: 18446744073709551616\n", largest},
      {"retry: 99999999999999999999999999\n", largest},
      {"retry: 10", {}},
      {"retry\n", {}},
      {"retry:\n", {}},
      {"retry:  1\n", {}},
      {"retry: -1\n", {}},
      {"retry: 1 \n", {}},
      {"retry: 1x2\n", {}},
  };
  for (const auto& test : cases) {
    INFO(test.stream);
    CHECK(run(test.stream).result.retry == test.retry);
    CHECK(run(cut_every(test.stream, 1)).result.retry == test.retry);
  }
}

TEST_CASE("pausing after every block and going on gives the same events") {
  RandomStreams random;
  for (int i = 0; i < 300; ++i) {
    const std::string stream = random.of_lines(12);
    SseParser parser;
    Recorder sink;
    sink.flow = Flow::pause;
    std::string_view rest = stream;
    std::size_t pauses = 0;
    for (SseParser::FeedResult fed = parser.feed(rest, sink); fed.status != Status::ok;
         fed = parser.feed(rest, sink)) {
      REQUIRE(fed.status == Status::paused);
      REQUIRE(sink.events.size() == ++pauses);
      rest.remove_prefix(fed.consumed);
    }
    REQUIRE(sink.events == sse_oracle(stream, no_limit).events);
    REQUIRE(sink.events.size() == pauses);
  }
}

TEST_CASE("a pause consumes up to the end of the block") {
  SseParser parser;
  Recorder sink;
  sink.flow = Flow::pause;
  const SseParser::FeedResult fed = parser.feed("data: a\n\ndata: b\n\n", sink);
  CHECK(fed.consumed == 9);
  CHECK(sink.data() == std::vector<std::string>{"a"});
}

TEST_CASE("a cancel stops after the event that was answered with it") {
  SseParser parser;
  Recorder sink;
  sink.flow = Flow::cancel;
  const SseParser::FeedResult fed = parser.feed("data: a\n\ndata: b\n\n", sink);
  CHECK(fed.status == Status::cancelled);
  CHECK(fed.consumed == 9);
  CHECK(sink.data() == std::vector<std::string>{"a"});
}

TEST_CASE("nothing of a cut stream leaks into the next one") {
  for (const std::string_view cut :
       {"\xEF\xBB"sv, "da"sv, "data"sv, "data:"sv, "data: half"sv, "data: half\n"sv,
        "data: half\r"sv, "event: e\n"sv, "event: e"sv, "id: lost\n"sv, "id: lo"sv, "retry: 1"sv,
        ": comm"sv, "foo"sv}) {
    INFO(cut);
    SseParser parser;
    Recorder sink;
    CHECK(parser.feed("id: 1\ndata: before\n\n", sink).status == Status::ok);
    CHECK(parser.feed(cut, sink).status == Status::ok);
    parser.reset(std::string(parser.last_event_id()));
    CHECK(parser.feed("\xEF\xBB\xBF\ndata: after\n\n", sink).status == Status::ok);
    REQUIRE(sink.data() == std::vector<std::string>{"before", "after"});
    CHECK(sink.events[1] == OracleEvent{"message", "after", "1", true, false, {}});
    CHECK_FALSE(parser.retry());
  }
}

TEST_CASE("reset keeps the reconnection time and takes the id it is given") {
  SseParser parser;
  Recorder sink;
  CHECK(parser.feed("retry: 7\nid: 1\n\n", sink).status == Status::ok);
  parser.reset("2");
  CHECK(parser.last_event_id() == "2");
  CHECK(parser.retry() == std::optional<std::uint64_t>(7));
}

TEST_CASE("a parser can be moved in the middle of an event") {
  SseParser first;
  Recorder sink;
  CHECK(first.feed("event: e\nid: 1\ndata: a", sink).status == Status::ok);
  SseParser second = std::move(first);
  CHECK(second.feed("b\n\n", sink).status == Status::ok);
  CHECK(sink.events == std::vector<OracleEvent>{{"e", "ab", "1", true, true, {}}});
}

TEST_CASE("an unfinished event is what a blank line would have dispatched") {
  RandomStreams random;
  for (int i = 0; i < 2000; ++i) {
    std::string stream = random.of_lines(random.below(5)) + random.of_tokens(random.below(6));
    const OracleResult now = sse_oracle(stream, no_limit);
    std::vector<OracleEvent> later = sse_oracle(stream + "\n\n", no_limit).events;
    later.erase(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(now.events.size()));

    SseParser parser;
    Recorder sink;
    REQUIRE(parser.feed(stream, sink).status == Status::ok);
    const std::optional<SseUnfinishedEvent> unfinished = parser.take_unfinished();
    const bool expected = !later.empty() && later.front().has_data;
    CAPTURE(stream);
    REQUIRE(unfinished.has_value() == expected);
    if (expected) {
      REQUIRE(unfinished->data == later.front().data);
      REQUIRE(unfinished->type == later.front().type);
    }
    REQUIRE(sink.events == now.events);
    REQUIRE(parser.last_event_id() == now.last_id);
    REQUIRE(parser.retry() == now.retry);
    REQUIRE_FALSE(parser.take_unfinished());
  }
}

TEST_CASE("an unfinished id or retry line has no effect on what comes after") {
  for (const std::string_view last : {"id: 2", "id: 2\n", "retry: 5"}) {
    INFO(last);
    SseParser parser = parser_with(no_limit, "1");
    Recorder sink;
    CHECK(parser.feed("data: x\n" + std::string(last), sink).status == Status::ok);
    REQUIRE(parser.take_unfinished());
    CHECK(parser.last_event_id() == "1");
    CHECK_FALSE(parser.retry());
  }
}

namespace {

// Streams whose first block counts `size` bytes where it counts most. `size` is at least 10.
struct LimitCase {
  const char* title;
  std::string (*stream)(std::size_t size);
};

const LimitCase limit_cases[] = {
    {"one data line", [](std::size_t size) { return "data: " + std::string(size, 'x') + "\n\n"; }},
    {"an unfinished data line", [](std::size_t size) { return "data: " + std::string(size, 'x'); }},
    {"many empty data lines", [](std::size_t size) { return repeat("data:\n", size + 1) + "\n"; }},
    {"a last data line without a colon",
     [](std::size_t size) { return repeat("data\r\n", size + 1) + "\r\n"; }},
    {"an event name",
     [](std::size_t size) { return "event: " + std::string(size, 'x') + "\ndata:\n\n"; }},
    {"an unfinished event name",
     [](std::size_t size) { return "event:" + std::string(size, 'x'); }},
    {"an id", [](std::size_t size) { return "id: " + std::string(size, 'x') + "\ndata:\n\n"; }},
    {"an id that is ignored",
     [](std::size_t size) { return "id: " + std::string(size, '\0') + "\ndata:\n\n"; }},
    {"an unknown line",
     [](std::size_t size) { return "foo:" + std::string(size - 4, 'x') + "\ndata:\n\n"; }},
    {"a line without a colon",
     [](std::size_t size) { return std::string(size, 'd') + "\ndata:\n\n"; }},
    {"a name that goes on",
     [](std::size_t size) { return "data" + std::string(size - 4, 'x') + "\r\r"; }},
    {"a retry line",
     [](std::size_t size) { return "retry: " + std::string(size - 7, '1') + "\n\n"; }},
    {"all values together",
     [](std::size_t size) {
       return "event: 123\nid: 12\ndata: 1\ndata: " + std::string(size - 7, 'x') + "\n\n";
     }},
    {"a value until it is replaced",
     [](std::size_t size) {
       return "event: " + std::string(size - 3, 'x') + "\nevent: abc\ndata: 1234567\n\n";
     }},
    {"an unknown line beside data",
     [](std::size_t size) {
       return "data: 12345\n" + std::string(size - 5, 'x') + "\ndata: 1\n\n";
     }},
};

}  // namespace

TEST_CASE("a block equal to the limit passes") {
  for (const LimitCase& test : limit_cases) {
    for (const std::size_t size : {10U, 1000U}) {
      INFO(test.title);
      const std::string stream = test.stream(size);
      const Run whole = run(stream, size);
      CHECK_FALSE(whole.result.too_large);
      CHECK(whole.consumed == stream.size());
      CHECK(whole.result == sse_oracle(stream, size));
      CHECK(run(cut_every(stream, 1), size) == whole);
    }
  }
}

TEST_CASE("a block one over the limit fails, at the same byte at every split") {
  const std::string before = "data: fits\n\n";
  for (const LimitCase& test : limit_cases) {
    INFO(test.title);
    const std::string stream = before + test.stream(11);
    const Run whole = run(stream, 10);
    CHECK(whole.result.too_large);
    CHECK(whole.result.events.size() == 1);
    CHECK(agrees_at_every_split(stream, 10));
  }
}

TEST_CASE("a block far over the limit fails in one-byte pieces as soon as it is over") {
  for (const LimitCase& test : limit_cases) {
    INFO(test.title);
    const std::string stream = test.stream(100'000);
    const Run bytewise = run(cut_every(stream, 1), 1000);
    CHECK(bytewise.result.too_large);
    CHECK(bytewise.result.events.empty());
    CHECK(bytewise == run(stream, 1000));
  }
}

TEST_CASE("a limit of zero accepts events whose values are empty") {
  CHECK(run("\xEF\xBB\xBF: comment\r\ndata\r\n\r\nid:\nevent: \ndata: \n\n", 0)
            .result.events.size() == 2);
  CHECK(run("data: x", 0).result.too_large);
  CHECK(run("data\ndata\n", 0).result.too_large);
  CHECK(run("dat\n", 0).result.too_large);
  CHECK_FALSE(run("dat", 0).result.too_large);
  CHECK(run("r", 0).result.too_large);
}

TEST_CASE("comments and lines that have ended do not count") {
  const std::string noise = ": " + std::string(5000, 'c') + "\nunknown\nretry: 100\n";
  const Run outcome = run("data: 12\n" + repeat(noise, 100) + "data: 345\n\n", 12);
  CHECK_FALSE(outcome.result.too_large);
  CHECK(outcome.result.events.front().data == "12\n345");
  CHECK(outcome.result.retry == std::optional<std::uint64_t>(100));
}

TEST_CASE("an inherited id does not count") {
  SseParser parser = parser_with(4, "a long id of an earlier connection");
  Recorder sink;
  CHECK(parser.feed("data: 1234\n\n", sink).status == Status::ok);
  CHECK(sink.events.front().id == "a long id of an earlier connection");
}

TEST_CASE("a failure lasts until reset") {
  SseParser parser = parser_with(3);
  Recorder sink;
  CHECK(parser.feed("id: 1\n\ndata: 1234\n\ndata: x\n\n", sink).status == Status::event_too_large);
  const SseParser::FeedResult again = parser.feed("data: x\n\n", sink);
  CHECK(again.status == Status::event_too_large);
  CHECK(again.consumed == 0);
  CHECK(parser.feed({}, sink).status == Status::event_too_large);
  CHECK(parser.last_event_id() == "1");
  parser.reset("1");
  CHECK(parser.feed("data: y\n\n", sink).status == Status::ok);
  CHECK(sink.events.back().data == "y");
}

TEST_CASE("nothing unfinished is taken from a failed stream, which then begins anew") {
  SseParser parser = parser_with(3);
  Recorder sink;
  CHECK(parser.feed("data: 1234", sink).status == Status::event_too_large);
  CHECK_FALSE(parser.take_unfinished());
  CHECK(parser.feed("data: y\n\n", sink).status == Status::ok);
}

// --- Comments

namespace {

// What is handed out, in order; comments only where wanted.
struct Transcript final : SseSink {
  std::vector<std::string> lines;
  Flow flow = Flow::proceed;

  Flow on_event(const SseEvent& event) override { return note("event " + std::string(event.data)); }
  Flow on_block(const SseEvent&) override { return note("block"); }
  Flow on_comment(std::string_view text) override { return note(":" + std::string(text)); }

  Flow note(std::string line) {
    lines.push_back(std::move(line));
    return flow;
  }
};

// Every piece is given again until the parser has taken all of it.
std::vector<std::string> transcript(const Pieces& pieces, bool comments, Flow flow) {
  SseParserOptions options;
  options.comments = comments;
  SseParser parser(options);
  Transcript sink;
  sink.flow = flow;
  for (std::string_view piece : pieces) {
    do {
      piece.remove_prefix(parser.feed(piece, sink).consumed);
    } while (!piece.empty());
  }
  return std::move(sink.lines);
}

}  // namespace

TEST_CASE("comments are handed out where they are wanted, wherever the input is cut") {
  const std::string stream =
      ":\r\n: a\rdata: 1\n:: b\ndata: 2\n\n:c\xFF\n\nid: 7\n\n: data: 3\n\r\n: unfinished";
  const std::vector<std::string> all = {":",      ": a",   ":: b",     "event 1\n2",
                                        ":c\xFF", "block", ": data: 3"};
  const Flow flow = GENERATE(Flow::proceed, Flow::pause);
  bool same = true;
  for_each_split(stream, [&](const Pieces& pieces) {
    same = same && transcript(pieces, true, flow) == all;
    same =
        same && transcript(pieces, false, flow) == std::vector<std::string>{"event 1\n2", "block"};
  });
  CHECK(same);
}

TEST_CASE("a long comment comes in pieces of 4 KiB, and no limit is broken by it") {
  struct Case {
    std::size_t size;
    std::vector<std::size_t> pieces;
  };
  const auto comment = GENERATE(Case{4095, {4095}}, Case{4096, {4096}}, Case{4097, {4096, 1}},
                                Case{8192, {4096, 4096}}, Case{9000, {4096, 4096, 808}});
  const std::string stream = ":" + std::string(comment.size, 'x') + "\ndata: 1\n\n";
  for (const std::size_t size : {stream.size(), std::size_t{4096}, std::size_t{1}}) {
    std::vector<std::size_t> pieces;
    for (const std::string& line : transcript(cut_every(stream, size), true, Flow::pause)) {
      if (line.front() == ':') pieces.push_back(line.size() - 1);
    }
    CHECK(pieces == comment.pieces);
  }
}

TEST_CASE("reset() forgets an unfinished comment") {
  SseParserOptions options;
  options.comments = true;
  SseParser parser(options);
  Transcript sink;
  CHECK(parser.feed(": half", sink).status == Status::ok);
  parser.reset("");
  CHECK(parser.feed(": whole\n", sink).status == Status::ok);
  CHECK(sink.lines == std::vector<std::string>{": whole"});
}
