// The state machine behind SseParser: one function for each state of the line; whatever a cut
// leaves unfinished is in the members, so that no byte is read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <mcphttp/sse_parser.hpp>

#include "sse_buffer.hpp"

namespace mcphttp {

class SseMachine {
 public:
  using Status = SseParser::Status;
  using FeedResult = SseParser::FeedResult;

  explicit SseMachine(SseParserOptions options);

  FeedResult feed(std::string_view bytes, SseSink& sink);
  std::optional<SseUnfinishedEvent> take_unfinished();
  void reset(std::string last_event_id);

  // For a sink that is being told of an event: its data, as SseBuffer::take() has it. The view that
  // it was told of is then void.
  std::string take_data() { return data_.take(); }

  std::string_view last_event_id() const noexcept { return last_event_id_; }
  std::optional<std::uint64_t> retry() const noexcept { return retry_; }

 private:
  // How far the current line has been read.
  enum class State : std::uint8_t {
    stream_start,  // nothing read yet: a BOM may come
    line_start,    // a line begins
    after_cr,      // a line begins, but an LF would still belong to the line end before it
    name,          // matched_ bytes of the name of field_ were read, and nothing else
    value_start,   // name and colon were read: one space may come that is not part of the value
    value,         // in the value of field_; for Field::other, anywhere in the line
    comment,       // after a colon that began the line
    failed,        // over the limit
  };

  // What the current line is, or may still turn out to be.
  enum class Field : std::uint8_t { bom, data, event, id, retry, other };

  // What the value of a `retry` line is so far.
  enum class Digits : std::uint8_t { none, some, spoiled };

  struct Input;

  static std::string_view name_of(Field field) noexcept;
  static Field field_beginning_with(char first) noexcept;

  Status step(Input& in, SseSink& sink);
  void begin_stream(const Input& in) noexcept;
  Status begin_line(Input& in, SseSink& sink);
  bool pass_common_name(Input& in) noexcept;
  Status read_common_line(Input& in);
  void begin_name(Field field) noexcept;
  Status read_name(Input& in);
  Status end_name(Input& in);
  Status open_value(Input& in);
  Status read_value(Input& in);
  Status read_comment(Input& in, SseSink& sink);
  void end_line(Input& in) noexcept;
  void finish_field(std::string_view rest);
  void finish_value(SseBuffer& held, std::string_view rest);
  Status end_block(SseSink& sink);

  Status pass(Input& in, std::size_t size);
  Status consume(Input& in, std::size_t size);
  Status charge(Input& in, std::size_t size);
  std::size_t room_left() const noexcept;
  Status fail(Input& in, std::size_t consumed);

  void store(std::string_view chunk);
  void store_digits(std::string_view chunk) noexcept;
  void append(SseBuffer& buffer, std::string_view chunk);
  void grow(SseBuffer& buffer, std::size_t needed);
  static void fit(SseBuffer& buffer, std::size_t more);
  void keep(SseBuffer& buffer);
  void clear_block() noexcept;
  void drop_block() noexcept;

  std::size_t max_event_size_;
  bool hands_out_comments_;
  State state_ = State::stream_start;
  Field field_ = Field::other;
  Digits digits_ = Digits::none;
  bool has_data_ = false;  // the block has a finished data line
  bool has_id_ = false;
  std::size_t matched_ = 0;
  std::size_t line_size_ = 0;  // bytes of the unfinished line that count
  // Bytes of the finished lines of the block that count; never over max_event_size_.
  std::size_t block_size_ = 0;
  std::size_t expected_size_ = 0;  // of the data of the next event that a cut has us keep
  std::uint64_t number_ = 0;       // value of the digits of a retry line so far

  // Values of the block. Each is borrowed from the bytes being fed if it lies in them whole, and
  // between calls of feed() none is.
  SseBuffer data_;  // the unfinished line included
  SseBuffer type_;
  SseBuffer id_;
  SseBuffer value_;  // of an unfinished event, id or comment line
  std::optional<std::uint64_t> block_retry_;

  std::string last_event_id_;
  std::optional<std::uint64_t> retry_;
};

}  // namespace mcphttp
