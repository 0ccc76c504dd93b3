// What comes back for one request: a head, then one message or a live stream of events, then an
// end.
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
#include <mcphttp/message.hpp>
#include <mcphttp/options.hpp>
#include <mcphttp/sse_parser.hpp>

namespace mcphttp {

class Inbox;
class Intake;

// What a successful answer consists of.
enum class ResponseKind {
  accepted,  // 2xx to a notification or to a response of ours: nothing more
  message,   // a JSON body: one JSON-RPC message
  stream,    // an event stream
  body,      // anything else, or nothing, in answer to Transport::forward()
};

// The final header block: nothing of 1xx blocks, nothing of trailers. Bounded by max_header_size.
struct ResponseHead {
  int status = 0;
  ResponseKind kind = ResponseKind::accepted;
  std::vector<Header> headers;  // in order of arrival, values trimmed

  // The first field of that name, compared without case; nullptr if there is none. Lives as long as
  // the head.
  MCPHTTP_EXPORT const std::string* find(std::string_view name) const noexcept;
};

// One event of an event stream, or with StreamExtras what stood beside the events. Owns its bytes.
// Thread-compatible.
class MCPHTTP_EXPORT Event {
 public:
  enum class Kind {
    event,    // it has data, which may be empty
    block,    // a block without a data line: no event by the standard, but it carried more
    comment,  // one comment line, or 4 KiB of a longer one; data() is what stood behind the colon
  };
  // The event's parts; for those who build events themselves, which is seldom needed.
  struct Parts {
    std::string type;                         // empty stands for "message"
    std::string data;                         // lines joined by LF, byte for byte as received
    std::string last_event_id;                // in force after this event
    bool has_id = false;                      // an id line stood in this event
    std::optional<std::uint64_t> retry = {};  // of a retry line in this event, milliseconds
    Kind kind = Kind::event;
  };
  explicit Event(Parts parts);
  // An event whose data is a message; `answers` if it is the response that its request waits for.
  Event(Parts parts, Message message, bool answers);

  Kind kind() const noexcept;
  std::string_view type() const noexcept;
  std::string_view data() const noexcept;
  std::string_view last_event_id() const noexcept;
  bool has_id() const noexcept;
  std::optional<std::chrono::milliseconds> retry() const noexcept;

  // The JSON-RPC message in the data; nullptr if the event carries none (another type, empty data,
  // or malformed, which is warned of). Lives as long as the event.
  const Message* message() const noexcept;
  // True for the response to the request of this exchange; the last event that is handed out.
  bool is_response() const noexcept;

  // The message, moved out; nothing if there is none. The event is spent.
  std::optional<Message> take_message() &&;

  // Puts another message in the place of the one it has, or as its data; all else stays: type, id,
  // retry, and whether it is the response.
  void replace_message(Message message);

  // Bytes that re-parse to this event: type, data and retry, and an id line only if it had one
  // (WHATWG HTML 9.2.6). What no event that was received can have, only one that was put together
  // or got another message, cannot break out of its place: a CR in the data becomes a line break, a
  // line end in the type a space, in a comment another comment line; an id with a line end or NUL
  // is left out.
  std::string frame() const;

 private:
  Parts parts_;  // data is empty where a message holds the text
  std::optional<Message> message_;
  bool is_response_ = false;
};

// Figures of a finished exchange. Durations run from the moment it was started.
struct ExchangeFigures {
  std::uint64_t bytes_sent = 0;      // bodies, of all requests it took
  std::uint64_t bytes_received = 0;  // bodies
  std::uint64_t events = 0;
  std::chrono::microseconds connected{0};  // 0 if that point was not reached
  std::chrono::microseconds headers{0};
  std::chrono::microseconds first_event{0};
  std::chrono::microseconds ended{0};
  bool connection_reused = false;
  int http_version = 0;  // 1 or 2, of the last response; 0 if none began
};

// How an exchange ended. Exactly one for each.
struct ExchangeEnd {
  enum class Reason {
    answered,     // the response was handed out (a JSON-RPC error is a response)
    accepted,     // 2xx to a notification or a response of ours; nothing to hand out
    unanswered,   // the stream ended in order without the response
    cut,          // the stream broke off
    not_offered,  // the server has no stream of its own messages (405, 404 without a session, or
                  // 400 to a GET); quiet, no fault
    limit,        // a field of ResponseLimits; see error
    cancelled,    // by the caller
    failed,       // anything else; see error
  };
  Reason reason = Reason::failed;
  std::optional<Error> error;  // set unless answered or accepted
  ExchangeFigures figures;
};

// The asynchronous core: receives one exchange. For an event stream: on_headers, on_event any
// number of times, on_end; for a JSON answer: on_headers, on_message (more than once only for a
// 2025-03-26 batch), on_end; for a failure: on_end alone, or after what came before it. Calls never
// overlap. Runs on the loop thread or the executor (event_loop.hpp). What a call throws ends the
// exchange with callback_threw.
class MCPHTTP_EXPORT ResponseHandler {
 public:
  virtual ~ResponseHandler() = default;
  // The head of a successful answer. Valid for the call.
  virtual void on_headers(const ResponseHead& head);
  // One event; may be moved from. pause: no call until Call::resume(), and the socket stops once
  // the queue is full. cancel: ends with `cancelled`.
  virtual Flow on_event(Event&& event);
  // The message of a JSON body, or one rescued from an unfinished last event; may be moved from.
  virtual void on_message(Message&& message);
  // The next bytes of a forwarded body that is neither (Transport::start_forward); the answers mean
  // what they mean for on_event.
  virtual Flow on_body(std::string&& bytes);
  // Exactly once, last.
  virtual void on_end(const ExchangeEnd& end) = 0;
};

// A running asynchronous exchange. Move-only; an empty one does nothing.
class MCPHTTP_EXPORT Call {
 public:
  Call() noexcept;
  explicit Call(std::shared_ptr<Inbox> inbox) noexcept;
  Call(Call&&) noexcept;
  Call& operator=(Call&&) noexcept;
  // Cancels; on return no callback runs or will run (event_loop.hpp, rule 5).
  ~Call();

  // Asks for the end; on_end(cancelled) follows, unless it has ended. Idempotent.
  void cancel();
  // Undoes Flow::pause. Any thread; no effect if not paused.
  void resume();
  // Lets the exchange run to its end without this handle.
  void detach();

 private:
  std::shared_ptr<Inbox> inbox_;
};

// Pulls events one by one. Owned by its Response. Use from one thread at a time.
class MCPHTTP_EXPORT EventStream {
 public:
  // The next event, waiting for it; nothing at the end, see end(). The response that a stream broke
  // off right behind (warning unterminated_event) is an event too. A slow reader stops the socket
  // once max_queued_size is reached. On the loop thread: nothing, and end() says wrong_thread of
  // that call alone: on another thread the stream goes on.
  std::optional<Event> next();
  // How it ended; meaningful once next() has returned nothing. Lives as long as the stream.
  const ExchangeEnd& end() const noexcept;
  // Asks for the end: next() then returns nothing. Any thread. Idempotent.
  void cancel();

 private:
  friend class Response;
  explicit EventStream(std::shared_ptr<Intake> intake) noexcept;
  std::shared_ptr<Intake> intake_;
};

// What Response::collect() found.
struct Collected {
  enum class Outcome {
    complete,   // the body has ended as it should, within the bounds
    too_large,  // it is longer than `max`
    timed_out,  // it did not end in the time given
    ended,      // it ended, but not as it should; EventStream::end() or Response::end() says how
  };
  Outcome outcome = Outcome::ended;
  // The body, if it is complete; else all three are empty, and what was read comes again from
  // events(), message() or read().
  std::vector<Event> events;       // of an event stream; the response is the last
  std::optional<Message> message;  // of a JSON body; of a 2025-03-26 batch, the answer alone
  std::string body;                // of any other, and JSON that is no message

  bool is_complete() const noexcept { return outcome == Outcome::complete; }
  // What a relay passes on: the events framed, the JSON text, or the body.
  MCPHTTP_EXPORT std::string bytes() const;
};

// The answer to one request, given out as soon as its headers are in. Move-only. Destroying it
// cancels what is still running.
class MCPHTTP_EXPORT Response {
 public:
  Response(Response&&) noexcept;
  Response& operator=(Response&&) noexcept;
  ~Response();

  ResponseKind kind() const noexcept;
  const ResponseHead& head() const noexcept;

  // The id of the request as raw JSON, by which its response is known; empty if it waits for none.
  std::string_view request_id() const noexcept;

  // The event stream; nullptr if this is none. Lives as long as the Response and is not moved with
  // it.
  EventStream* events() noexcept;

  // The message that answers the request, waiting for it: the JSON body, or the response event of a
  // stream, whose other events are dropped. Fails as ExchangeEnd::error does; `malformed_message`
  // if a forwarded JSON body is none (read() still gives it); `invalid_argument` if the kind is
  // accepted or body, or the answer was taken before.
  Result<Message> message();

  // The next bytes of the body, waiting for them: an event, framed; a JSON body whole; of any other
  // body what has come. Nothing at the end, see end(). On the loop thread as EventStream::next().
  std::optional<std::string> read();

  // Waits for the whole body: at most `within` (0: without limit), and for `max` bytes as bytes()
  // counts them (0 takes an empty one only; `unlimited` any). What is over the bounds is not lost:
  // the parts that were read come again, in order and before the rest. Holds `max` bytes and one
  // event besides what is queued. A declared length over `max` is believed at once.
  Collected collect(std::size_t max, std::chrono::milliseconds within = {});

  // How it ended; meaningful once nothing more has come. Lives as long as the Response.
  const ExchangeEnd& end() const noexcept;
  // Asks for the end: nothing more comes then. Any thread. Idempotent.
  void cancel();

 private:
  friend class Relay;
  friend class Transport;
  struct State;
  explicit Response(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace mcphttp
