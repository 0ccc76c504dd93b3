// SseParser in process, beside two floors: a scan that does nothing but find the line ends, and a
// plain machine that reads byte by byte. Each reports `events`, which must agree.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <mcphttp/sse_parser.hpp>

#include "byte_machine.hpp"
#include "corpus.hpp"

namespace mcphttp::bench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1024} * 1024;
constexpr std::size_t piece = std::size_t{16} * 1024;
constexpr std::size_t corpus_size = 8 * mebibyte;
constexpr std::size_t bytewise_size = mebibyte;

struct CountingSink : SseSink {
  Flow on_event(const SseEvent& event) override {
    ++events;
    benchmark::DoNotOptimize(event.data.data());
    return Flow::proceed;
  }
  std::size_t events = 0;
};

// Finds every LF with memchr and takes an empty line for the end of an event; a line that a piece
// cuts is counted with its end only.
class LineScan {
 public:
  void feed(std::string_view bytes, CountingSink& sink) {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    while (const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
      const char* const line_end = static_cast<const char*>(found);
      if (line_end == at && !unfinished_) ++sink.events;
      unfinished_ = false;
      at = line_end + 1;
      if (at == end) return;
    }
    unfinished_ = true;
  }

 private:
  bool unfinished_ = false;
};

SseParser make_parser() {
  SseParserOptions options;
  options.max_event_size = 128 * mebibyte;
  return SseParser(std::move(options));
}

// Not inlined: what run.py counts instructions in.
template <typename Parser>
[[gnu::noinline]] void feed_all(Parser& parser, std::string_view stream, std::size_t size,
                                CountingSink& sink) {
  for (std::size_t at = 0; at < stream.size(); at += size) {
    parser.feed(stream.substr(at, size), sink);
  }
}

[[gnu::noinline]] void feed_all(SseParser& parser, std::string_view stream, std::size_t size,
                                CountingSink& sink) {
  for (std::size_t at = 0; at < stream.size(); at += size) {
    benchmark::DoNotOptimize(parser.feed(stream.substr(at, size), sink).consumed);
  }
}

// One pass of `stream` by a new parser is one iteration.
template <typename MakeParser>
void measure(benchmark::State& state, MakeParser make, const std::string& stream,
             std::size_t size) {
  CountingSink sink;
  for ([[maybe_unused]] auto iteration : state) {
    auto parser = make();
    sink.events = 0;
    feed_all(parser, stream, size, sink);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(stream.size()) * state.iterations());
  state.counters["events"] = static_cast<double>(sink.events);
}

void register_pieces(const char* kind) {
  const auto add = [kind](const char* who, auto make) {
    benchmark::RegisterBenchmark((std::string(who) + "/" + kind).c_str(),
                                 [kind, make](benchmark::State& state) {
                                   measure(state, make, event_stream(kind, corpus_size), piece);
                                 });
  };
  add("ours", make_parser);
  add("scan", [] { return LineScan(); });
}

void register_bytewise() {
  const auto add = [](const char* name, auto make) {
    benchmark::RegisterBenchmark(name, [make](benchmark::State& state) {
      measure(state, make, event_stream("200", bytewise_size), 1);
    });
  };
  add("ours/bytewise", make_parser);
  add("machine/bytewise", [] { return ByteMachine(); });
}

void register_one_event() {
  benchmark::RegisterBenchmark("ours/one_event",
                               [](benchmark::State& state) {
                                 const auto size =
                                     static_cast<std::size_t>(state.range(0)) * mebibyte;
                                 measure(state, make_parser, one_event(size), 1);
                               })
      ->RangeMultiplier(2)
      ->Range(8, 64)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace mcphttp::bench

int main(int argc, char** argv) {
  for (const char* kind : {"200", "64k", "lines"}) mcphttp::bench::register_pieces(kind);
  mcphttp::bench::register_bytewise();
  mcphttp::bench::register_one_event();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
