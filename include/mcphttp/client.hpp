// Client: what an application needs of an MCP server over Streamable HTTP. Parameters and results
// are JSON text, so that any JSON library fits; typed views (types.hpp) stand beside the text where
// they help.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/event_loop.hpp>
#include <mcphttp/message.hpp>
#include <mcphttp/options.hpp>
#include <mcphttp/response.hpp>
#include <mcphttp/result_cache.hpp>
#include <mcphttp/types.hpp>

namespace mcphttp {

// Answers one request of the server, once: what comes after the first answer has no effect.
// Move-only; any thread, now or later. Dropping it unanswered answers with an internal error
// (-32603).
class MCPHTTP_EXPORT Responder {
 public:
  // Given the rest of the answer: `"result":...` or `"error":...`.
  using Send = std::function<void(std::string body)>;
  explicit Responder(Send send);
  Responder(Responder&&) noexcept;
  Responder& operator=(Responder&&) noexcept;
  ~Responder();

  // `json` is a JSON object. Fails with invalid_argument, and is then still to be answered.
  Result<void> result(std::string_view json);
  // A JSON-RPC error (JSON-RPC 2.0 section 5.1).
  void error(std::int64_t code, std::string_view message);

 private:
  Send send_;
};

// Handles one request of the server. Runs on the options' executor, else on a thread of the
// library's, never on the loop thread; may block and may call the client, even if that call is
// asked back itself (an executor must then have another thread free). The request lives for the
// call. What it throws is answered with -32603.
using RequestHandler = std::function<void(const Message& request, Responder responder)>;

// The two ways of MCP: with a handshake and sessions (2025-03-26 to 2025-11-25), or stateless
// (2026-07-28).
enum class Era {
  automatic,  // asks the server (server/discover, at most 10 s), and begins with `initialize` if it
              // is of the legacy era
  modern,     // stateless only
  legacy,     // handshake only
};

// Remembers the era of endpoints, so that a legacy one need not be asked again. Thread-safe, may be
// shared by any number of clients; holds at most 1,024 endpoints and forgets the oldest.
class MCPHTTP_EXPORT EraCache {
 public:
  EraCache();
  ~EraCache();
  EraCache(const EraCache&) = delete;
  EraCache& operator=(const EraCache&) = delete;

  // Era::automatic: not known.
  Era find(std::string_view url) const;
  // Era::automatic forgets.
  void store(std::string_view url, Era era);
  // All that is known, to be kept for another process; by URL.
  std::map<std::string, Era> entries() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct ClientOptions : TransportOptions {
  Implementation client_info{"mcphttp", "0"};

  Era era = Era::automatic;
  // Consulted and kept up to date by Era::automatic; null for none.
  std::shared_ptr<EraCache> era_cache;

  // Results that modern servers allow to be kept are taken from here while they are fresh; null for
  // none.
  std::shared_ptr<ResultCache> result_cache;

  // Raw JSON object sent as the client's capabilities. Those of the registered handlers are added
  // where it does not name them.
  std::string capabilities = "{}";

  // By method: "sampling/createMessage", "elicitation/create", "roots/list" or any other. ping is
  // answered by itself, a method without handler with -32601. At most 16 requests of one stream are
  // handled at a time, counted until the server has taken the answer; then it is paused.
  std::map<std::string, RequestHandler, std::less<>> request_handlers;

  // Notifications that belong to no call. Runs on the loop thread or the executor. If this or a
  // request handler is set, the client keeps a stream open for the messages that the server sends
  // of its own accord, where the server offers one; connect() then waits until it has been asked
  // for, and at most 50 ms longer for the answer.
  std::function<void(const Message&)> on_notification;

  // A lost session shows as HTTP 404 (MCP 2025-11-25, Session Management). Some servers say 400
  // instead; set this to take that for a lost session too. A request that was merely malformed is
  // then sent a second time.
  bool recover_session_on_400 = false;

  // Let the destructor end the session too, as close() does, waiting for the answer at most as
  // long.
  bool close_on_destruction = false;
};

// Settings of a single call. The callbacks of a blocking call run on the calling thread, those of
// an asynchronous one on the loop thread or the executor; all in order of arrival, none after the
// call has ended. They may throw: the call ends with callback_threw.
struct CallOptions {
  std::function<void(const Progress&)> on_progress = {};
  // Any other notification that arrives on this call's stream. The message lives for the call only.
  std::function<void(const Message&)> on_notification = {};
  Timeouts timeouts = {};
  std::stop_token stop = {};
  std::vector<Header> headers = {};  // over ClientOptions::headers of that name, same rules
  // See SendOptions::own_connection.
  bool own_connection = false;
  // Raw JSON object whose members go into the request's `_meta`: trace context (traceparent,
  // tracestate, baggage), or anything of the application's own. Empty for none.
  std::string meta = {};
  // In the modern era a server asks for input with a result of type input_required; the request
  // handlers supply it, and the call goes on, over at most 10 rounds. It ends with input_refused if
  // one of them is missing, or does not answer with a result. Set this to be given such a result
  // instead.
  bool return_input_required = false;
};

// How a subscription ended.
struct SubscriptionEnd {
  enum class Reason {
    closed_by_server,  // in order: by its result, or by notifications/cancelled
    cancelled,         // by the application
    failed,            // see error
  };
  Reason reason = Reason::failed;
  std::optional<Error> error;  // set unless closed_by_server
};

// Settings of a subscription. Its callbacks run on the loop thread or the executor, in order of
// arrival. They may throw: the subscription ends with callback_threw.
struct SubscriptionOptions {
  // The server listens, perhaps for less than was asked. Comes again each time that a broken stream
  // has been opened anew: what changed in between was not told.
  std::function<void(const SubscriptionFilter& honoured)> on_acknowledged = {};
  // The message lives for the call only.
  std::function<void(const Message&)> on_notification = {};
  // Exactly once, last.
  std::function<void(const SubscriptionEnd&)> on_end = {};
  std::stop_token stop = {};
  // Of subscriptions/listen; on a legacy server those of ClientOptions hold. The time until the
  // server has acknowledged: from then on there is no limit, whatever is set here.
  Timeouts timeouts = {};
  std::vector<Header> headers = {};
};

// A connected client. Move-only; thread-safe: any number of threads may call at the same time.
//
// A session that the server has lost is replaced, once for however many calls saw it; each such
// call is sent once more, since it was refused. A call that was cancelled, or ran out of time, is
// reported to the server (notifications/cancelled).
//
// Names, URIs, methods and other text of the caller must be valid UTF-8, JSON of the caller must
// fit into max_json_depth with what is put around it; else calls fail with invalid_argument, and
// nothing is sent. A result that is no object is malformed_message where it is given out in typed
// form.
class MCPHTTP_EXPORT Client {
 public:
  using ToolHandler = std::function<void(Result<ToolResult>)>;
  using MessageHandler = std::function<void(Result<Message>)>;

  // Connects and agrees on a revision (`initialize`, then notifications/initialized). Blocks. With
  // a session_id in the options it continues that session without a handshake, and server() is
  // empty. Fails as Transport::create and Transport::post do, with rpc_error if the server refuses,
  // unsupported_version if there is no revision in common.
  static Result<Client> connect(ClientOptions options);
  static Result<Client> connect(ClientOptions options, EventLoop loop);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  // Cancels all calls (event_loop.hpp, rule 5). Sends nothing, unless close_on_destruction.
  ~Client();

  // Ends the session (DELETE), waiting at most 5 s, and the stream of server messages. Calls made
  // afterwards fail with `closed`; those under way go on. Succeeds if there is nothing to end.
  Result<void> close();

  const ServerInfo& server() const noexcept;
  // For another process to continue; see TransportOptions::session_id. Empty if the server keeps no
  // session.
  std::string session_id() const;

  // Calls a tool. `arguments` is a JSON object, or empty for none. A JSON-RPC error is Error
  // rpc_error; a tool that failed by its own account is a ToolResult with is_error. Never carried
  // out twice by this library's doing.
  Result<ToolResult> call_tool(std::string_view name, std::string_view arguments,
                               const CallOptions& options = {});
  // The same without waiting: `on_done` gets the result, exactly once, after the other callbacks.
  Call start_tool(std::string_view name, std::string_view arguments, CallOptions options,
                  ToolHandler on_done);

  // Lists, over all pages. Fail with list_too_large beyond max_list_pages or max_list_size, or if a
  // cursor comes twice. An element without the text by which it is asked for (name, URI or URI
  // template) is left out, a tool with warning invalid_tool.
  Result<std::vector<Tool>> list_tools(const CallOptions& options = {});
  Result<std::vector<Resource>> list_resources(const CallOptions& options = {});
  Result<std::vector<ResourceTemplate>> list_resource_templates(const CallOptions& options = {});
  Result<std::vector<Prompt>> list_prompts(const CallOptions& options = {});

  Result<std::vector<ResourceContents>> read_resource(std::string_view uri,
                                                      const CallOptions& options = {});
  // For servers of the legacy era (resources/subscribe); others have subscribe(). Changes then come
  // as notifications/resources/updated to ClientOptions::on_notification.
  Result<void> subscribe_resource(std::string_view uri, const CallOptions& options = {});
  Result<void> unsubscribe_resource(std::string_view uri, const CallOptions& options = {});

  // Has the server tell of changes until the Call is destroyed or cancelled, or the server ends it.
  // Never blocks, and calls nothing before it returns. A stream that breaks is opened again without
  // end, see Reconnection; a server that refuses ends it. Modern servers: subscriptions/listen.
  // Others: resources/subscribe, and the stream of server messages, of which each subscription gets
  // its share; where the server offers no such stream, on_end says so with http_error.
  Call subscribe(const SubscriptionFilter& filter, SubscriptionOptions options);

  // `arguments` is a JSON object of strings, or empty for none.
  Result<PromptResult> get_prompt(std::string_view name, std::string_view arguments,
                                  const CallOptions& options = {});

  // `reference` is a JSON object that names a prompt or resource template (MCP 2025-11-25,
  // Completion).
  Result<Completion> complete(std::string_view reference, std::string_view argument,
                              std::string_view value, const CallOptions& options = {});

  // "debug", "info", "notice", "warning", "error", "critical", "alert" or "emergency" (MCP
  // 2025-11-25, Logging); invalid_argument for anything else. Set again by itself when a lost
  // session is replaced; in the modern era it is sent along with every request.
  Result<void> set_log_level(std::string_view level, const CallOptions& options = {});
  // Succeeds if the server answers: to ping, or in the modern era, which has none, to
  // server/discover.
  Result<void> ping(const CallOptions& options = {});

  // Any request: `params` is a JSON object, or empty for none. Returns the result message.
  Result<Message> request(std::string_view method, std::string_view params,
                          const CallOptions& options = {});
  Call start_request(std::string_view method, std::string_view params, CallOptions options,
                     MessageHandler on_done);

  // Any notification. Returns once the server has accepted it.
  Result<void> notify(std::string_view method, std::string_view params,
                      const CallOptions& options = {});

 private:
  struct State;
  explicit Client(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace mcphttp
