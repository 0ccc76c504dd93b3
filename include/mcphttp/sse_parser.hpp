// An incremental parser for text/event-stream (WHATWG HTML, 9.2.5 and 9.2.6). It does no I/O and
// reads no clock, so it fits any source of bytes: feed() takes what arrived, a sink gets the
// events. How the input is cut never matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <mcphttp/export.hpp>

namespace mcphttp {

// What a consumer tells the producer after each event.
enum class Flow {
  proceed,  // go on
  pause,    // hand out nothing more until asked again
  cancel,   // nothing more is wanted
};

// One block of the stream: its event, or what it carried without one. The views are valid only
// during the call that hands them out.
struct SseEvent {
  // The `event` value; "message" if the block named none.
  std::string_view type;
  // The `data` values joined by LF: bytes as received, not checked to be UTF-8 (the standard would
  // put U+FFFD for what is not).
  std::string_view data;
  // The last event id of the stream once this block has ended: its own, or an earlier one. Bytes as
  // received.
  std::string_view last_event_id;
  // This very block had an `id` line. One with a NUL is ignored and does not count.
  bool has_id = false;
  // Milliseconds, of a valid `retry` line in this very block; the last one if there were several.
  std::optional<std::uint64_t> retry;
};

// Where a parser hands out what it read. Called on the thread of feed(), which returns before
// anything more is handed out if the answer is not `proceed`. Must not call into the parser that is
// calling it.
class MCPHTTP_EXPORT SseSink {
 public:
  virtual ~SseSink() = default;

  // A block with at least one `data` line has ended. Its data may be empty.
  virtual Flow on_event(const SseEvent& event) = 0;

  // A block without a `data` line has ended: no event by the standard, but it carried an `id` or a
  // valid `retry` line, or named a type. `data` is empty.
  virtual Flow on_block(const SseEvent& /*block*/) { return Flow::proceed; }

  // A comment line has ended, or its next 4 KiB are in; where it stood in a block is not kept. What
  // is behind the colon. Only with SseParserOptions::comments.
  virtual Flow on_comment(std::string_view /*text*/) { return Flow::proceed; }

 protected:
  SseSink() = default;
  SseSink(const SseSink&) = default;
  SseSink& operator=(const SseSink&) = default;
};

struct SseParserOptions {
  // Bytes one block may make the parser hold. Default 16 MiB. Counted are the values of `data`
  // (joined by LF), `event` and `id`, those of the unfinished line included; the name, its colon
  // and one space count nothing. A value that a later line of the block replaces counts until that
  // line ends. Of other lines, `retry` included, every byte counts, and no longer than until the
  // line ends; comments and line ends count nothing. Equal passes, one more is
  // Status::event_too_large, the same at every cut of the input. 0 accepts only events whose values
  // are empty.
  std::size_t max_event_size = std::size_t{16} * 1024 * 1024;

  // The last event id of an earlier connection; events inherit it until the stream sets another.
  std::string last_event_id;

  // Hand out comments. Default: no.
  bool comments = false;
};

// What the event under way would have been, had its stream not ended before the blank line.
struct SseUnfinishedEvent {
  std::string type;  // as in SseEvent
  std::string data;
};

class SseMachine;

// The parser of one event stream, and of the streams that continue it after reset().
//
// Memory: at most 2 x (max_event_size + last_event_id().size()) + 64 KiB; the factor covers buffers
// that grow. Unknown lines are never stored, and comments not beyond the piece that is handed out.
// An event whose only `data` line lies within one feed() is handed out from there, uncopied. Time:
// linear in the bytes fed, however they are cut. Thread-compatible. A moved-from parser may only be
// assigned to or destroyed.
class MCPHTTP_EXPORT SseParser {
 public:
  enum class Status {
    ok,               // every byte was consumed
    paused,           // the sink answered Flow::pause
    cancelled,        // the sink answered Flow::cancel
    event_too_large,  // over max_event_size; every later feed() returns this too, until reset()
  };

  struct [[nodiscard]] FeedResult {
    // Bytes of the argument that are done with. All for `ok`; up to the end of the block just
    // handed out for `paused` and `cancelled`; up to the byte that broke the limit for
    // `event_too_large`.
    std::size_t consumed;
    Status status;
  };

  explicit SseParser(SseParserOptions options = {});
  SseParser(SseParser&& other) noexcept;
  SseParser& operator=(SseParser&& other) noexcept;
  ~SseParser();

  // Reads `bytes`, which may start and end anywhere, and hands out each block that ends in them.
  // After `paused`, go on by feeding the rest, from `consumed` on; the same is possible after
  // `cancelled`. `bytes` need not outlive the call. Throws only what the sink throws and
  // std::bad_alloc; after that, reset() before feeding more.
  FeedResult feed(std::string_view bytes, SseSink& sink);

  // The id to resume from: that of the last block that ended with one, also if it had no data (MCP
  // priming), else the one given at the start. Empty for none. The id of an unfinished block is not
  // in it. Valid until the next non-const call.
  std::string_view last_event_id() const noexcept;

  // Milliseconds of the last valid `retry` line (digits only; beyond 64 bits: the largest value),
  // effective from the end of the line. Kept by reset(). Nothing if there was none.
  std::optional<std::uint64_t> retry() const noexcept;

  // To be called when the stream has ended. The event that a line end and a blank line would now
  // dispatch, for a caller with reason to trust it; the standard discards it. Nothing if there is
  // none, or after event_too_large. Its id is not adopted. In either case the parser is then as
  // after reset(last_event_id()).
  std::optional<SseUnfinishedEvent> take_unfinished();

  // Begins a new stream (a new connection): whatever was unfinished, and a failure, are forgotten;
  // a BOM may come again.
  void reset(std::string last_event_id);

 private:
  std::unique_ptr<SseMachine> machine_;
};

}  // namespace mcphttp
