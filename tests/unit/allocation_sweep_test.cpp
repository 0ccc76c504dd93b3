// Every allocation of the readers fails once, and each again with all that follow it: no abort, no
// leak, and never a wrong answer. A program of its own: it stands before operator new, and before
// the realloc() of the SSE parser (the linker's --wrap, which sanitizers do not mind).
#include <mcphttp/message.hpp>
#include <mcphttp/sse_parser.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "header_reader.hpp"
#include "json.hpp"
#include "message.hpp"
#include "support/replaced_new.hpp"
#include "support/seen.hpp"
#include "support/splits.hpp"
#include "unit/response_reader_harness.hpp"

namespace {

// What happens to the allocations that come.
struct Plan {
  bool armed = false;
  std::size_t successes = 0;  // before the first that fails
  bool lasting = false;       // all that follow fail too
  std::size_t failures = 0;
};
Plan plan;
std::ptrdiff_t blocks = 0;  // from operator new, not given back

bool fails() noexcept {
  if (!plan.armed) return false;
  if (plan.successes > 0) {
    --plan.successes;
    return false;
  }
  if (plan.failures > 0 && !plan.lasting) return false;
  ++plan.failures;
  return true;
}

}  // namespace

void* mcphttp::test::allocate_or_null(std::size_t size) noexcept {
  void* const memory = fails() ? nullptr : std::malloc(size > 0 ? size : 1);
  if (memory != nullptr) ++blocks;
  return memory;
}

void mcphttp::test::release(void* memory) noexcept {
  if (memory != nullptr) --blocks;
  std::free(memory);
}

// NOLINTBEGIN(bugprone-reserved-identifier): the names that --wrap=realloc gives
extern "C" void* __real_realloc(void* memory, std::size_t size);
extern "C" void* __wrap_realloc(void* memory, std::size_t size) {
  return fails() ? nullptr : __real_realloc(memory, size);
}
// NOLINTEND(bugprone-reserved-identifier)

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

// While it lives, allocations fail by a plan.
class Shortage {
 public:
  Shortage(std::size_t successes, bool lasting) { plan = {true, successes, lasting, 0}; }
  ~Shortage() { plan = {}; }
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;
};

// What came of one run.
struct Run {
  bool short_of_memory = false;  // it said so
  std::string result;            // what it read, as text
};

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

// Calls run(shortage) with the n-th allocation failing, for every n, until none does. `run` is to
// call shortage() around what must bear the failure. A run whose allocation failed may have read
// everything all the same; else it says so, and what it read is the beginning of the whole.
using Guarded = std::function<void(const std::function<void()>&)>;
void sweep(const std::function<Run(const Guarded&)>& run) {
  const Run whole = run([](const std::function<void()>& work) { work(); });
  REQUIRE_FALSE(whole.short_of_memory);
  for (const bool lasting : {false, true}) {
    std::size_t failures = 1;
    for (std::size_t n = 0; failures > 0; ++n) {
      const std::ptrdiff_t before = blocks;
      bool complete = false;
      bool named = false;
      bool prefix = false;
      {
        const Run cut = run([&](const std::function<void()>& work) {
          const Shortage shortage(n, lasting);
          work();
          failures = plan.failures;
        });
        named = cut.short_of_memory;
        complete = !named && cut.result == whole.result;
        prefix = named && begins_with(whole.result, cut.result);
      }
      const std::ptrdiff_t after = blocks;
      INFO("allocation " << n << (lasting ? " and all that follow" : ""));
      CHECK(before == after);
      CHECK((complete || prefix));
      if (failures == 0) CHECK(complete);
    }
  }
}

// --- Messages

Run outcome_of(const Result<Message>& message) {
  if (message) return {false, std::string(message->json())};
  return {message.error().code == ErrorCode::out_of_memory,
          message.error().code == ErrorCode::out_of_memory ? "" : message.error().to_string()};
}

const std::vector<std::string> texts = {
    result_for("1"),
    error_for(""),
    "\xEF\xBB\xBF" + result_for("\"an id that no short string holds\""),
    R"({"jsonrpc":"2.0","method":"a\u0062 method that no short string holds","params":{"a":[1]}})",
    R"({"jsonrpc":"2.0","id":1,"result":{"a":[[[[[[[[{"b":"\ud83d\ude00"}]]]]]]]]}})",
    R"({"jsonrpc":"2.0","id":1,"result":{"a":[1,,2]}})",
    R"({"jsonrpc":"2.0","id":1,"id":2,"result":{}})",
    "[" + result_for("1") + "]",
    "\xFF",
    "",
};

// --- Events

struct EventLog final : SseSink {
  std::string text;

  Flow on_event(const SseEvent& event) override {
    std::string line(event.type);
    line.append(" ").append(event.data).append(" ").append(event.last_event_id).append("\n");
    text += line;
    return Flow::proceed;
  }
};

const std::string long_text(100, 'x');
const std::string stream = "id: " + long_text + "\nevent: " + long_text + "\ndata: " + long_text +
                           "\ndata: y\n\nretry: 5\n\n" + event_of("short") + event_of(long_text) +
                           "id: 1\ndata: " + std::string(40000, 'z') + "\n\n";

// --- Responses

struct Answer {
  const char* name;
  int status;
  std::string fields;
  std::string body;
  bool cut = false;  // the connection is lost at its end
};

const std::string progress =
    R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}})";
const std::string batch = "[" + progress + "," + result_for("1") + "," + notification + "]";

const std::vector<Answer> answers = {
    {"a JSON answer", 200, json_type, result_for("1")},
    {"a JSON answer of known length", 200, json_type + "Content-Length: 36\r\n", result_for("1")},
    {"a JSON answer to another request", 200, json_type, result_for("2")},
    {"malformed JSON", 200, json_type, "{\"jsonrpc\":"},
    {"a JSON answer cut short", 200, json_type, "{\"jsonrpc\":", true},
    {"a batch", 200, json_type, batch},
    {"a JSON-RPC error", 400, json_type, error_for("1")},
    {"a JSON error body that is none", 500, json_type, R"({"message":")" + long_text + "\"}"},
    {"a JSON error body cut short", 500, json_type, R"({"message":")" + long_text, true},
    {"a page", 502, html_type + "Retry-After: 5\r\n", "<h1>" + long_text + "\n\x01</h1>"},
    {"a challenge", 401, "WWW-Authenticate: Bearer realm=\"" + long_text + "\"\r\n", ""},
    {"a redirect", 307, "Location: /" + long_text + "\r\n", ""},
    {"a coding", 200, json_type + "Content-Encoding: gzip, br\r\n", "x"},
    {"folded fields", 200, "X: " + long_text + "\r\n " + long_text + "\r\n" + json_type,
     result_for("1")},
    {"a stream", 200, sse_type,
     "id: 1\nretry: 5\ndata: " + progress + "\n\n" + stream + event_of(notification) +
         event_of(result_for("1"))},
    {"a stream of near misses", 200, sse_type,
     event_of("{broken") + event_of(result_for("\"2\"")) + event_of(batch) +
         event_of(result_for("\"1\""))},
    {"a stream without the answer", 200, sse_type, event_of(progress) + event_of("[1]")},
    {"a stream cut short", 200, sse_type, "id: " + long_text + "\n" + event_of(progress), true},
    {"a stream whose last event is unfinished", 200, sse_type,
     event_of(progress) + "data: " + result_for("1")},
};

std::string head_of(const Answer& answer) {
  return "HTTP/1.1 " + std::to_string(answer.status) + " Text\r\n" + answer.fields + "\r\n";
}

void feed(Reading& reading, const Answer& answer, std::string_view head, const Pieces& body) {
  reading.lines(head);
  for (const std::string_view part : body) reading.body(part);
  if (answer.cut) {
    reading.reader.finish_broken(broken(ErrorCode::body_truncated));
  } else {
    reading.finish();
  }
}

// What was handed out; with the outcome, unless that is lack of memory.
Run outcome_of(const Reading& reading) {
  const auto& outcome = reading.reader.outcome();
  Run run;
  if (!outcome) return {false, "no outcome"};
  run.short_of_memory = outcome->error.code == ErrorCode::out_of_memory;
  if (!run.short_of_memory) return {false, reading.transcript()};
  for (const std::string& line : reading.sink.log) run.result.append(line).append("\n");
  return run;
}

}  // namespace

TEST_CASE("a message for which there is no memory is out_of_memory") {
  std::string text = texts[0];
  Result<Message> message = tl::unexpected(Error{});
  {
    const Shortage shortage(0, true);
    message = Message::parse(std::move(text));
  }
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::out_of_memory);
  note_seen(message.error());
}

TEST_CASE("a message is read or there is no memory for it, whichever allocation fails") {
  for (const std::string& text : texts) {
    CAPTURE(text);
    sweep([&](const Guarded& guarded) {
      std::string copy = text;
      Result<Message> message = tl::unexpected(Error{});
      guarded([&] { message = Message::parse(std::move(copy)); });
      return outcome_of(message);
    });
  }
}

TEST_CASE("a checker that was short of memory checks the next text as if nothing had been") {
  sweep([](const Guarded& guarded) {
    json::Checker checker;
    std::string text = texts[4];
    Result<Message> message = tl::unexpected(Error{});
    guarded([&] { message = parse_message(std::move(text), 128, checker); });
    const Result<Message> next = parse_message(std::string(texts[4]), 128, checker);
    if (!next || next->json() != texts[4]) return Run{false, "the next text was not read"};
    return outcome_of(message);
  });
}

TEST_CASE("a batch is read whole or not at all, whichever allocation fails") {
  for (const std::string& text : {batch, result_for("1"), std::string("[]"), "[1," + batch + "]"}) {
    CAPTURE(text);
    sweep([&](const Guarded& guarded) {
      json::Checker checker;
      std::string copy = text;
      Result<std::vector<Message>> messages = tl::unexpected(Error{});
      guarded([&] { messages = parse_batch(std::move(copy), 128, 10, checker); });
      if (!messages) return outcome_of(tl::unexpected(messages.error()));
      std::string read;
      for (const Message& message : *messages) read.append(message.json()).append("\n");
      return Run{false, read};
    });
  }
}

TEST_CASE("arguments are checked or there is no memory to, whichever allocation fails") {
  for (const char* const text : {R"({"an argument":[{"a":"b"}]})", "[1]", "{"}) {
    CAPTURE(text);
    sweep([&](const Guarded& guarded) {
      json::Checker checker;
      Result<void> checked;
      guarded([&] { checked = json::check_object(text, 128, checker); });
      if (checked) return Run{false, "an object"};
      const bool is_short = checked.error().code == ErrorCode::out_of_memory;
      return Run{is_short, is_short ? "" : checked.error().detail};
    });
  }
}

TEST_CASE("an SSE parser throws std::bad_alloc, and reads a stream anew after reset()") {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, stream.size()}) {
    CAPTURE(piece);
    sweep([piece](const Guarded& guarded) {
      EventLog log;
      EventLog again;
      SseParser parser;
      const Pieces pieces = cut_every(stream, piece);
      bool threw = false;
      guarded([&] {
        try {
          for (const std::string_view part : pieces) static_cast<void>(parser.feed(part, log));
        } catch (const std::bad_alloc&) {
          threw = true;
        }
      });
      parser.reset({});
      static_cast<void>(parser.feed(stream, again));
      if (!threw && log.text != again.text) return Run{false, "not the same after reset()"};
      if (!begins_with(again.text, log.text)) return Run{false, "another event"};
      return Run{threw, log.text};
    });
  }
}

TEST_CASE("an unfinished event is had or throws std::bad_alloc, whichever allocation fails") {
  sweep([](const Guarded& guarded) {
    EventLog log;
    SseParser parser;
    static_cast<void>(parser.feed("event: " + long_text + "\ndata: " + long_text, log));
    bool threw = false;
    std::string data;
    guarded([&] {
      try {
        if (auto unfinished = parser.take_unfinished()) data = std::move(unfinished->data);
      } catch (const std::bad_alloc&) {
        threw = true;
      }
    });
    return Run{threw, data};
  });
}

TEST_CASE("a header block is read or throws std::bad_alloc, whichever allocation fails") {
  sweep([](const Guarded& guarded) {
    HeaderReader reader(4096);
    bool threw = false;
    guarded([&] {
      try {
        for (const std::string_view line :
             {std::string_view("HTTP/1.1 100 Continue\r\n"), std::string_view("A: b\r\n"),
              std::string_view("\r\n"), std::string_view("HTTP/1.1 200 OK\r\n"),
              std::string_view("A-name-that-no-short-string-holds: and a value like it\r\n"),
              std::string_view(" folded, and so long that it must be moved elsewhere\r\n"),
              std::string_view("\r\n")}) {
          static_cast<void>(reader.read(line));
        }
      } catch (const std::bad_alloc&) {
        threw = true;
      }
    });
    std::string read;
    if (threw) return Run{true, read};
    for (const Header& header : reader.head().headers) read += header.name + ": " + header.value;
    return Run{false, read};
  });
}

TEST_CASE("a response ends as it would have or with out_of_memory, whichever allocation fails") {
  for (const Answer& answer : answers) {
    for (const std::size_t piece : {std::size_t{97}, std::size_t{100'000}}) {
      for (const bool takes_batches : {false, true}) {
        INFO(answer.name << " in pieces of " << piece << (takes_batches ? ", with batches" : ""));
        sweep([&](const Guarded& guarded) {
          ReaderContext context = context_for();
          context.takes_batches = takes_batches;
          Reading reading(std::move(context));
          const std::string head = head_of(answer);
          const Pieces body = cut_every(answer.body, piece);
          guarded([&] { feed(reading, answer, head, body); });
          return outcome_of(reading);
        });
      }
    }
  }
}
