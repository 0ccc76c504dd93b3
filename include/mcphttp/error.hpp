// Errors as values. Every fallible call of mcphttp returns Result<T>; nothing throws for a reason
// met at run time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include <mcphttp/export.hpp>

namespace mcphttp {

// What went wrong. The hundreds say what the caller can do next (see ErrorGroup); values are fixed
// and never renumbered.
enum class ErrorCode : int {
  // Usage: the call itself is wrong; change it.
  invalid_argument = 100,  // an argument or option breaks a documented rule; nothing was sent
  wrong_thread =
      101,  // a blocking member was called where only the loop may run; use the asynchronous form
  closed = 102,  // the object was closed

  // Cancelled: by the caller, or by a rule of its own.
  cancelled = 200,
  stopped_by_inspector = 201,  // an Inspector said so (relay.hpp)
  not_inspectable = 202,       // an Inspector could not have seen it; `detail` says why
  input_refused = 203,  // the server asked for input that no request handler gave (client.hpp)

  // Network: no HTTP response came. `delivery` says whether the server may have seen the request.
  resolve_failed = 300,   // the host name has no address
  connect_failed = 301,   // no TCP (or Unix socket) connection
  tls_failed = 302,       // handshake or certificate check failed
  proxy_failed = 303,     // the configured proxy cannot be reached, or refused the tunnel
  connection_lost = 304,  // the connection ended before a response began

  // Timeout: one of Timeouts has passed.
  timeout_connect = 400,
  timeout_header = 401,  // Timeouts::headers
  timeout_idle = 402,
  timeout_total = 403,    // Timeouts::total, or a server's `retry` that would outlast it
  timeout_request = 404,  // Timeouts::request

  // Limit: a field of ResponseLimits was exceeded; `detail` names it.
  json_too_large = 500,
  json_too_deep = 501,
  event_too_large = 502,
  headers_too_large = 503,
  stream_too_large = 504,
  list_too_large = 505,
  queue_full = 506,

  // HTTP: the server or something before it refused; `http_status` is set.
  http_error = 600,
  unauthorized = 601,      // 401, or 403 with a challenge
  session_expired = 602,   // 404 while a session was in use (MCP 2025-11-25, Session Management)
  redirect_refused = 603,  // not 307/308 inside the origin, or too many; `location` is set

  // Protocol: the answer breaks a rule of HTTP, SSE, JSON-RPC or MCP.
  bad_content_type = 700,      // neither application/json nor text/event-stream
  bad_content_encoding = 701,  // a content or transfer coding nobody asked for
  bad_session_id = 702,        // not visible ASCII, or longer than max_event_id_size
  malformed_json = 703,
  malformed_message = 704,  // JSON, but not the JSON-RPC message that belongs here
  id_mismatch = 705,        // a JSON body answers another request
  body_truncated = 706,     // the body ended before its framing said so
  stream_ended_without_response = 707,
  unsupported_version = 708,  // no protocol revision in common
  rpc_error = 709,  // the server answered with a JSON-RPC error: rpc_code, rpc_message, rpc_data
  malformed_http = 710,  // what came is no HTTP response, or one whose length cannot be told

  // Internal.
  callback_threw = 800,  // an exception left a callback of the application; its exchange was ended
  out_of_memory = 801,
  internal = 802,
};

// The caller's next move: one group for each hundred of ErrorCode.
enum class ErrorGroup : int {
  usage = 1,      // fix the call
  cancelled = 2,  // nothing: it was asked for, or is the application's own rule
  network = 3,    // look at `delivery`, then try again later
  timeout = 4,    // allow more time, or look at `delivery` and try again
  limit = 5,      // raise the limit named in `detail`, or ask for less
  http = 6,       // look at `http_status`
  protocol = 7,   // the server is at fault, or answered with a JSON-RPC error
  internal = 8,   // a bug or lack of memory
};

// May a request that failed have been carried out?
enum class Delivery {
  not_sent,  // no: it never left
  unknown,   // perhaps: it was sent, no answer came
  answered,  // the server answered; the answer, not the exchange, says what was done
};

// A bounded prefix of an answer that is not a protocol message, fit to be printed.
struct Diagnostic {
  std::string
      text;  // valid UTF-8, control characters escaped as \n or \xNN; server text: never trust it
  bool truncated = false;  // more followed
};

// One failure. A value: copy it, keep it, print it. Thread-compatible.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string
      detail;  // one printable line of our own words: which rule or limit, its value, what was seen
  Delivery delivery = Delivery::not_sent;
  int http_status = 0;  // of the final response; 0 if there was none
  std::optional<std::chrono::milliseconds>
      retry_after;               // Retry-After (RFC 9110 10.2.3), measured from receipt
  std::string www_authenticate;  // the challenges of a 401 or 403, as sent; several joined by ", "
  std::string location;          // of a refused redirect, as sent
  std::string content_type;      // of the final response, as sent
  Diagnostic diagnostic;         // the beginning of the body, where there was one to show
  std::int64_t rpc_code = 0;  // JSON-RPC error object (JSON-RPC 2.0 section 5.1); set for rpc_error
  std::string rpc_message;    // server text
  std::string rpc_data;       // raw JSON; empty if absent
  std::shared_ptr<const Error> cause;  // an inner failure that led here; null if none

  // One printable line: code, detail, status and cause; server text escaped. Never contains
  // credentials.
  MCPHTTP_EXPORT std::string to_string() const;
};

template <class T>
using Result = tl::expected<T, Error>;

// The name of a code as written in ErrorCode, "unknown" for a foreign value. Static storage.
MCPHTTP_EXPORT std::string_view to_string(ErrorCode code) noexcept;
MCPHTTP_EXPORT std::string_view to_string(Delivery delivery) noexcept;

// The group of a code.
constexpr ErrorGroup group(ErrorCode code) noexcept {
  return static_cast<ErrorGroup>(static_cast<int>(code) / 100);
}

// True if sending the same request again later is free of the risk of carrying it out twice and may
// end otherwise. Looks at code, delivery and http_status only. A cut or a limit after sending is
// never retryable: the request may have been carried out.
MCPHTTP_EXPORT bool is_retryable(const Error& error) noexcept;

// Reports of what was tolerated. They come through TransportOptions::on_warning; the library itself
// prints nothing.
enum class WarningKind {
  unterminated_event,   // the response was taken from a last event that lacked its blank line
  id_type_changed,      // response id "1" for request 1
  foreign_message,      // a response to somebody else's request was skipped
  malformed_event,      // an event that is no JSON-RPC message was skipped
  session_id_changed,   // a later reply carried another session id; ignored
  session_restarted,    // a lost session was replaced by a new one
  invalid_tool,         // a tool whose definition breaks the rules was left out of a list
  event_id_dropped,     // an event id that cannot be sent back: the stream is not resumable
  stream_not_reopened,  // a server stream ended and cannot be had again
  http2_unavailable,    // HTTP/2 was asked for, the libcurl at hand is unfit for it
};

struct Warning {
  WarningKind kind;
  std::string text;  // one printable line
};

MCPHTTP_EXPORT std::string_view to_string(WarningKind kind) noexcept;

}  // namespace mcphttp
