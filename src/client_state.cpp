#include "client_state.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "handshake.hpp"
#include "protocol.hpp"
#include "response_state.hpp"
#include "rpc.hpp"
#include "text.hpp"
#include "types.hpp"

namespace mcphttp {
namespace {

constexpr std::chrono::milliseconds default_total = std::chrono::hours(1);

// For what is sent beside the calls: answers, cancellations, the end of a session.
constexpr std::chrono::milliseconds side_total = std::chrono::seconds(5);

tl::unexpected<Error> too_large(std::string detail) {
  Error error = usage_error(ErrorCode::list_too_large, std::move(detail));
  error.delivery = Delivery::answered;
  return tl::unexpected(std::move(error));
}

// The stream of the server's own messages.
class ServerStream final : public ResponseHandler {
 public:
  ServerStream(const ClientOptions& options, const ServerRequests& requests)
      : options_(options), requests_(requests) {}
  void attach(const std::shared_ptr<Inbox>& inbox) { inbox_ = inbox; }

  Flow on_event(Event&& event) override {
    const Message* message = event.message();
    if (message == nullptr) return Flow::proceed;
    if (message->kind() == Message::Kind::request) {
      requests_.take(*message, inbox_.lock());
    } else if (message->kind() == Message::Kind::notification && options_.on_notification) {
      options_.on_notification(*message);
    }
    return Flow::proceed;
  }
  void on_end(const ExchangeEnd& /*end*/) override {}

 private:
  const ClientOptions& options_;
  const ServerRequests& requests_;
  std::weak_ptr<Inbox> inbox_;
};

class Ignored final : public ResponseHandler {
 public:
  void on_end(const ExchangeEnd& /*end*/) override {}
};

}  // namespace

Client::State::State(ClientOptions chosen, std::shared_ptr<Transport::State> over)
    : options(std::move(chosen)), transport_(std::move(over)) {}

Client::State::~State() { end(); }

void Client::State::end() {
  closed_ = true;
  Call stream;
  {
    const std::lock_guard lock(mutex_);
    stream = std::move(server_stream_);
  }
  transport_->close_all();
}

// --- Connecting and closing ----------------------------------------------------------------------

Result<void> Client::State::connect() {
  server_requests_ = std::make_unique<ServerRequests>(options.request_handlers, transport_->worker,
                                                      [weak = weak_from_this()](std::string json) {
                                                        if (const auto self = weak.lock())
                                                          self->send_detached(std::move(json));
                                                      });
  if (options.session_id.empty()) {
    auto agreed = choose_era();
    if (!agreed) return agreed;
  }
  has_session_ = !session_id().empty();
  const bool wants_messages = options.on_notification || !options.request_handlers.empty();
  if (wants_messages && !is_modern_) open_server_stream();
  return {};
}

void Client::State::open_server_stream() {
  auto handler = std::make_shared<ServerStream>(options, *server_requests_);
  auto request = transport_->prepare_stream({});
  if (!request) return;
  adopt(*request);
  auto inbox = transport_->open(handler);
  handler->attach(inbox);
  const std::lock_guard lock(mutex_);
  server_stream_ = Call(inbox);
  transport_->launch(inbox, std::move(request), {});
}

Result<void> Client::State::close() {
  if (closed_.exchange(true)) return {};
  Call stream;
  {
    const std::lock_guard lock(mutex_);
    stream = std::move(server_stream_);
  }
  stream = Call();  // ends it, before the session goes
  SendOptions send;
  send.timeouts.total = side_total;
  return transport_->end_session(std::move(send));
}

std::string Client::State::session_id() const {
  return transport_->endpoint->session.snapshot().id;
}

// --- Calls ---------------------------------------------------------------------------------------

SendOptions Client::State::send_options(const CallOptions& call, bool idempotent) const {
  SendOptions send{call.headers, call.timeouts, call.stop, idempotent};
  if (!send.timeouts.total) send.timeouts.total = options.timeouts.total.value_or(default_total);
  return send;
}

// A lost session is dealt with here.
void Client::State::adopt(ExchangeRequest& request) {
  request.keeper = weak_from_this();
  request.context.takes_400_for_lost_session = options.recover_session_on_400;
}

NextRequest Client::State::make_request(std::int64_t id, std::string_view method,
                                        std::string_view params) {
  NextRequest next;
  next.id = std::to_string(id);
  if (!is_modern_) {
    next.json = rpc::make_request(id, method, params);
    return next;
  }
  rpc::Metadata metadata{protocol::newest_modern,
                         handshake::make_client_info(options.client_info),
                         options.capabilities,
                         {}};
  {
    const std::lock_guard lock(mutex_);
    if (!log_level_.empty()) json::append_quoted(metadata.log_level, log_level_);
  }
  const std::string described = rpc::with_metadata(params, metadata);
  next.json = rpc::make_request(id, method, described);
  next.header_lines = standard_header_lines(method, described);
  if (method == "tools/call") {
    const json::Value call(described);
    const auto headers = tool_headers_.find(text_member(call, "name"));
    const auto arguments = call.find("arguments").value_or(json::Value());
    for (std::string& line : tool_header_lines(headers, arguments))
      next.header_lines.push_back(std::move(line));
  }
  return next;
}

std::shared_ptr<Continuation> Client::State::make_continuation(std::string_view method,
                                                               std::string params,
                                                               const CallOptions& call) {
  CallContinuationHost host;
  host.make_request = [self = shared_from_this()](std::string_view of, std::string_view with) {
    return self->make_request(self->next_id_++, of, with);
  };
  host.refresh_tools = [self = shared_from_this()](std::function<void(Result<void>)> done) {
    self->refresh_tools({}, 1, std::move(done));
  };
  host.handlers = &options.request_handlers;
  host.worker = transport_->worker;
  return std::make_shared<CallContinuation>(std::move(host), std::string(method), std::move(params),
                                            !call.return_input_required);
}

Client::State::Prepared Client::State::prepare(std::string_view method, std::string_view params,
                                               const CallOptions& call, bool idempotent) {
  if (closed_) return {0, tl::unexpected(usage_error(ErrorCode::closed, "the client was closed"))};
  const std::int64_t token = next_id_++;
  std::string marked =
      call.on_progress ? rpc::with_progress_token(params, token) : std::string(params);
  NextRequest next = make_request(token, method, marked);
  auto request = transport_->prepare_post(std::move(next.json), send_options(call, idempotent));
  if (!request) return {0, std::move(request)};
  if (is_modern_) {
    request->message_header_lines = std::move(next.header_lines);
    request->continuation = make_continuation(method, std::move(marked), call);
  } else if (method != "initialize") {
    adopt(*request);
  }
  return {token, std::move(request)};
}

Result<Message> Client::State::request(std::string_view method, std::string_view params,
                                       const CallOptions& call, bool idempotent) {
  if (transport_->loop->refuses_blocking()) return tl::unexpected(wrong_thread());
  Prepared prepared = prepare(method, params, call, idempotent);
  if (!prepared.request) return tl::unexpected(std::move(prepared.request.error()));
  auto inbox = transport_->open(nullptr);
  transport_->launch(inbox, std::move(prepared.request), call.stop);
  auto answer = read_answer(inbox, Notifier(call, prepared.id, *server_requests_));
  if (!answer) tell_cancelled(method, prepared.id, answer.error());
  return is_modern_ ? rpc::check_result_type(std::move(answer), method) : std::move(answer);
}

Call Client::State::start(std::string_view method, Result<void> checked, std::string_view params,
                          CallOptions call, Done done) {
  Prepared prepared = prepare(method, checked ? params : std::string_view(), call, false);
  if (!checked) prepared.request = tl::unexpected(std::move(checked.error()));
  const std::stop_token stop = call.stop;
  auto report = [weak = weak_from_this(), id = prepared.id, method = std::string(method),
                 done = std::move(done)](Result<Message> answer) {
    const auto self = weak.lock();
    if (self && !answer) self->tell_cancelled(method, id, answer.error());
    if (self && self->is_modern_) answer = rpc::check_result_type(std::move(answer), method);
    if (done) done(std::move(answer));
  };
  auto handler = std::make_shared<CallHandler>(std::move(call), prepared.id, *server_requests_,
                                               std::move(report));
  auto inbox = transport_->open(handler);
  handler->attach(inbox);
  transport_->launch(inbox, std::move(prepared.request), stop);
  return Call(std::move(inbox));
}

Result<void> Client::State::notify(std::string_view method, std::string_view params,
                                   const CallOptions& call) {
  if (closed_) return tl::unexpected(usage_error(ErrorCode::closed, "the client was closed"));
  auto request =
      transport_->prepare_post(rpc::make_notification(method, params), send_options(call, false));
  if (request && method != "notifications/initialized") adopt(*request);
  auto response = transport_->send(std::move(request), call.stop);
  if (!response) return tl::unexpected(std::move(response.error()));
  // A refusal in the form of a JSON-RPC error.
  if (response->kind() == ResponseKind::message) {
    auto refusal = response->message();
    if (refusal) refusal = rpc::to_result(std::move(*refusal), response->head().status);
    if (!refusal) return tl::unexpected(std::move(refusal.error()));
  }
  return {};
}

void Client::State::send_detached(std::string json) {
  SendOptions send;
  send.timeouts.total = side_total;
  transport_->launch(transport_->open(std::make_shared<Ignored>()),
                     transport_->prepare_post(std::move(json), send), {});
}

// The server would go on working for nobody (MCP 2025-11-25, Cancellation). A handshake must not be
// cancelled.
void Client::State::tell_cancelled(std::string_view method, std::int64_t id, const Error& error) {
  const bool gave_up =
      error.code == ErrorCode::cancelled || group(error.code) == ErrorGroup::timeout;
  if (!gave_up || error.delivery == Delivery::not_sent || method == "initialize" || closed_ ||
      is_modern_) {
    return;
  }
  send_detached(
      rpc::make_notification("notifications/cancelled", fmt::format(R"({{"requestId":{}}})", id)));
}

// --- Lists ---------------------------------------------------------------------------------------

Result<void> Client::State::list(std::string_view method, std::string_view member,
                                 const CallOptions& call,
                                 const std::function<void(json::Value)>& visit) {
  const ResponseLimits& limits = options.limits;
  std::set<std::string> cursors;
  std::string params;
  std::size_t size = 0;
  for (std::size_t pages = 1;; ++pages) {
    if (pages > limits.max_list_pages) {
      return too_large(fmt::format("max_list_pages ({}) exceeded", limits.max_list_pages));
    }
    auto page = request(method, params, call, true);
    if (!page) return tl::unexpected(std::move(page.error()));
    const json::Value result(page->result());
    size += result.raw().size();
    if (size > limits.max_list_size) {
      return too_large(fmt::format("max_list_size ({} bytes) exceeded", limits.max_list_size));
    }
    if (const auto elements = result.find(member)) elements->for_each_element(visit);
    const auto next = result.find("nextCursor");
    const auto cursor = next ? next->as_string() : std::nullopt;
    if (!cursor) return {};
    if (!cursors.insert(*cursor).second) return too_large("a cursor came twice");
    params = rpc::make_text_params("cursor", *cursor);
  }
}

Result<void> Client::State::check(std::string_view what, std::string_view params) const {
  return rpc::check_params(what, params, options.limits.max_json_depth);
}

std::optional<Tool> Client::State::take_tool(json::Value definition) {
  Tool tool = to_tool(definition);
  if (!is_modern_) return tool;
  auto headers = find_tool_headers(definition.find("inputSchema").value_or(json::Value()));
  if (headers) {
    tool_headers_.remember(tool.name, std::move(*headers));
    return tool;
  }
  if (options.on_warning) {
    options.on_warning({WarningKind::invalid_tool,
                        fmt::format("tool {} left out: {}", text::escape_printable(tool.name, 64),
                                    headers.error().detail)});
  }
  return std::nullopt;
}

Result<void> Client::State::set_log_level(std::string_view level, const CallOptions& call) {
  if (!is_modern_) {
    auto answer = request("logging/setLevel", rpc::make_text_params("level", level), call, true);
    if (!answer) return tl::unexpected(std::move(answer.error()));
  }
  const std::lock_guard lock(mutex_);
  log_level_ = level;
  return {};
}

Result<void> Client::State::ping(const CallOptions& call) {
  auto answer = request(is_modern_ ? "server/discover" : "ping", {}, call, true);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return {};
}

}  // namespace mcphttp
