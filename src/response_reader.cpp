#include "response_reader.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "http_fields.hpp"
#include "message.hpp"
#include "text.hpp"

namespace mcphttp {
namespace {

// Growth of a JSON buffer of unknown length: small answers stay small; beyond this the whole limit
// is reserved at once, of which the system backs only what is written, so that nothing is ever
// moved. Above the ceiling it doubles.
constexpr std::size_t small_body = std::size_t{256} * 1024;
constexpr std::size_t reserve_ceiling = std::size_t{64} * 1024 * 1024;

// Refused for want of credentials or of rights.
bool is_denied(int status) noexcept { return status == 401 || status == 403; }

bool is_success(int status) noexcept { return status >= 200 && status < 300; }

// 2xx without content, or with a part of it: no JSON-RPC answer can be in there.
bool has_no_answer(int status) noexcept { return status == 202 || status == 204 || status == 205; }

std::string limit_detail(std::string_view name, std::size_t value, std::string_view what) {
  return fmt::format("{} ({} bytes) exceeded by {}", name, value, what);
}

}  // namespace

// The SSE parser's side of the reader.
class ResponseReader::EventSink final : public SseSink {
 public:
  explicit EventSink(ResponseReader& reader) : reader_(reader) {}
  Flow on_event(const SseEvent& event) override { return reader_.take_event(event); }
  Flow on_block(const SseEvent& block) override { return reader_.take_block(block); }
  Flow on_comment(std::string_view text) override {
    Event::Parts parts{{}, std::string(text), {}, false, {}, Event::Kind::comment};
    return reader_.sink_.on_event(Event(std::move(parts)));
  }

 private:
  ResponseReader& reader_;
};

ResponseReader::ResponseReader(ReaderContext context, json::Checker& checker, ResponseSink& sink)
    : context_(std::move(context)),
      checker_(checker),
      sink_(sink),
      header_(context_.limits.max_header_size) {}

// --- What is fed, with lack of memory made an outcome --------------------------------------------

template <class Work>
void ResponseReader::guard_memory(Work work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    if (!outcome_) fail_without_memory();
  }
}

void ResponseReader::read_header_line(std::string_view line) {
  guard_memory([&] { take_header_line(line); });
}

ResponseReader::Consumed ResponseReader::read_body(std::string_view bytes) {
  Consumed consumed{bytes.size(), Flow::proceed};
  guard_memory([&] { consumed = take_body(bytes); });
  return consumed;
}

void ResponseReader::finish() {
  guard_memory([&] { take_end(); });
}

void ResponseReader::finish_broken(Error why) {
  guard_memory([&] { take_break(std::move(why)); });
}

void ResponseReader::finish_truncated() {
  guard_memory([&] {
    if (body_is_diagnostic()) finish_error_body(true, std::nullopt);
  });
}

// --- Header blocks -------------------------------------------------------------------------------

void ResponseReader::take_header_line(std::string_view line) {
  if (phase_ == Phase::over) return;
  switch (header_.read(line)) {
    case HeaderReader::Progress::reading:
      return;
    case HeaderReader::Progress::complete:
      judge_head();
      return;
    case HeaderReader::Progress::too_large:
      break_off(error(
          ErrorCode::headers_too_large,
          limit_detail("max_header_size", context_.limits.max_header_size, "the header fields")));
      return;
  }
}

// The order of judgement: what needs no body, then whether the body can be read, then status, then
// content type.
void ResponseReader::judge_head() {
  if (const std::string* value = head().find("Content-Type")) {
    media_type_ = http::parse_media_type(*value).value_or(http::MediaType{});
  }
  if (http::lengths_differ(head().headers)) {
    return break_off(
        error(ErrorCode::malformed_http, "Content-Length comes twice, with different values"));
  }
  if (context_.forwarded) return judge_forwarded();
  const auto coded = foreign_coding(head());
  if (judge_without_body()) {
    outcome_->connection_spoilt = coded.has_value();
  } else if (coded) {
    refuse_body(*coded);
  } else if (is_success(status())) {
    judge_success();
  } else {
    judge_error();
  }
}

// The status of an error says enough, and era detection depends on it; only its body is lost.
void ResponseReader::refuse_body(std::string_view coded) {
  Error unreadable = error(ErrorCode::bad_content_encoding,
                           fmt::format("a {} coding that was not asked for", coded));
  if (is_success(status())) {
    break_off(std::move(unreadable));
    return;
  }
  Error refused = refusal_by_status();
  refused.cause = std::make_shared<const Error>(std::move(unreadable));
  break_off(std::move(refused));
}

// True if there is an outcome.
bool ResponseReader::judge_without_body() {
  if (is_denied(status()) && head().find("WWW-Authenticate") != nullptr) {
    fail(error(ErrorCode::unauthorized, fmt::format("HTTP {} with a challenge", status())));
  } else if (is_lost_session()) {
    fail(error(ErrorCode::session_expired,
               fmt::format("HTTP {} to a request with a session id", status())));
  } else if (status() >= 300 && status() < 400) {
    end({ReadOutcome::Kind::redirected,
         error(ErrorCode::redirect_refused, fmt::format("HTTP {}", status())), false});
  } else if (is_success(status()) && context_.awaits == Awaits::acceptance) {
    hand_out_head(ResponseKind::accepted);
    end({ReadOutcome::Kind::accepted, {}, false});
  } else if (has_no_answer(status())) {
    fail(error(ErrorCode::stream_ended_without_response,
               fmt::format("HTTP {} to a request, which carries no response", status())));
  }
  return outcome_.has_value();
}

bool ResponseReader::is_lost_session() const {
  const bool says_so = status() == 404 || (status() == 400 && context_.takes_400_for_lost_session);
  return says_so && context_.session_in_use;
}

void ResponseReader::judge_success() {
  const bool is_stream = media_type_.essence == "text/event-stream";
  const bool wants_json = context_.awaits == Awaits::response;
  if (wants_json && status() != 206 && media_type_.essence == "application/json") {
    expect_json();
  } else if (status() == 200 && is_stream) {
    expect_events();
  } else if (status() == 206 || is_stream) {
    expect_diagnostic(error(ErrorCode::http_error, fmt::format("HTTP {} is no answer", status())));
  } else {
    expect_diagnostic(
        error(ErrorCode::bad_content_type, head().find("Content-Type") == nullptr
                                               ? "no Content-Type"
                                               : "neither application/json nor text/event-stream"));
  }
}

void ResponseReader::hand_out_head(ResponseKind kind) {
  ResponseHead head = header_.take_head();
  head.kind = kind;
  sink_.on_head(std::move(head));
}

Error ResponseReader::refusal_by_status() const {
  const ErrorCode code = status() == 401 ? ErrorCode::unauthorized : ErrorCode::http_error;
  return error(
      code, fmt::format("HTTP {}{}", status(), is_denied(status()) ? " without a challenge" : ""));
}

void ResponseReader::judge_error() {
  // Whoever denies access is not the MCP server's dispatcher: never an answer, even as JSON-RPC. A
  // GET asks for no answer.
  const bool may_answer = !is_denied(status()) && context_.awaits != Awaits::stream;
  if (may_answer && media_type_.essence == "application/json") {
    is_error_body_ = true;
    refusal_ = std::make_unique<Error>(refusal_by_status());
    expect_json();
  } else {
    expect_diagnostic(refusal_by_status());
  }
}

void ResponseReader::expect_json() {
  phase_ = Phase::json;
  const std::size_t limit = context_.limits.max_json_response_size;
  const std::string* value = head().find("Content-Length");
  const auto length = value != nullptr ? http::parse_content_length(*value) : std::nullopt;
  if (length && *length > limit) {
    break_off(error(ErrorCode::json_too_large,
                    limit_detail("max_json_response_size", limit, "the Content-Length")));
    return;
  }
  // A mere announcement gets no more than the ceiling.
  if (length) {
    body_.reserve(std::min(static_cast<std::size_t>(*length), reserve_ceiling) + json::padding);
  }
  if (!is_error_body_) hand_out_head(ResponseKind::message);
}

void ResponseReader::expect_events() {
  phase_ = Phase::events;
  parser_.emplace(SseParserOptions{.max_event_size = context_.limits.max_sse_event_size,
                                   .last_event_id = context_.last_event_id,
                                   .comments = context_.extras.comments});
  hand_out_head(ResponseKind::stream);
}

void ResponseReader::expect_diagnostic(Error refusal) {
  refusal_ = std::make_unique<Error>(std::move(refusal));
  if (context_.limits.max_error_response_size == 0) {
    refusal_->diagnostic.truncated = true;
    fail(std::move(*refusal_));
    return;
  }
  phase_ = Phase::diagnostic;
}

// --- Bodies --------------------------------------------------------------------------------------

ResponseReader::Consumed ResponseReader::take_body(std::string_view bytes) {
  body_bytes_ += bytes.size();
  switch (phase_) {
    case Phase::json:
      return read_json(bytes);
    case Phase::events:
      return read_events(bytes);
    case Phase::diagnostic:
      return read_diagnostic(bytes);
    case Phase::body:
      return read_forwarded(bytes);
    case Phase::headers:
    case Phase::over:
      break;
  }
  return {bytes.size(), Flow::proceed};
}

// Appends to the body, of which no more than `limit` bytes and the padding are ever held.
void ResponseReader::append_body(std::string_view bytes, std::size_t limit) {
  const std::size_t needed = body_.size() + bytes.size() + json::padding;
  if (body_.capacity() < needed) {
    const std::size_t most = std::max(limit, limit + json::padding);  // unlimited has none to add
    std::size_t size = std::max(needed, body_.capacity() * 2);
    if (limit <= reserve_ceiling) size = needed > small_body ? most : std::min(size, small_body);
    // A string that grows in place may double past what it was asked for.
    std::string grown;
    grown.reserve(std::min(size, most));
    grown += body_;
    body_.swap(grown);
  }
  body_ += bytes;
}

ResponseReader::Consumed ResponseReader::read_json(std::string_view bytes) {
  const std::size_t limit = context_.limits.max_json_response_size;
  if (bytes.size() > limit - body_.size()) {
    break_off(error(ErrorCode::json_too_large,
                    limit_detail("max_json_response_size", limit, "a JSON body")));
  } else {
    append_body(bytes, limit);
  }
  return {bytes.size(), Flow::proceed};
}

ResponseReader::Consumed ResponseReader::read_diagnostic(std::string_view bytes) {
  const std::size_t limit = context_.limits.max_error_response_size;
  const std::size_t room = limit - body_.size();
  append_body(bytes.substr(0, room), limit);
  if (bytes.size() > room) finish_error_body(true, std::nullopt);
  return {bytes.size(), Flow::proceed};
}

ResponseReader::Consumed ResponseReader::read_events(std::string_view bytes) {
  EventSink sink(*this);
  const std::size_t limit = context_.limits.max_stream_size;
  const bool over = body_bytes_ > limit;
  // What is within the bound still counts: an answer in it is an answer.
  const std::uint64_t excess =
      over ? std::min<std::uint64_t>(bytes.size(), body_bytes_ - limit) : 0;
  const std::string_view within = bytes.substr(0, bytes.size() - static_cast<std::size_t>(excess));
  const SseParser::FeedResult fed = parser_->feed(within, sink);
  if (phase_ == Phase::over) return {bytes.size(), Flow::proceed};
  switch (fed.status) {
    case SseParser::Status::paused:
      body_bytes_ -= bytes.size() - fed.consumed;
      return {fed.consumed, Flow::pause};
    case SseParser::Status::event_too_large:
      break_off(error(
          ErrorCode::event_too_large,
          limit_detail("max_sse_event_size", context_.limits.max_sse_event_size, "an event")));
      break;
    case SseParser::Status::cancelled:
    case SseParser::Status::ok:
      if (over) {
        break_off(error(ErrorCode::stream_too_large,
                        limit_detail("max_stream_size", limit, "the event stream")));
      }
      break;
  }
  return {bytes.size(), Flow::proceed};
}

// --- Ends ----------------------------------------------------------------------------------------

void ResponseReader::take_end() {
  switch (phase_) {
    case Phase::headers:
      fail(error(ErrorCode::connection_lost, "the response ended inside its header"));
      return;
    case Phase::json:
      finish_json();
      return;
    case Phase::events:
      finish_events(std::nullopt);
      return;
    case Phase::diagnostic:
      finish_error_body(false, std::nullopt);
      return;
    case Phase::body:
      end({ReadOutcome::Kind::answered, {}, false});
      return;
    case Phase::over:
      return;
  }
}

void ResponseReader::take_break(Error why) {
  if (phase_ == Phase::over) return;
  if (header_.is_complete()) why.http_status = status();
  if (body_is_diagnostic()) {
    finish_error_body(true, std::move(why));
  } else if (phase_ == Phase::events && why.code == ErrorCode::body_truncated) {
    finish_events(std::move(why));
  } else if (phase_ == Phase::body && why.code == ErrorCode::body_truncated) {
    cut_forwarded(std::move(why));
  } else {
    break_off(std::move(why));
  }
}

void ResponseReader::finish_json() {
  if (context_.forwarded) return finish_forwarded_json();
  std::string prefix;
  if (is_error_body_) prefix = body_.substr(0, context_.limits.max_error_response_size);
  const std::size_t size = body_.size();
  auto messages = parse_messages(std::exchange(body_, std::string()));
  if (is_error_body_ && (!messages || messages->front().kind() != Message::Kind::error ||
                         !answers_request(messages->front()))) {
    body_ = std::move(prefix);
    finish_error_body(size > body_.size(), std::nullopt);
  } else if (!messages) {
    fail(error(messages.error().code, messages.error().detail));
  } else {
    if (is_error_body_) hand_out_head(ResponseKind::message);
    hand_out_body(std::move(*messages));
  }
}

void ResponseReader::finish_events(std::optional<Error> cut) {
  if (!cut && rescue_unfinished_event()) return;
  Error ended = first_fault_ ? *first_fault_
                             : error(ErrorCode::stream_ended_without_response,
                                     cut ? "the event stream broke off before the response"
                                         : "the event stream ended before the response");
  ended.delivery = Delivery::unknown;
  if (cut) ended.cause = std::make_shared<const Error>(std::move(*cut));
  end({ReadOutcome::Kind::unanswered, std::move(ended), false});
}

void ResponseReader::finish_error_body(bool truncated, std::optional<Error> cause) {
  const std::size_t kept = std::min(body_.size(), context_.limits.max_error_response_size);
  refusal_->diagnostic = text::make_diagnostic(
      std::string_view(body_).substr(0, kept), media_type_.charset,
      truncated || kept < body_.size(), context_.limits.max_error_response_size);
  if (cause) refusal_->cause = std::make_shared<const Error>(std::move(*cause));
  drop_body();
  end({ReadOutcome::Kind::failed, std::move(*refusal_), truncated});
}

// --- Reports -------------------------------------------------------------------------------------

// Assigning an empty string would keep the memory.
void ResponseReader::drop_body() { std::string().swap(body_); }

Error ResponseReader::error(ErrorCode code, std::string detail) const {
  Error made;
  made.code = code;
  made.detail = std::move(detail);
  made.delivery = group(code) == ErrorGroup::http ? Delivery::answered : Delivery::unknown;
  if (!header_.is_complete()) return made;
  made.http_status = status();
  if (const std::string* type = head().find("Content-Type")) made.content_type = *type;
  if (const std::string* location = head().find("Location")) made.location = *location;
  if (const std::string* after = head().find("Retry-After")) {
    made.retry_after = http::parse_retry_after(*after, context_.now());
  }
  for (const Header& header : head().headers) {
    if (!http::iequals(header.name, "WWW-Authenticate")) continue;
    if (!made.www_authenticate.empty()) made.www_authenticate += ", ";
    made.www_authenticate += header.value;
  }
  return made;
}

// After an answer nothing may fail any more, for want of memory neither; and none is taken up
// again.
void ResponseReader::end(ReadOutcome outcome) {
  if (phase_ == Phase::events && outcome.kind != ReadOutcome::Kind::answered) {
    outcome.was_stream = true;
    outcome.last_event_id = parser_->last_event_id();
    outcome.retry = parser_->retry();
  }
  phase_ = Phase::over;
  outcome_ = std::move(outcome);
}

void ResponseReader::fail(Error error) {
  end({ReadOutcome::Kind::failed, std::move(error), false});
}

void ResponseReader::break_off(Error error) {
  drop_body();
  end({ReadOutcome::Kind::failed, std::move(error), true});
}

// Takes none itself.
void ResponseReader::fail_without_memory() noexcept {
  drop_body();
  phase_ = Phase::over;
  outcome_.emplace();
  outcome_->kind = ReadOutcome::Kind::failed;
  outcome_->error.code = ErrorCode::out_of_memory;
  outcome_->error.delivery = Delivery::unknown;
  if (header_.is_complete()) outcome_->error.http_status = status();
  outcome_->connection_spoilt = true;
}

void ResponseReader::warn(WarningKind kind, std::string text) {
  sink_.on_warning({kind, std::move(text)});
}

}  // namespace mcphttp
