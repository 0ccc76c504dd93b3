// What a ResponseReader holds, counted at operator new: a program of its own.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>

#include "support/replaced_new.hpp"
#include "unit/response_reader_harness.hpp"

namespace {

// The size of each block stands in front of it.
constexpr std::size_t prefix = alignof(std::max_align_t);
std::size_t held = 0;
std::size_t peak = 0;

}  // namespace

void* mcphttp::test::allocate_or_null(std::size_t size) noexcept {
  auto* block = static_cast<char*>(std::malloc(size + prefix));
  if (block == nullptr) return nullptr;
  *reinterpret_cast<std::size_t*>(block) = size;
  held += size;
  peak = std::max(peak, held);
  return block + prefix;
}

void mcphttp::test::release(void* memory) noexcept {
  if (memory == nullptr) return;
  char* block = static_cast<char*>(memory) - prefix;
  held -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

// The reader itself, one head, an error with its texts.
constexpr std::size_t small_change = 4096;
constexpr std::size_t KiB = 1024;

// The greatest number of bytes held at once while `run` was running, beyond what was held before.
template <class Run>
std::size_t peak_of(Run run) {
  const std::size_t before = held;
  peak = held;
  run();
  return peak - before;
}

void feed(Reading& reading, std::size_t size, std::size_t piece) {
  const std::string bytes(piece, 'x');
  for (std::size_t fed = 0; fed < size; fed += piece) {
    reading.body(std::string_view(bytes).substr(0, std::min(piece, size - fed)));
  }
}

}  // namespace

TEST_CASE("a JSON body is held once, with its padding, at every size of the pieces") {
  for (const std::size_t limit : {1000 * KiB, 300 * KiB, 1 * KiB}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, 16 * KiB}) {
      ReaderContext context = context_for();
      context.limits.max_json_response_size = limit;
      const auto read = [&](std::size_t size) {
        return peak_of([&] {
          Reading reading(context);
          reading.head(200, json_type);
          feed(reading, size, piece);
        });
      };
      CAPTURE(limit, piece);
      // While a small body grows, the old bytes and the new place are held at the same time.
      const std::size_t growth = std::min(limit, 256 * KiB);
      CHECK(read(limit) <= limit + json::padding + growth + piece + small_change);
      CHECK(read(limit * 4) <= limit + json::padding + growth + piece + small_change);
    }
  }
}

TEST_CASE("a JSON body of known length is never moved") {
  constexpr std::size_t size = 1000 * KiB;
  const std::string fields = json_type + "Content-Length: " + std::to_string(size) + "\r\n";
  const std::size_t most = peak_of([&] {
    Reading reading;
    reading.head(200, fields);
    feed(reading, size, 1);
  });
  CHECK(most <= size + json::padding + small_change);
}

TEST_CASE("an announced length reserves no more than its ceiling") {
  ReaderContext context = context_for();
  context.limits.max_json_response_size = unlimited;
  const std::size_t most = peak_of([&] {
    Reading reading(context);
    reading.head(200, json_type + "Content-Length: 1099511627776\r\n");
  });
  CHECK(most <= 64 * KiB * KiB + json::padding + small_change);
}

TEST_CASE("a JSON body over the limit is dropped at once") {
  constexpr std::size_t limit = 500 * KiB;
  ReaderContext context = context_for();
  context.limits.max_json_response_size = limit;
  const std::size_t before = held;
  Reading reading(context);
  reading.head(200, json_type);
  feed(reading, limit, 1000);
  CHECK(held - before >= limit);
  reading.body(std::string(1000, 'x'));
  CHECK(held - before <= small_change);
}

TEST_CASE("a diagnostic costs its prefix and its printable form") {
  for (const std::size_t limit : {64 * KiB, 1 * KiB, std::size_t{100}}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
      ReaderContext context = context_for();
      context.limits.max_error_response_size = limit;
      const std::size_t most = peak_of([&] {
        Reading reading(context);
        reading.head(500, html_type);
        feed(reading, limit * 10, piece);
        REQUIRE(reading.reader.outcome());
      });
      CAPTURE(limit, piece);
      CHECK(most <= 2 * limit + json::padding + piece + small_change);
    }
  }
}

TEST_CASE("an event costs twice its limit at most, over or not") {
  constexpr std::size_t limit = 300 * KiB;
  ReaderContext context = context_for();
  context.limits.max_sse_event_size = limit;
  for (const std::size_t size : {limit, 10 * limit}) {
    const std::size_t most = peak_of([&] {
      Reading reading(context);
      reading.head(200, sse_type).body("data: ");
      feed(reading, size, 1);
    });
    CHECK(most <= 2 * limit + 64 * KiB + small_change);
  }
}

TEST_CASE("headers cost twice their limit at most: the head, and the copy handed out") {
  constexpr std::size_t limit = 64 * KiB;
  ReaderContext context = context_for();
  context.limits.max_header_size = limit;
  const std::string field = "name: " + std::string(100, 'x') + "\r\n";
  const std::size_t most = peak_of([&] {
    Reading reading(context);
    reading.lines("HTTP/1.1 200 OK\r\n" + json_type);
    for (int i = 0; i < 10000; ++i) reading.lines(field);
    REQUIRE(reading.reader.outcome());
  });
  CHECK(most <= 2 * limit + small_change);
}

TEST_CASE("an event that comes in pieces is held once, and no copy of it is made to check it") {
  struct LastEvent final : ResponseSink {
    std::optional<Event> event;
    void on_head(ResponseHead&& /*head*/) override {}
    Flow on_event(Event&& arrived) override {
      event.emplace(std::move(arrived));
      return Flow::proceed;
    }
    void on_message(Message&& /*message*/) override {}
    Flow on_body(std::string&& /*piece*/) override { return Flow::proceed; }
    void on_warning(Warning&& /*warning*/) override {}
  };
  const auto event = [](std::size_t size) {
    return R"(data: {"jsonrpc":"2.0","method":"m","params":[")" + std::string(size, 'x') +
           "\"]}\n\n";
  };
  json::Checker checker;
  LastEvent last;
  ReaderContext context = context_for();
  context.limits.max_sse_event_size = 1024 * KiB;
  ResponseReader reader(context, checker, last);
  for (const std::string& line :
       {std::string("HTTP/1.1 200 OK\r\n"), sse_type, std::string("\r\n")})
    reader.read_header_line(line);
  const auto peak_of_reading = [&](std::string_view bytes) {
    last.event.reset();
    return peak_of([&] {
      for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), 16 * KiB)))
        reader.read_body(bytes.substr(0, 16 * KiB));
    });
  };
  const std::string large = event(1000 * KiB);
  // While it grows, the old bytes and the new place are held at the same time.
  CHECK(peak_of_reading(large) <= 2 * context.limits.max_sse_event_size + small_change);
  CHECK(last.event->message() != nullptr);
  const std::string small = event(60 * KiB);
  peak_of_reading(small);
  // Room for one that is like the one before is made at once.
  CHECK(peak_of_reading(small) <= small.size() + small_change);
  CHECK(last.event->message() != nullptr);
}
