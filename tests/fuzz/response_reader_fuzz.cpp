// ResponseReader under any bytes, cut and paused anywhere. An input is one line of settings, then
// header lines up to the end of the final block, then the body:
//   settings[0]  bit 0: a notification was sent; bit 1: a session is in use; bit 2: forwarded, with
//                blocks and comments
//   settings[1]  one of the sets of limits, by its number
//   settings[2]  how the body ends: complete, broken, cut short by its time
//   the rest     the script: each character is the size of the next piece, and whether events pause
// Oracle: cut and paused as the script says, the reader hands out the same as whole; it stays
// within its limits; there is an outcome in the end.
#include "response_reader.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "unit/response_reader_harness.hpp"

namespace {

using namespace mcphttp;
using mcphttp::test::Reading;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Input {
  std::string_view settings;
  std::string_view head;
  std::string_view body;
};

struct LimitSet {
  std::size_t json;
  std::size_t prefix;
  std::size_t event;
  std::size_t header;
  std::size_t stream;
  std::size_t depth;
  std::size_t id;
};

constexpr std::array<LimitSet, 5> limit_sets = {{
    {std::size_t{1} << 20, std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 16,
     unlimited, 128, 1024},
    {40, 20, 60, 400, 200, 4, 3},
    {8, 4, 8, 120, 30, 2, 1},
    {0, 0, 0, 4096, 0, 0, 0},
    {unlimited, unlimited, unlimited, unlimited, unlimited, unlimited, unlimited},
}};

// Legible for digits, defined for every byte.
unsigned setting(const Input& input, std::size_t index) {
  return index < input.settings.size() ? static_cast<unsigned char>(input.settings[index] - '0')
                                       : 0;
}

const LimitSet& limits_of(const Input& input) {
  return limit_sets[setting(input, 1) % limit_sets.size()];
}

ReaderContext context_of(const Input& input) {
  ReaderContext context = test::context_for();
  context.awaits = (setting(input, 0) & 1U) != 0 ? Awaits::acceptance : Awaits::response;
  context.session_in_use = (setting(input, 0) & 2U) != 0;
  context.forwarded = (setting(input, 0) & 4U) != 0;
  context.extras = {context.forwarded, context.forwarded};
  context.now = [] { return std::chrono::system_clock::time_point(); };
  const LimitSet& set = limits_of(input);
  context.limits.max_json_response_size = set.json;
  context.limits.max_error_response_size = set.prefix;
  context.limits.max_sse_event_size = set.event;
  context.limits.max_header_size = set.header;
  context.limits.max_stream_size = set.stream;
  context.limits.max_json_depth = set.depth;
  context.limits.max_event_id_size = set.id;
  return context;
}

// The first line ends the settings, the first blank line behind a final status the head.
Input split(std::string_view text) {
  Input input;
  const std::size_t line = std::min(text.find('\n'), text.size());
  input.settings = text.substr(0, line);
  text.remove_prefix(std::min(line + 1, text.size()));

  Reading scout(context_of(input));
  std::string_view rest = text;
  while (!rest.empty() && scout.reader.phase() == ResponseReader::Phase::headers) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    scout.lines(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  input.head = text.substr(0, text.size() - rest.size());
  input.body = rest;
  return input;
}

void finish(Reading& reading, const Input& input) {
  switch (setting(input, 2) % 3) {
    case 1:
      reading.reader.finish_broken(test::broken(ErrorCode::body_truncated));
      break;
    case 2:
      reading.reader.finish_truncated();
      reading.finish();
      break;
    default:
      reading.finish();
      break;
  }
}

// Feeds the body in pieces, going through the script again and again.
void feed_by_script(Reading& reading, const Input& input) {
  const std::string_view script =
      input.settings.size() > 3 ? input.settings.substr(3) : std::string_view("0");
  unsigned now = 0;
  reading.sink.flow = [&now] { return (now & 1U) != 0 ? Flow::pause : Flow::proceed; };
  std::string_view rest = input.body;
  for (std::size_t i = 0; !rest.empty(); ++i) {
    now = static_cast<unsigned char>(script[i % script.size()]);
    const std::string piece(rest.substr(0, now / 2));  // of its own, so that sanitizers see its end
    rest.remove_prefix(piece.size());
    reading.body(piece);
    if (now / 2 == 0) break;
  }
  reading.body(rest);
  reading.sink.flow = nullptr;
}

void check_limits(const Reading& reading, const Input& input) {
  const LimitSet& set = limits_of(input);
  const ReadOutcome& outcome = *reading.reader.outcome();
  require(outcome.error.diagnostic.text.size() <= set.prefix);
  require(reading.reader.header_bytes() <= set.header ||
          outcome.error.code == ErrorCode::headers_too_large);
  std::size_t events = 0;
  for (const Event& event : reading.sink.events) {
    if (event.kind() == Event::Kind::comment) continue;
    events += event.kind() == Event::Kind::event ? 1 : 0;
    require(event.data().size() <= set.event);
  }
  const bool is_stream =
      !reading.sink.heads.empty() && reading.sink.heads[0].kind == ResponseKind::stream;
  for (const Message& message : reading.sink.messages) {
    require(message.json().size() <= (is_stream ? set.event : set.json));
  }
  require(reading.sink.heads.size() <= 1 && reading.sink.messages.size() <= 1);
  require(reading.reader.events() == events);
}

void check_answer(const Reading& reading, const Input& input) {
  const bool answered = reading.reader.outcome()->kind == ReadOutcome::Kind::answered;
  const auto& events = reading.sink.events;
  for (std::size_t i = 0; i + 1 < events.size(); ++i) require(!events[i].is_response());
  const bool handed_out =
      !reading.sink.messages.empty() || (!events.empty() && events.back().is_response());
  // Forwarded, anything is an answer, even nothing.
  require(answered == handed_out || (answered && context_of(input).forwarded));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const Input input = split(text);

  Reading whole(context_of(input));
  whole.lines(input.head).body(input.body);
  finish(whole, input);
  require(whole.reader.outcome().has_value());
  require(whole.consumed() == input.body.size());
  check_limits(whole, input);
  check_answer(whole, input);

  Reading cut(context_of(input));
  cut.lines(input.head);
  feed_by_script(cut, input);
  finish(cut, input);
  require(cut.consumed() == input.body.size());
  require(cut.transcript() == whole.transcript());
  require(cut.sink.body == whole.sink.body);
  return 0;
}
