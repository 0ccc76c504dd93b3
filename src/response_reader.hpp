// ResponseReader: status line, header lines and body bytes of one HTTP response in; a message,
// events or a diagnostic out. Every read limit lives here. No I/O, no libcurl: the same bytes give
// the same answer however they are cut.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/error.hpp>
#include <mcphttp/options.hpp>
#include <mcphttp/response.hpp>
#include <mcphttp/sse_parser.hpp>

#include "header_reader.hpp"
#include "http_fields.hpp"
#include "json.hpp"
#include "sse_machine.hpp"

namespace mcphttp {

// What the request that was sent waits for.
enum class Awaits {
  response,    // a JSON-RPC request: its response
  acceptance,  // a notification, a response of ours, or the end of a session: any 2xx
  stream,      // a GET: an event stream of messages that answer nothing
};

struct ReaderContext {
  Awaits awaits = Awaits::response;
  std::string request_id;       // raw token; for Awaits::response
  bool session_in_use = false;  // the request carried a session id, so that 404 means its end
  bool takes_400_for_lost_session = false;
  bool is_modern = false;      // 2026-07-28: the server must not ask anything on a stream
  bool takes_batches = false;  // 2025-03-26: an array holds several messages
  StreamExtras extras;
  bool forwarded = false;     // whatever comes is the answer (Transport::forward)
  bool is_bodiless = false;   // it has no body, whatever its head says (HEAD)
  std::string last_event_id;  // where a resumed stream goes on from
  ResponseLimits limits;
  // The clock against which a Retry-After that is a date is measured; nothing else asks for the
  // time.
  std::chrono::system_clock::time_point (*now)() = &std::chrono::system_clock::now;
};

// Receives, in order, what a response consists of.
class ResponseSink {
 public:
  // The head of an answer that is one: followed by messages or events. Not called for refusals.
  virtual void on_head(ResponseHead&& head) = 0;
  // True if the event of that id has come before, and is to be passed over.
  virtual bool is_replay(std::string_view /*event_id*/) { return false; }
  // proceed or pause; who wants no more stops feeding the reader.
  virtual Flow on_event(Event&& event) = 0;
  virtual void on_message(Message&& message) = 0;
  // The next bytes of a forwarded body that is neither; answers as on_event.
  virtual Flow on_body(std::string&& bytes) = 0;
  virtual void on_warning(Warning&& warning) = 0;

 protected:
  ~ResponseSink() = default;
};

// How the response ended, from the reader's point of view. Once there is an outcome no more is
// handed out.
struct ReadOutcome {
  enum class Kind {
    answered,    // the response to the request was handed out
    accepted,    // 2xx to something that wants no response
    redirected,  // 3xx; error.location says where to
    unanswered,  // an event stream ended without the response; error says how
    failed,      // error says why
  };
  Kind kind;
  Error error;                     // unless answered or accepted
  bool connection_spoilt = false;  // a limit or rule was broken: close at once, read nothing more
  // Of an event stream: where it could go on from, and the server's wish how long to wait
  // (milliseconds).
  bool was_stream = false;
  std::string last_event_id{};
  std::optional<std::uint64_t> retry{};
};

// One response. Loop context (thread-compatible). Lack of memory, the sink's included, is an
// outcome like any other: no member but the constructor throws std::bad_alloc.
class ResponseReader {
 public:
  // `checker` and `sink` must outlive the reader.
  ResponseReader(ReaderContext context, json::Checker& checker, ResponseSink& sink);

  // Where the reader is.
  enum class Phase {
    headers,     // the final header block has not ended
    json,        // collecting a JSON body, of an answer or of an error
    events,      // an event stream
    diagnostic,  // keeping the prefix of a body that is no answer
    body,        // handing a forwarded body out as it comes
    over,        // there is an outcome: what still comes is thrown away
  };
  Phase phase() const noexcept { return phase_; }
  // True if a body of the present phase says nothing of the answer: bounded by
  // Timeouts::diagnostic.
  bool body_is_diagnostic() const noexcept {
    return phase_ == Phase::diagnostic || (phase_ == Phase::json && is_error_body_);
  }
  const std::optional<ReadOutcome>& outcome() const noexcept { return outcome_; }
  // The same, to be passed on: what it says of the error is no longer here afterwards.
  ReadOutcome take_outcome() { return std::move(*outcome_); }
  int status() const noexcept { return head().status; }

  // One line of any header block or trailer, with its line end, as it arrives.
  void read_header_line(std::string_view line);

  // Body bytes. Returns how many were consumed: fewer only with Flow::pause, when the rest must be
  // given again later. Always everything once there is an outcome.
  struct Consumed {
    std::size_t bytes;
    Flow flow;
  };
  Consumed read_body(std::string_view bytes);

  // The body is complete.
  void finish();
  // It never will be, for the reason given (connection failures, time-outs). There is an outcome
  // afterwards.
  void finish_broken(Error why);
  // Time for a diagnostic body is up: what has come must do.
  void finish_truncated();

  std::size_t header_bytes() const noexcept { return header_.size(); }
  std::uint64_t body_bytes() const noexcept { return body_bytes_; }
  std::uint64_t events() const noexcept { return events_; }

 private:
  class EventSink;

  const ResponseHead& head() const noexcept { return header_.head(); }
  template <class Work>
  void guard_memory(Work work);
  void take_header_line(std::string_view line);
  Consumed take_body(std::string_view bytes);
  void take_end();
  void take_break(Error why);
  void judge_head();
  void refuse_body(std::string_view coded);
  bool judge_without_body();
  bool is_lost_session() const;
  void judge_success();
  void judge_error();
  void judge_forwarded();
  void hand_out_head(ResponseKind kind);
  void expect_json();
  void expect_events();
  void expect_diagnostic(Error refusal);

  Consumed read_json(std::string_view bytes);
  Consumed read_events(std::string_view bytes);
  Consumed read_diagnostic(std::string_view bytes);
  Consumed read_forwarded(std::string_view bytes);
  Flow take_event(const SseEvent& event);
  Flow take_block(const SseEvent& block);
  Flow hand_out_messages(std::vector<Message> messages, Event::Parts parts);
  std::optional<std::vector<Message>> parse_event_messages(std::string& text);
  Result<std::vector<Message>> parse_messages(std::string&& text);
  bool rescue_unfinished_event();
  bool answers_request(const Message& message);
  void note_event_id(std::string_view id);
  void finish_json();
  void hand_out_body(std::vector<Message> messages);
  void finish_forwarded_json();
  void finish_events(std::optional<Error> cut);
  void cut_forwarded(Error why);
  void finish_error_body(bool truncated, std::optional<Error> cause);

  void append_body(std::string_view bytes, std::size_t limit);
  void drop_body();
  Error refusal_by_status() const;
  Error error(ErrorCode code, std::string detail) const;
  void end(ReadOutcome outcome);
  void fail(Error error);
  void break_off(Error error);
  void fail_without_memory() noexcept;
  void warn(WarningKind kind, std::string text);

  const ReaderContext context_;
  json::Checker& checker_;
  ResponseSink& sink_;

  Phase phase_ = Phase::headers;
  std::optional<ReadOutcome> outcome_;

  HeaderReader header_;
  http::MediaType media_type_;  // of the body; empty if none is known

  bool is_error_body_ = false;  // the JSON being collected belongs to a status that is no success
  // What the diagnostic will be attached to; like the next one out of the way of idle streams,
  // which never need it.
  std::unique_ptr<Error> refusal_;
  std::string body_;  // JSON text, or the diagnostic prefix
  std::uint64_t body_bytes_ = 0;
  std::uint64_t events_ = 0;

  std::optional<SseMachine> parser_;  // of an event stream
  // Of an event; names the error only if no response follows.
  std::unique_ptr<const Error> first_fault_;
  bool dropped_id_warned_ = false;
};

}  // namespace mcphttp
