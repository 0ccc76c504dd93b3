// What a caller may set for an exchange: limits on what is read, times, and how the endpoint is
// reached.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mcphttp/error.hpp>

namespace mcphttp {

inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// Bounds on what a server can make the client read and keep. All sizes are bytes, after any content
// decoding. A value equal to its limit passes; one more fails with the error named. The limits are
// independent of each other.
//
// Memory of one exchange, at most:
//   JSON body      max_json_response_size + 64; while it grows 256 KiB more, or with a limit beyond
//                  64 MiB as much again; it is checked where it lies
//   error body     2 x max_error_response_size + 64 (the bytes, and their printable form)
//   event stream   2 x max_sse_event_size (the event being read, and its text being checked) +
//                  max_queued_size + one event
//   forwarded      max_queued_size + 64 KiB, where it is neither of these
//   every kind     max_header_size, and libcurl's receive buffer of 64 KiB
// The typed results of Client are copies: up to 3 times the size of the message besides, and for
// list_*() up to 3 x max_list_size besides the page being read.
struct ResponseLimits {
  // A JSON body, whatever the HTTP status. Default 16 MiB. A Content-Length above it is refused
  // before a byte of the body is read; the body is not drained and the connection is closed. 0
  // accepts only an empty body. Over it: json_too_large, which is never followed by a fallback or a
  // retry. In a typed result of Client each element of a list counts 256 more, against this or
  // max_sse_event_size, whichever is larger.
  std::size_t max_json_response_size = std::size_t{16} * 1024 * 1024;

  // The prefix kept of an error body that is not JSON, and of any 401 or 403 without a challenge.
  // Default 64 KiB. Never an error: what follows is not read, Diagnostic::truncated is set. 0 keeps
  // none.
  std::size_t max_error_response_size = std::size_t{64} * 1024;

  // The value bytes of one event's `data` (lines joined by LF), `event` and `id`, those of an
  // unfinished line included. Of other lines, comments excepted, every byte counts until the line
  // ends. Default 16 MiB. 0 accepts only events whose values are empty. Over it: event_too_large.
  std::size_t max_sse_event_size = std::size_t{16} * 1024 * 1024;

  // All header blocks of one exchange, 1xx and trailers included: the bytes of each line, and 32
  // for each. Default 64 KiB. Over it: headers_too_large, and over 100 KiB in one line, which is
  // libcurl's own bound. 0 refuses every response.
  std::size_t max_header_size = std::size_t{64} * 1024;

  // All bytes of one event stream, or of a forwarded body that is neither a stream nor JSON.
  // Default unlimited. Over it: stream_too_large. 0 accepts only an empty stream.
  std::size_t max_stream_size = unlimited;

  // Events read and not yet taken by the caller: the bytes of their values, and 512 for each event.
  // Default 1 MiB, and one event more. Not an error: the socket is not read until the caller has
  // caught up. 0 keeps a single event.
  std::size_t max_queued_size = std::size_t{1024} * 1024;

  // Open arrays and objects in a message. Default 128. Over it: json_too_deep. 0 accepts no
  // message.
  std::size_t max_json_depth = 128;

  // An event id, or a session id. Default 1 KiB. A longer event id makes the stream not resumable
  // (warning event_id_dropped); a longer session id is bad_session_id. 0 switches resumption and
  // sessions off.
  std::size_t max_event_id_size = 1024;

  // One list_*() over all its pages: their number, and the bytes of all results, and 256 for each
  // element. Defaults 1,000 and 64 MiB. Over either, or if a cursor comes twice: list_too_large. 0
  // accepts no page.
  std::size_t max_list_pages = 1000;
  std::size_t max_list_size = std::size_t{64} * 1024 * 1024;
};

// How long to wait. An unset field takes the value of the level above (call, then options), then
// the default named here. 0 means no limit. Time in which the application does not read counts only
// for `total` and `request`.
struct Timeouts {
  using Milliseconds = std::chrono::milliseconds;

  // Name lookup, connection and TLS handshake together. Default 10 s. Over it: timeout_connect.
  std::optional<Milliseconds> connect = {};
  // Request sent to final header block. Default 300 s for requests (a server in JSON mode sends its
  // headers with the result), 30 s for everything else. Over it: timeout_header.
  std::optional<Milliseconds> headers = {};
  // Between two pieces of a body; SSE comments count as life. Default 300 s. Over it: timeout_idle.
  // Off for streams of server messages, unless set for that very stream, and for a subscription
  // once it is acknowledged.
  std::optional<Milliseconds> idle = {};
  // The whole call with its redirects and resumptions. Default 1 h for requests of a Client, none
  // for a Transport. Over it: timeout_total. Off where `idle` is.
  std::optional<Milliseconds> total = {};
  // A request without progress: from its beginning, and again from each progress notification for
  // it (MCP 2025-11-25, Lifecycle, Timeouts), which a Client asks for wherever this is set. Default
  // none. Over it: timeout_request. Never extends `total`; in the modern era each round of a call
  // is a request of its own. Off for a subscription once it is acknowledged.
  std::optional<Milliseconds> request = {};
  // The body of an error, or of a reply to a notification. Default 2 s. Never an error: the
  // diagnostic is truncated.
  std::optional<Milliseconds> diagnostic = {};
};

// What is handed out of an event stream beside its events, as an Event of another kind: for relays.
// It counts toward max_queued_size like any event.
struct StreamExtras {
  // Blocks without data that carry an id, a retry or a type. Default: no.
  bool blocks = false;
  // Comments, which servers send as signs of life. Default: no.
  bool comments = false;
};

// One header field. Name: an RFC 9110 token; value: no CR, LF or NUL. Checked before anything is
// sent.
struct Header {
  std::string name;
  std::string value;
};

// Redirects are followed for 307 and 308 only, with method and body kept (RFC 9110 15.4.8).
enum class Redirects {
  same_origin,  // scheme, host and port unchanged; anything else is redirect_refused
  none,         // every redirect is redirect_refused
};

// Runs a task later, in any thread, each task exactly once or never. Must not run it before
// returning.
using Executor = std::function<void(std::function<void()> task)>;

// How a broken event stream is taken up again (MCP 2025-11-25, Resumability and Redelivery). A
// server's `retry` takes the place of the first delay and is a lower bound for the others.
struct Reconnection {
  // The first delay without a `retry`; each further one about doubles, with jitter. Default 1 s;
  // must be positive.
  std::chrono::milliseconds initial_delay{1000};
  // No delay of our own choice is longer. Default 30 s; at least initial_delay.
  std::chrono::milliseconds max_delay{30'000};
  // Attempts in a row that bring no JSON-RPC message before a request is given up. Default 5; 0
  // resumes nothing. A stream of server messages (Transport::open_stream) is opened again without
  // end, unless this is 0.
  int max_attempts = 5;
};

// One challenge of a WWW-Authenticate field (RFC 9110 11.6.1).
struct AuthorizationChallenge {
  std::string scheme;   // lower case
  std::string token68;  // empty unless given instead of parameters
  std::vector<std::pair<std::string, std::string>>
      parameters;  // names in lower case, values unquoted
};

// A request that was refused for its credentials.
struct AuthorizationRefusal {
  std::string url;               // the endpoint
  int http_status = 0;           // 401 or 403
  std::string www_authenticate;  // as sent, several fields joined by ", "; empty if there was none
  std::vector<AuthorizationChallenge> challenges;
};

// Supplies credentials. Called on the options' executor, else on a thread of the library's, for any
// number of requests at a time, but for one refusal only: calls that wait for the same refresh
// share it. May block, and may use the library.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // Before each request: the value of its Authorization header, empty for none. `done` may be
  // called from any thread, now or later; a second call has no effect, and dropping it means none.
  virtual void authorize(const std::string& url,
                         std::function<void(std::string authorization)> done) = 0;
  // After a 401 or 403: true if fresh credentials are to be had, and the request is to be sent once
  // more; never again for the same request. Dropping `done` means false.
  virtual void refused(const AuthorizationRefusal& refusal,
                       std::function<void(bool retry)> done) = 0;
};

// How an endpoint is reached and what is read from it. Checked once, when a Transport is made.
struct TransportOptions {
  // The MCP endpoint: http:// or https://, without user info or fragment.
  std::string url;

  ResponseLimits limits;
  Timeouts timeouts;

  // Sent with every request. Those the transport sets itself are refused: Accept, Accept-Encoding,
  // Connection, Content-Encoding, Content-Length, Content-Type, Expect, Host, Last-Event-ID,
  // Transfer-Encoding, Upgrade, User-Agent and Mcp-*; Authorization beside bearer_token or an
  // authorizer, and by the same rule for plain http.
  std::vector<Header> headers;
  // Sent as "Authorization: Bearer ..."; empty for none. Refused over plain http to a host that is
  // not loopback, or through a proxy that is not, unless allow_bearer_over_http: whoever is on the
  // path can read and reuse it.
  std::string bearer_token;
  bool allow_bearer_over_http = false;
  // Asked for the Authorization header instead of bearer_token; null for none. The same rule for
  // plain http holds.
  std::shared_ptr<Authorizer> authorizer;

  // Continue a session of another process, see Transport::session(). Empty: none, and no revision
  // is taken as agreed.
  std::string session_id;
  std::string protocol_version;

  // Empty: "mcphttp/VERSION".
  std::string user_agent;

  Reconnection reconnection;

  Redirects redirects = Redirects::same_origin;
  int max_redirects = 5;

  // TLS. ca_file: PEM bundle of trusted roots, empty for the system's. client_certificate and
  // client_key: PEM files, empty for none.
  std::string ca_file;
  std::string client_certificate;
  std::string client_key;

  // URL of an HTTP or SOCKS proxy, with user info if need be; empty for a direct connection. The
  // environment (http_proxy, no_proxy and the like) is read only if proxy_from_environment, which
  // is refused beside a proxy; where it leads is not known, so credentials over plain http then
  // need allow_bearer_over_http even for a loopback host.
  std::string proxy;
  bool proxy_from_environment = false;

  // Speak HTTP/2: for https where the server does too (ALPN), for http by prior knowledge (RFC 9113
  // 3.3). Takes effect with libcurl 8.14 or newer; an older one is unfit for it, which is warned of
  // once (http2_unavailable), and HTTP/1.1 is spoken. Exchanges then share one connection, where a
  // stream cannot be paused without harm to the others: a reader who falls behind by more than
  // max_queued_size ends with queue_full. See SendOptions::own_connection.
  bool http2 = false;

  // Connect to this Unix socket instead of the URL's host and port (which still name the Host
  // header); empty for TCP.
  std::string unix_socket_path;
  // Local interface, address or host to send from; empty for any.
  std::string bind_interface;

  // Told of what was tolerated; runs where the callbacks of the exchange run. May be empty.
  std::function<void(const Warning&)> on_warning;
  // Runs the callbacks of asynchronous exchanges, one at a time for each exchange. Empty: the loop
  // thread runs them.
  Executor executor;
};

}  // namespace mcphttp
