// Relay: a response on its way through a gateway, message by message past an inspector, as bytes to
// be written downstream. Stands on Response; for authors of gateways, proxies and sidecars
// (docs/gateway.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <mcphttp/error.hpp>
#include <mcphttp/export.hpp>
#include <mcphttp/message.hpp>
#include <mcphttp/response.hpp>

namespace mcphttp {

// What an inspector wants done.
struct Verdict {
  enum class Action {
    pass,
    replace,  // `text` is the JSON of the message that takes its place
    stop,     // nothing more goes downstream; `text` and `rpc_code` say why
  };
  Action action = Action::pass;
  std::string text = {};
  std::int64_t rpc_code = 0;

  static Verdict pass() { return {}; }
  static Verdict replace(std::string json) { return {Action::replace, std::move(json)}; }
  // `reason` is shown downstream, as the message of a JSON-RPC error of that code.
  static Verdict stop(std::string reason, std::int64_t code = -32000) {
    return {Action::stop, std::move(reason), code};
  }
};

// Looks at the messages of one response, in order. Called by the thread that uses the Relay.
class Inspector {
 public:
  virtual ~Inspector() = default;
  // For a JSON body: its message, `last`. For an event stream: each message, in an event of
  // whatever type, then nullptr, `last`, before the bytes that complete the stream are let go.
  // `last` comes exactly once, however the response ends, the destruction of the Relay included;
  // with nullptr too if a body had no message or could not be had. With nullptr there is nothing to
  // replace: that counts as stop. So do an exception, and a replacement that is no JSON-RPC
  // message.
  virtual Verdict on_message(const Message* message, bool last) = 0;
};

struct RelayOptions {
  // Null: everything passes, and nothing below means anything.
  std::shared_ptr<Inspector> inspector = nullptr;

  enum class Streams {
    live,   // each event passes as soon as it has been judged
    whole,  // an event stream that ends with a response is held back until all of it has been
            // judged, within the two bounds below: it passes whole or not at all
  };
  Streams streams = Streams::live;
  // What can be inspected whole: bytes of a JSON body, and of a stream held back, which is held
  // twice for a moment. Default 4 MiB. 0: nothing can.
  std::size_t max_whole_size = std::size_t{4} * 1024 * 1024;
  // How long a stream is held back. Default 30 s. 0: without limit.
  std::chrono::milliseconds whole_within{30'000};

  // What cannot be inspected: a content coding, a part (206), no-transform, more than
  // max_whole_size or whole_within, JSON or a `message` event that is no JSON-RPC message, a body
  // of neither kind whose Content-Type is missing, repeated, malformed or names json or
  // event-stream.
  enum class Uninspected {
    refuse,  // not_inspectable: an error answer, or a broken-off stream
    pass,    // untouched, unseen by the inspector but for its `last`
  };
  Uninspected uninspected = Uninspected::refuse;
  // Cache-Control: no-transform forbids to replace anything (RFC 9110 7.7), so nothing is
  // inspected. Many servers send it with event streams only to keep compression away; false: ignore
  // it.
  bool heed_no_transform = true;
};

// How downstream is to be ended.
enum class RelayEnding {
  clean,  // in order: what was written is complete
  abort,  // by breaking the connection (HTTP/1.1) or resetting the stream: it must not look
          // complete
};

// An answer of the gateway's own.
struct ErrorAnswer {
  ResponseHead head;
  std::string body;  // a JSON-RPC error response
};

// The answer for what forward() or post() failed with, or an inspector stopped. `request_id`: raw
// JSON; empty for null. Status: 200 for stopped_by_inspector if there is an id, else 403; 504 for a
// time-out, 400 for usage, 503 if cancelled, 500 for internal errors, 502 for all else. Shows code
// and detail of the error, never server text.
MCPHTTP_EXPORT ErrorAnswer error_answer(const Error& error, std::string_view request_id);

// The downstream side of one Response: head(), then next() until there is nothing, then ending().
// Pulling stops the upstream's socket once its queue is full, so a slow downstream needs no more
// than max_queued_size and one event. A JSON body, and a stream held back, are sent with their
// length; an event stream is framed anew, event by event. Whatever is replaced or framed anew loses
// ETag, Digest, Content-Digest, Repr-Digest and Content-MD5. An event stream that hits a limit or a
// time-out ends with a JSON-RPC error for the request, so that the client hears its name.
// Move-only; from one thread at a time, but for cancel().
class MCPHTTP_EXPORT Relay {
 public:
  explicit Relay(Response response, RelayOptions options = {});
  Relay(Relay&&) noexcept;
  Relay& operator=(Relay&&) noexcept;
  // Cancels what is still running. The inspector has heard of the end.
  ~Relay();

  // What to send first. Waits for what goes out whole. From now on, and from the first next() that
  // returned something, a refusal is an abort; before, it is a whole error answer. Who wants a live
  // stream's first message judged before the head is sent calls next() first. Lives as long as the
  // Relay.
  const ResponseHead& head();
  // The next bytes of the body, waiting for them; nothing at the end.
  std::optional<std::string> next();

  // The members below mean something once next() has returned nothing.
  RelayEnding ending() const noexcept;
  // Why downstream did not get what upstream sent, or upstream did not send a whole answer; nullptr
  // if all is well.
  const Error* error() const noexcept;
  // How the exchange with upstream ended; `cancelled` also where it was given up for a refusal.
  const ExchangeEnd& upstream_end() const noexcept;

  // Downstream is gone. Any thread. Idempotent.
  void cancel();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mcphttp
