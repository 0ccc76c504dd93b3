#include "client_state.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "handshake.hpp"
#include "protocol.hpp"
#include "response_state.hpp"
#include "rpc.hpp"
#include "types.hpp"

namespace mcphttp {
namespace {

constexpr std::chrono::milliseconds default_total = std::chrono::hours(1);

// For what is sent beside the calls: answers, cancellations, the end of a session.
constexpr std::chrono::milliseconds side_total = std::chrono::seconds(5);

// MCP 2025-11-25, Logging, Log Levels (RFC 5424 6.2.1).
constexpr std::array<std::string_view, 8> log_levels{"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

// An answer that need not be asked for.
class KeptAnswer final : public Upstream {
 public:
  KeptAnswer(std::shared_ptr<Inbox> inbox, Message answer)
      : inbox_(std::move(inbox)), answer_(std::move(answer)) {}
  ~KeptAnswer() = default;
  void begin() override {
    inbox_->put(std::move(answer_));
    inbox_->put(ExchangeEnd{ExchangeEnd::Reason::answered, std::nullopt, {}});
  }
  void resume() override {}
  void stop() override {}

 private:
  const std::shared_ptr<Inbox> inbox_;
  Message answer_;
};

// Of an exchange whose outcome is nobody's.
class Ignored final : public ResponseHandler {
 public:
  explicit Ignored(std::function<void()> done) : done_(std::move(done)) {}
  void on_end(const ExchangeEnd& /*end*/) override {
    if (done_) done_();
  }

 private:
  const std::function<void()> done_;
};

}  // namespace

Client::State::State(ClientOptions chosen, std::shared_ptr<Transport::State> over)
    : options(std::move(chosen)),
      transport_(std::move(over)),
      observer_([this](const Message& notification) {
        if (options.result_cache) options.result_cache->store_->note(options.url, notification);
      }) {}

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
  prepare_for_server_messages();
  if (options.session_id.empty()) {
    auto agreed = choose_era();
    if (!agreed) return agreed;
  }
  has_session_ = !session_id().empty();
  const bool wants_messages = options.on_notification || !options.request_handlers.empty();
  if (wants_messages && !is_modern_) open_server_stream()->wait();
  return {};
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
  SendOptions send{call.headers, call.timeouts, call.stop, idempotent, call.own_connection};
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
  if (auto checked = check("meta", call.meta, 2); !checked)
    return {0, tl::unexpected(std::move(checked.error()))};
  return prepare_checked(method, params, call, idempotent);
}

Client::State::Prepared Client::State::prepare_checked(std::string_view method,
                                                       std::string_view params,
                                                       const CallOptions& call, bool idempotent) {
  const std::int64_t token = next_id_++;
  const auto without_progress = call.timeouts.request.value_or(
      options.timeouts.request.value_or(std::chrono::milliseconds{0}));
  std::string marked;
  if (!call.meta.empty()) params = marked = rpc::with_meta(params, call.meta);
  if (call.on_progress || without_progress.count() != 0)
    params = marked = rpc::with_progress_token(params, token);
  NextRequest next = make_request(token, method, params);
  // Its parts have been checked; they are not looked through once more.
  Prepared prepared{token,
                    transport_->prepare_message({Message::Kind::request, next.id, method, params},
                                                send_options(call, idempotent))};
  Result<ExchangeRequest>& request = prepared.request;
  if (!request) return prepared;
  request->body = std::make_shared<const std::string>(std::move(next.json));
  if (is_modern_) {
    request->message_header_lines = std::move(next.header_lines);
    request->continuation = make_continuation(method, std::string(params), call);
  } else if (method != "initialize") {
    adopt(*request);
  }
  return prepared;
}

Result<Message> Client::State::request(std::string_view method, std::string_view params,
                                       const CallOptions& call, bool idempotent) {
  return fetch(method, params, call, idempotent).answer;
}

Result<Message> Client::State::ask(std::string_view method, std::string_view params,
                                   const CallOptions& call, bool idempotent,
                                   const std::optional<CacheKey>& key) {
  if (transport_->loop->refuses_blocking()) return tl::unexpected(wrong_thread());
  const std::uint64_t epoch = cache_epoch();
  Prepared prepared = prepare(method, params, call, idempotent);
  if (!prepared.request) return tl::unexpected(std::move(prepared.request.error()));
  auto inbox = transport_->open(nullptr);
  transport_->launch(inbox, std::move(prepared.request), call.stop);
  auto answer = read_answer(inbox, Notifier(call, prepared.id, *server_requests_, observer_));
  if (!answer) tell_cancelled(method, prepared.id, answer.error());
  if (is_modern_) answer = rpc::check_result_type(std::move(answer), method);
  keep(key, answer, prepared.id, epoch);
  return answer;
}

Call Client::State::start(std::string_view method, Result<void> checked, std::string_view params,
                          CallOptions call, Done done) {
  auto key = checked ? cache_key(method, params, call) : std::nullopt;
  auto kept = find_kept(key);
  if (kept) key.reset();  // it is as fresh as it was
  Prepared prepared =
      kept ? Prepared{} : prepare(method, checked ? params : std::string_view(), call, false);
  if (!checked) prepared.request = tl::unexpected(std::move(checked.error()));
  const std::stop_token stop = call.stop;
  auto report = [weak = weak_from_this(), id = prepared.id, method = std::string(method), key,
                 epoch = cache_epoch(), done = std::move(done)](Result<Message> answer) {
    if (const auto self = weak.lock()) {
      if (!answer) self->tell_cancelled(method, id, answer.error());
      if (self->is_modern_) answer = rpc::check_result_type(std::move(answer), method);
      self->keep(key, answer, id, epoch);
    }
    if (done) done(std::move(answer));
  };
  auto handler = std::make_shared<CallHandler>(std::move(call), prepared.id, *server_requests_,
                                               observer_, std::move(report));
  auto inbox = transport_->open(handler);
  handler->attach(inbox);
  if (kept) {
    inbox->start(std::make_shared<KeptAnswer>(inbox, std::move(*kept)), stop);
  } else {
    transport_->launch(inbox, std::move(prepared.request), stop);
  }
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

void Client::State::send_detached(std::string json, std::function<void()> done) {
  SendOptions send;
  send.timeouts.total = side_total;
  transport_->launch(transport_->open(std::make_shared<Ignored>(std::move(done))),
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

Result<void> Client::State::check(std::string_view what, std::string_view params,
                                  std::size_t levels) const {
  return rpc::check_params(what, params, options.limits.max_json_depth, levels);
}

Result<void> Client::State::set_log_level(std::string_view level, const CallOptions& call) {
  if (std::find(log_levels.begin(), log_levels.end(), level) == log_levels.end()) {
    return tl::unexpected(usage_error(ErrorCode::invalid_argument, "level: none of MCP's eight"));
  }
  if (!is_modern_) {
    auto answer = request("logging/setLevel", rpc::make_text_params("level", level), call, true);
    if (!answer) return tl::unexpected(std::move(answer.error()));
  }
  const std::lock_guard lock(mutex_);
  log_level_ = level;
  return {};
}

Result<void> Client::State::ping(const CallOptions& call) {
  auto answer = ask(is_modern_ ? "server/discover" : "ping", {}, call, true);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return {};
}

}  // namespace mcphttp
