// Transport: the exchange of single messages with one MCP endpoint, for gateways and for those who
// speak JSON-RPC themselves. Client stands on it.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <mcphttp/event_loop.hpp>
#include <mcphttp/options.hpp>
#include <mcphttp/response.hpp>

namespace mcphttp {

// Settings of a single exchange.
struct SendOptions {
  std::vector<Header> headers = {};  // over TransportOptions::headers of that name, same rules
  Timeouts timeouts = {};            // over TransportOptions::timeouts
  std::stop_token stop = {};         // a request to stop cancels the exchange
  // The request may be carried out twice without harm (a list, a read, a ping): sent once more if
  // the connection is lost before an answer began. Never set it for tools/call.
  bool idempotent = false;
  // With TransportOptions::http2: a connection of its own, over HTTP/1.1. For a reader who may be
  // slow, since such a stream is paused, not ended.
  bool own_connection = false;
  // What of an event stream is handed out beside its events. Default: nothing.
  StreamExtras extras = {};
};

// Settings of a GET.
struct StreamOptions {
  SendOptions send = {};
  // Where to go on from (Event::last_event_id() of an earlier stream); empty: with what comes.
  std::string last_event_id = {};
  // To take the stream of a request up again that another process, or an earlier Transport, had
  // sent: its id as raw JSON; the stream then ends with its response. Empty: a stream of the
  // server's own messages.
  std::string request_id = {};
};

// A request to be passed on as it came, for gateways.
struct ForwardRequest {
  // A token, in its case (RFC 9110 9.1). CONNECT is refused.
  std::string method = "POST";
  // As received. Not passed on: fields of one hop, those that Connection names included (RFC 9110
  // 7.6.1); Host, Content-Length and Expect, which are said anew; those that
  // TransportOptions::headers has too; and Authorization, if TransportOptions has a bearer_token or
  // an authorizer.
  std::vector<Header> headers = {};
  std::string body = {};  // empty: none
  // Over TransportOptions::timeouts. For GET, `idle` and `total` are off unless set here.
  Timeouts timeouts = {};
  std::stop_token stop = {};  // a request to stop cancels the exchange
  // See SendOptions::own_connection; for a downstream that may be slow.
  bool own_connection = false;
  // What of an event stream is handed out beside its events. Default: all there is.
  StreamExtras extras = {true, true};
};

// What must be kept so that another process can carry on; see TransportOptions::session_id.
struct SessionState {
  std::string id;  // MCP-Session-Id, as given with the answer to `initialize`; empty if none
  std::string
      protocol_version;  // that `initialize` agreed on, sent as MCP-Protocol-Version; empty before
};

// Keeps the connections, the session and the negotiated revision of one endpoint. Thread-safe; see
// event_loop.hpp.
class MCPHTTP_EXPORT Transport {
 public:
  // Checks the options once. Fails with invalid_argument, naming the field. Opens nothing.
  static Result<Transport> create(TransportOptions options);
  static Result<Transport> create(TransportOptions options, EventLoop loop);

  Transport(Transport&&) noexcept;
  Transport& operator=(Transport&&) noexcept;
  // Cancels all that runs (event_loop.hpp, rule 5).
  ~Transport();

  // Sends one JSON-RPC message and waits for the head of the answer. Fails with invalid_argument if
  // `json` is not one JSON-RPC message, wrong_thread on the loop thread, or with any code of
  // error.hpp that an answer can lead to. A JSON-RPC error is an answer, not a failure. A broken
  // stream is resumed only where a revision that has resumption was agreed on: by an `initialize`
  // posted before, or TransportOptions::protocol_version.
  Result<Response> post(std::string json, SendOptions options = {});

  // Sends one JSON-RPC message; the answer goes to `handler`, which is kept until on_end has
  // returned. Never blocks and never fails itself: a refused argument ends in on_end. Calls nothing
  // before it returns.
  Call start_post(std::string json, SendOptions options, std::shared_ptr<ResponseHandler> handler);

  // Opens the stream of messages that the server sends of its own accord (MCP 2025-11-25, Listening
  // for Messages from the Server) and waits for its head. It is opened again whenever it ends, see
  // Reconnection. Fails with http_error where the server offers none (405, 404 without a session,
  // 400), else as post().
  Result<Response> open_stream(StreamOptions options = {});
  // The same without waiting. on_headers comes each time the stream is open; where the server
  // offers none, on_end says not_offered.
  Call start_stream(StreamOptions options, std::shared_ptr<ResponseHandler> handler);

  // Passes a request on to the endpoint and waits for the head of the answer, whatever its status:
  // as it came, fields of one hop dropped. No session, retry, redirect, resumption or second try
  // with fresh credentials. A JSON body (any status) and an event stream (any 2xx) are read within
  // their limits, as message and events; a JSON body that is no message, and any other body, come
  // as bytes (Response::read), within max_stream_size. If the request's body is a JSON-RPC request,
  // a stream ends with its response. Fails if the request breaks a rule, or no head came, or one
  // over a limit, with a transfer coding, or with a declared length over a limit.
  Result<Response> forward(ForwardRequest request);
  // The same without waiting.
  Call start_forward(ForwardRequest request, std::shared_ptr<ResponseHandler> handler);

  // Ends the session: DELETE, and forgets it, whatever the answer. Succeeds if there is none, and
  // if the server does not allow it (405) or no longer knows it (404).
  Result<void> end_session(SendOptions options = {});

  SessionState session() const;

 private:
  friend class Client;
  struct State;
  explicit Transport(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace mcphttp
