// Any bytes as an event stream. The first byte chooses the limit, the second seeds the cuts.
// Oracle: whole, cut and paused input give the same events, which are those of the naive parser; no
// block outgrows the limit.
#include <mcphttp/sse_parser.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "support/sse_oracle.hpp"

namespace {

using mcphttp::Flow;
using mcphttp::SseEvent;
using mcphttp::SseParser;
using mcphttp::test::OracleResult;

constexpr std::size_t largest_cut = 24;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Recorder final : mcphttp::SseSink {
  OracleResult result;
  Flow flow = Flow::proceed;

  Flow on_event(const SseEvent& event) override { return record(event, true); }
  Flow on_block(const SseEvent& block) override { return record(block, false); }

  Flow record(const SseEvent& event, bool has_data) {
    result.events.push_back({std::string(event.type), std::string(event.data),
                             std::string(event.last_event_id), has_data, event.has_id,
                             event.retry});
    return flow;
  }
};

// Feeds all of `piece`, resuming after each pause, unless the limit is broken. True while it is
// not.
bool feed_all(SseParser& parser, Recorder& recorder, std::string_view piece) {
  for (;;) {
    const SseParser::FeedResult fed = parser.feed(piece, recorder);
    require(fed.consumed <= piece.size());
    if (fed.status == SseParser::Status::event_too_large) return false;
    if (fed.status == SseParser::Status::ok) {
      require(fed.consumed == piece.size());
      return true;
    }
    require(fed.status == SseParser::Status::paused && recorder.flow == Flow::pause);
    piece.remove_prefix(fed.consumed);
  }
}

// Cut by a small linear congruential generator; 0 leaves the stream whole.
OracleResult parse(std::string_view stream, std::size_t max_event_size, std::uint32_t seed,
                   Flow flow) {
  mcphttp::SseParserOptions options;
  options.max_event_size = max_event_size;
  SseParser parser(options);
  Recorder recorder;
  recorder.flow = flow;
  std::uint32_t random = seed;
  while (!stream.empty() && !recorder.result.too_large) {
    random = random * 1664525U + 1013904223U;
    const std::size_t size = seed == 0 ? stream.size() : (random >> 16U) % largest_cut;
    const std::string_view piece = stream.substr(0, size);
    recorder.result.too_large = !feed_all(parser, recorder, piece);
    stream.remove_prefix(piece.size());
  }
  recorder.result.last_id = parser.last_event_id();
  recorder.result.retry = parser.retry();
  return recorder.result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t limit = data[0] == 0xFF ? std::numeric_limits<std::size_t>::max() : data[0];
  const std::uint32_t seed = data[1];
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);

  const OracleResult whole = parse(stream, limit, 0, Flow::proceed);
  require(whole == mcphttp::test::sse_oracle(stream, limit));
  require(whole == parse(stream, limit, seed + 1, Flow::proceed));
  require(whole == parse(stream, limit, seed, Flow::pause));
  for (const mcphttp::test::OracleEvent& event : whole.events) {
    const std::size_t type = event.type == "message" ? 0 : event.type.size();
    const std::size_t id = event.has_id ? event.id.size() : 0;
    require(event.data.size() + type + id <= limit);
  }
  return 0;
}
