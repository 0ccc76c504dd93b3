// The memory formula of sse_parser.hpp. This program counts what it allocates by standing before
// the allocator of glibc, so it cannot be built with a sanitizer, which does the same.
#include <mcphttp/sse_parser.hpp>

#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "support/splits.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

// The allocator of glibc itself, under the names it has for programs that put their own before it.
extern "C" void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier)
extern "C" void* __libc_realloc(void* memory,
                                std::size_t size);  // NOLINT(bugprone-reserved-identifier)
extern "C" void __libc_free(void* memory);          // NOLINT(bugprone-reserved-identifier)

namespace {

// Bytes in use by this thread.
thread_local std::ptrdiff_t held = 0;
thread_local std::ptrdiff_t peak = 0;

std::ptrdiff_t size_of(void* memory) {
  return static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
}

void count(std::ptrdiff_t size) {
  held += size;
  peak = std::max(peak, held);
}

}  // namespace

extern "C" void* malloc(std::size_t size) noexcept {
  void* const memory = __libc_malloc(size);
  count(size_of(memory));
  return memory;
}

// Counts as if it always had to copy.
extern "C" void* realloc(void* memory, std::size_t size) noexcept {
  const std::ptrdiff_t before = size_of(memory);
  void* const result = __libc_realloc(memory, size);
  count(size_of(result));
  if (result != nullptr) count(-before);
  return result;
}

extern "C" void free(void* memory) noexcept {
  count(-size_of(memory));
  __libc_free(memory);
}

namespace {

constexpr std::size_t limit = std::size_t{256} * 1024;
constexpr std::ptrdiff_t constant = std::ptrdiff_t{64} * 1024;

std::string repeat(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

struct Counter final : SseSink {
  std::size_t events = 0;

  Flow on_event(const SseEvent& /*event*/) override {
    ++events;
    return Flow::proceed;
  }
};

// The most that a parser held while it read `stream` in pieces, and what it held then.
struct Usage {
  std::ptrdiff_t peak;
  std::ptrdiff_t at_end;
};

Usage usage_of(std::string_view stream, std::size_t piece, std::size_t max_event_size = limit) {
  const Pieces pieces = cut_every(stream, piece);
  Counter sink;
  SseParserOptions options;
  options.max_event_size = max_event_size;
  SseParser parser(options);
  const std::ptrdiff_t before = held;
  peak = held;
  for (const std::string_view part : pieces) static_cast<void>(parser.feed(part, sink));
  return {peak - before, held - before};
}

}  // namespace

TEST_CASE("what the test counts is what is allocated") {
  const std::ptrdiff_t before = held;
  const std::string text(1000, 'x');
  CHECK(held - before >= 1000);
  CHECK(held - before < 1100);
}

TEST_CASE("memory stays within the formula of the header, whatever fills it") {
  const std::string id(limit / 3, 'i');
  const std::string names =
      "event: " + std::string(limit / 2, 'e') + "\nevent: e\nid: " + id + "\n";
  const auto bound = static_cast<std::ptrdiff_t>(2 * (limit + id.size())) + constant;
  for (const std::string& filling :
       {repeat("data: x\n", limit), repeat("data\n", 2 * limit),
        "data: " + std::string(2 * limit, 'x'), "event: " + std::string(2 * limit, 'x'),
        "id: " + std::string(2 * limit, 'x'), std::string(2 * limit, 'x'),
        "retry: " + std::string(2 * limit, '1')}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{4096}, std::size_t{16384}}) {
      INFO(filling.substr(0, 8) << " in pieces of " << piece);
      const Usage usage = usage_of(names + "\n" + names + filling, piece);
      CHECK(usage.peak <= bound);
      CHECK(usage.peak >= static_cast<std::ptrdiff_t>(limit / 2));
      CHECK(usage.at_end <= static_cast<std::ptrdiff_t>(2 * id.size()) + constant);
    }
  }
}

TEST_CASE("a buffer that doubles stops at the limit") {
  constexpr std::size_t just_above = limit + 100;
  const Usage usage = usage_of("data: " + std::string(just_above, 'x'), 4096, just_above);
  CHECK(usage.peak <= static_cast<std::ptrdiff_t>(2 * just_above));
  CHECK(usage.at_end <= static_cast<std::ptrdiff_t>(just_above + 100));
}

TEST_CASE("a large event leaves no large buffer behind") {
  const std::string large = "event: " + std::string(limit / 3, 'e') +
                            "\nevent: e\ndata: " + std::string(limit / 2, 'd') + "\n\n";
  CHECK(usage_of(large, 4096).peak > static_cast<std::ptrdiff_t>(limit / 2));
  CHECK(usage_of(large, 4096).at_end <= constant);
}

TEST_CASE("comments, unknown lines and an event that lies within one feed are never stored") {
  const std::string noise =
      ":" + std::string(2 * limit, 'c') + "\n" + repeat("foo: bar\nretry: 100\n", 1000);
  CHECK(usage_of(noise, 1).peak == 0);
  CHECK(usage_of("data: " + std::string(limit, 'd') + "\n\n", 2 * limit).peak == 0);
}

TEST_CASE("the same buffers serve event after event") {
  const std::string block = "event: message\nid: 1\ndata: " + std::string(1000, 'd') + "\n\n";
  const std::ptrdiff_t once = usage_of(block, 100).peak;
  CHECK(usage_of(repeat(block, 1000), 100).peak <= 2 * once);
}
