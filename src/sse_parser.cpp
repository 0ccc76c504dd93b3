#include <mcphttp/sse_parser.hpp>

#include "sse_line_end.hpp"
#include "sse_machine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace mcphttp {
namespace {

using sse::find_line_end;
using sse::is_line_end;

constexpr std::string_view default_type = "message";

constexpr std::size_t smallest_capacity = 64;

// Smaller than what allocators map by itself, which would be dear for an event that turns out
// small.
constexpr std::size_t most_expected = std::size_t{96} * 1024;

// The longest of the names that are compared as a whole, its colon, and a byte beside it.
constexpr std::size_t longest_common = std::string_view("event: ").size();

// A comment has no length that a limit could name: a long one is handed out in pieces.
constexpr std::size_t comment_piece = std::size_t{4} * 1024;

inline std::size_t shared_prefix(std::string_view a, std::string_view b) noexcept {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t size = 0;
  while (size < most && a[size] == b[size]) ++size;
  return size;
}

bool contains_nul(std::string_view text) noexcept {
  return text.find('\0') != std::string_view::npos;
}

SseParser::Status status_of(Flow flow) noexcept {
  switch (flow) {
    case Flow::proceed:
      return SseParser::Status::ok;
    case Flow::pause:
      return SseParser::Status::paused;
    case Flow::cancel:
      break;
  }
  return SseParser::Status::cancelled;
}

struct UnfinishedEventSink final : SseSink {
  std::optional<SseUnfinishedEvent> event;

  Flow on_event(const SseEvent& unfinished) override {
    event = SseUnfinishedEvent{std::string(unfinished.type), std::string(unfinished.data)};
    return Flow::proceed;
  }
};

}  // namespace

// What is left of the bytes given to feed().
struct SseMachine::Input {
  const char* at;
  const char* end;

  bool empty() const noexcept { return at == end; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(end - at); }
};

SseMachine::SseMachine(SseParserOptions options)
    : max_event_size_(options.max_event_size),
      hands_out_comments_(options.comments),
      last_event_id_(std::move(options.last_event_id)) {}

SseParser::FeedResult SseMachine::feed(std::string_view bytes, SseSink& sink) {
  Input in{bytes.data(), bytes.data() + bytes.size()};
  Status status = state_ == State::failed ? Status::event_too_large : Status::ok;
  while (status == Status::ok && !in.empty()) status = step(in, sink);
  keep(data_);
  keep(type_);
  keep(id_);
  return {bytes.size() - in.size(), status};
}

std::optional<SseUnfinishedEvent> SseMachine::take_unfinished() {
  std::string id = last_event_id_;
  const std::optional<std::uint64_t> retry = retry_;
  UnfinishedEventSink sink;
  // Wherever the stream stopped, one of the two ends the block, and nothing begins another.
  static_cast<void>(feed("\n\n", sink));
  reset(std::move(id));
  retry_ = retry;
  return std::move(sink.event);
}

void SseMachine::reset(std::string last_event_id) {
  drop_block();
  state_ = State::stream_start;
  last_event_id_ = std::move(last_event_id);
}

// Consumes a byte or more, or changes the state. `in` is not empty.
inline SseParser::Status SseMachine::step(Input& in, SseSink& sink) {
  switch (state_) {
    case State::stream_start:
      begin_stream(in);
      return Status::ok;
    case State::after_cr:
      state_ = State::line_start;
      if (*in.at == '\n') ++in.at;
      return Status::ok;
    case State::line_start:
      return begin_line(in, sink);
    case State::name:
      return read_name(in);
    case State::value_start:
      state_ = State::value;
      return *in.at == ' ' ? pass(in, 1) : Status::ok;
    case State::value:
      return read_value(in);
    case State::comment:
      return read_comment(in, sink);
    case State::failed:
      break;
  }
  return Status::event_too_large;
}

// One BOM is not part of the stream. It can be cut like a name, so it is matched like one.
inline void SseMachine::begin_stream(const Input& in) noexcept {
  state_ = State::line_start;
  if (*in.at == name_of(Field::bom).front()) begin_name(Field::bom);
}

inline SseParser::Status SseMachine::begin_line(Input& in, SseSink& sink) {
  const char first = *in.at;
  if (is_line_end(first)) {
    end_line(in);
    return end_block(sink);
  }
  if (first == ':') {
    ++in.at;
    state_ = State::comment;
    return Status::ok;
  }
  if (pass_common_name(in)) return read_common_line(in);
  begin_name(field_beginning_with(first));
  return read_name(in);
}

// The names of nearly all lines; where the one in hand is whole, and a byte beside it, there is no
// need to go through it state by state.
inline bool SseMachine::pass_common_name(Input& in) noexcept {
  if (in.size() < longest_common) return false;
  const auto pass_name = [&](Field field, std::string_view with_colon) {
    if (std::memcmp(in.at, with_colon.data(), with_colon.size()) != 0) return false;
    field_ = field;
    in.at += with_colon.size() - 1;
    return true;
  };
  return pass_name(Field::data, "data:") || pass_name(Field::event, "event:") ||
         pass_name(Field::id, "id:");
}

// From the colon on.
inline SseParser::Status SseMachine::read_common_line(Input& in) {
  if (open_value(in) != Status::ok) return Status::event_too_large;
  if (*in.at == ' ') ++in.at;
  state_ = State::value;
  return Status::ok;
}

inline void SseMachine::begin_name(Field field) noexcept {
  state_ = State::name;
  field_ = field;
  matched_ = 0;
}

inline SseParser::Status SseMachine::read_name(Input& in) {
  const std::string_view name = name_of(field_);
  const std::size_t size = shared_prefix(name.substr(matched_), {in.at, in.size()});
  matched_ += size;
  if (pass(in, size) != Status::ok) return Status::event_too_large;
  if (field_ == Field::bom && matched_ == name.size()) {
    state_ = State::line_start;
    return Status::ok;
  }
  return in.empty() ? Status::ok : end_name(in);
}

// The next byte does not continue the name.
inline SseParser::Status SseMachine::end_name(Input& in) {
  const bool known = matched_ == name_of(field_).size() && field_ != Field::other;
  if (known && (*in.at == ':' || is_line_end(*in.at))) return open_value(in);
  const std::size_t uncounted = field_ == Field::retry ? 0 : matched_;
  field_ = Field::other;
  state_ = State::value;
  return charge(in, uncounted);
}

// At the colon, or at the end of a line that is only a name: its value is empty.
inline SseParser::Status SseMachine::open_value(Input& in) {
  digits_ = Digits::none;
  number_ = 0;
  if (field_ == Field::data && has_data_) {
    if (charge(in, 1) != Status::ok) return Status::event_too_large;
    keep(data_);
    append(data_, "\n");
  }
  state_ = *in.at == ':' ? State::value_start : State::value;
  return state_ == State::value_start ? pass(in, 1) : Status::ok;
}

inline SseParser::Status SseMachine::read_value(Input& in) {
  const char* const begin = in.at;
  const char* const end = find_line_end(in.at, in.end);
  const std::string_view chunk(begin, static_cast<std::size_t>(end - begin));
  if (consume(in, chunk.size()) != Status::ok) return Status::event_too_large;
  if (in.empty()) {
    store(chunk);
    return Status::ok;
  }
  finish_field(chunk);
  end_line(in);
  return Status::ok;
}

inline SseParser::Status SseMachine::read_comment(Input& in, SseSink& sink) {
  const char* const begin = in.at;
  const std::size_t room = hands_out_comments_ ? comment_piece - value_.size() : in.size();
  in.at = find_line_end(begin, begin + std::min(in.size(), room));
  const std::string_view chunk(begin, static_cast<std::size_t>(in.at - begin));
  const bool unfinished = in.empty();
  if (!unfinished && is_line_end(*in.at)) end_line(in);
  if (!hands_out_comments_) return Status::ok;
  if (unfinished || !value_.empty()) append(value_, chunk);
  if (unfinished) return Status::ok;
  const Flow flow = sink.on_comment(value_.empty() ? chunk : value_.view());
  value_.recycle();
  return status_of(flow);
}

// A CR ends the line at once; an LF that follows, now or later, is dropped.
inline void SseMachine::end_line(Input& in) noexcept {
  const bool is_cr = *in.at++ == '\r';
  state_ = is_cr && in.empty() ? State::after_cr : State::line_start;
  if (is_cr && !in.empty() && *in.at == '\n') ++in.at;
}

// Consumes bytes of a name, a colon or the space after it. They count only in a retry line, of
// which every byte does.
inline SseParser::Status SseMachine::pass(Input& in, std::size_t size) {
  if (field_ == Field::retry) return consume(in, size);
  in.at += size;
  return Status::ok;
}

// Consumes bytes that count, up to the first one over the limit.
inline SseParser::Status SseMachine::consume(Input& in, std::size_t size) {
  const std::size_t room = room_left();
  if (size > room) return fail(in, room + 1);
  line_size_ += size;
  in.at += size;
  return Status::ok;
}

// Counts bytes that the next byte of the input shows to count.
inline SseParser::Status SseMachine::charge(Input& in, std::size_t size) {
  if (size > room_left()) return fail(in, 1);
  line_size_ += size;
  return Status::ok;
}

inline std::size_t SseMachine::room_left() const noexcept {
  return max_event_size_ - block_size_ - line_size_;
}

SseParser::Status SseMachine::fail(Input& in, std::size_t consumed) {
  in.at += consumed;
  drop_block();
  state_ = State::failed;
  return Status::event_too_large;
}

inline void SseMachine::store(std::string_view chunk) {
  switch (field_) {
    case Field::data:
      return append(data_, chunk);
    case Field::event:
    case Field::id:
      return append(value_, chunk);
    case Field::retry:
      return store_digits(chunk);
    case Field::bom:
    case Field::other:
      return;
  }
}

inline void SseMachine::store_digits(std::string_view chunk) noexcept {
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  for (const char c : chunk) {
    if (c < '0' || c > '9') digits_ = Digits::spoiled;
    if (digits_ == Digits::spoiled) return;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    number_ = number_ > (max - digit) / 10 ? max : number_ * 10 + digit;
    digits_ = Digits::some;
  }
}

// Appends bytes that are already counted.
inline void SseMachine::append(SseBuffer& buffer, std::string_view chunk) {
  const std::size_t needed = buffer.size() + chunk.size();
  if (needed > buffer.capacity()) grow(buffer, needed);
  buffer.append(chunk);
}

// Capacity doubles, but stays within what the limit can still let in. The data of an event begins
// with as much as that of the event before took, since events of a stream are alike.
void SseMachine::grow(SseBuffer& buffer, std::size_t needed) {
  const std::size_t expected = &buffer == &data_ ? expected_size_ : 0;
  const std::size_t wanted = std::max({needed, 2 * buffer.capacity(), expected, smallest_capacity});
  buffer.reserve(std::min(wanted, std::max(needed + room_left(), smallest_capacity)));
}

// Makes room for `more` bytes, likely the last.
void SseMachine::fit(SseBuffer& buffer, std::size_t more) {
  const std::size_t size = buffer.size() + more;
  if (size > buffer.capacity()) buffer.reserve(size);
}

// Copies what lies in bytes that are about to go.
inline void SseMachine::keep(SseBuffer& buffer) {
  if (buffer.borrows()) append(buffer, buffer.give_back());
}

// The line has ended, with `rest` after what is stored of its value, which takes effect.
inline void SseMachine::finish_field(std::string_view rest) {
  switch (field_) {
    case Field::data:
      if (data_.empty()) {
        data_.borrow(rest);
      } else {
        if (!has_data_) fit(data_, rest.size());
        append(data_, rest);
      }
      has_data_ = true;
      block_size_ += line_size_;
      break;
    case Field::event:
      finish_value(type_, rest);
      break;
    case Field::id:
      if (!contains_nul(value_.view()) && !contains_nul(rest)) {
        finish_value(id_, rest);
        has_id_ = true;
      }
      value_.recycle();
      break;
    case Field::retry:
      store_digits(rest);
      if (digits_ == Digits::some) retry_ = block_retry_ = number_;
      break;
    case Field::bom:
    case Field::other:
      break;
  }
  line_size_ = 0;
}

// A value takes the place of the one that an earlier line of the block has set.
inline void SseMachine::finish_value(SseBuffer& held, std::string_view rest) {
  const std::size_t replaced = held.size();
  if (value_.empty()) {
    held.borrow(rest);
  } else {
    append(value_, rest);
    held.swap(value_);
    value_.recycle();
  }
  block_size_ = block_size_ - replaced + held.size();
}

inline SseParser::Status SseMachine::end_block(SseSink& sink) {
  if (has_id_) last_event_id_.assign(id_.view());
  if (!has_data_ && !has_id_ && !block_retry_ && type_.empty()) return Status::ok;
  const SseEvent event{type_.empty() ? default_type : type_.view(), data_.view(), last_event_id_,
                       has_id_, block_retry_};
  if (!data_.empty() && !data_.borrows()) expected_size_ = std::min(data_.size(), most_expected);
  const Flow flow = has_data_ ? sink.on_event(event) : sink.on_block(event);
  clear_block();
  return status_of(flow);
}

void SseMachine::clear_block() noexcept {
  has_data_ = false;
  has_id_ = false;
  block_size_ = 0;
  block_retry_.reset();
  data_.recycle();
  type_.recycle();
  id_.recycle();
}

// Forgets the block and the line under way, and gives back their memory.
void SseMachine::drop_block() noexcept {
  clear_block();
  line_size_ = 0;
  data_.release();
  type_.release();
  id_.release();
  value_.release();
}

inline std::string_view SseMachine::name_of(Field field) noexcept {
  switch (field) {
    case Field::bom:
      return "\xEF\xBB\xBF";
    case Field::data:
      return "data";
    case Field::event:
      return "event";
    case Field::id:
      return "id";
    case Field::retry:
      return "retry";
    case Field::other:
      break;
  }
  return {};
}

inline SseMachine::Field SseMachine::field_beginning_with(char first) noexcept {
  switch (first) {
    case 'd':
      return Field::data;
    case 'e':
      return Field::event;
    case 'i':
      return Field::id;
    case 'r':
      return Field::retry;
    default:
      return Field::other;
  }
}

SseParser::SseParser(SseParserOptions options)
    : machine_(std::make_unique<SseMachine>(std::move(options))) {}
SseParser::SseParser(SseParser&& other) noexcept = default;
SseParser& SseParser::operator=(SseParser&& other) noexcept = default;
SseParser::~SseParser() = default;

SseParser::FeedResult SseParser::feed(std::string_view bytes, SseSink& sink) {
  return machine_->feed(bytes, sink);
}

std::optional<SseUnfinishedEvent> SseParser::take_unfinished() {
  return machine_->take_unfinished();
}

void SseParser::reset(std::string last_event_id) { machine_->reset(std::move(last_event_id)); }

std::string_view SseParser::last_event_id() const noexcept { return machine_->last_event_id(); }

std::optional<std::uint64_t> SseParser::retry() const noexcept { return machine_->retry(); }

}  // namespace mcphttp
