#include <mcphttp/transport.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <variant>

#include <mcphttp/version.hpp>

#include "exchange.hpp"
#include "forwarding.hpp"
#include "http_fields.hpp"
#include "inbox.hpp"
#include "message.hpp"
#include "option_checks.hpp"
#include "protocol.hpp"
#include "response_state.hpp"
#include "tool_headers.hpp"
#include "transport_state.hpp"

namespace mcphttp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds default_connect{10'000};
constexpr milliseconds default_request_headers{300'000};
constexpr milliseconds default_other_headers{30'000};
constexpr milliseconds default_idle{300'000};
constexpr milliseconds default_diagnostic{2'000};

// How much before a server closes an idle connection we stop to trust it.
constexpr std::chrono::seconds keep_alive_margin{1};
// For requests that may be sent twice any kept connection will do.
constexpr std::chrono::seconds idempotent_connection_idle{118};

}  // namespace

Transport::State::State(TransportOptions checked, http::Url parsed, std::shared_ptr<LoopCore> on)
    : options(std::make_shared<const TransportOptions>(std::move(checked))),
      target(std::make_shared<const http::Target>(std::move(parsed))),
      loop(std::move(on)),
      endpoint(std::make_shared<Endpoint>()),
      worker(std::make_shared<Worker>(options->executor)),
      // libcurl would wait a second for 100 Continue before a large body, were it not for the empty
      // Expect.
      post_lines_(usual_header_lines({"Content-Type: application/json",
                                      "Accept: application/json, text/event-stream", "Expect:"})),
      stream_lines_(usual_header_lines({"Accept: text/event-stream"})) {
  endpoint->session.set({options->session_id, options->protocol_version});
  if (options->authorizer != nullptr) {
    endpoint->authorization =
        std::make_shared<Authorization>(options->authorizer, worker, options->url);
  }
}

// --- Requests ------------------------------------------------------------------------------------

HeaderLines Transport::State::usual_header_lines(std::vector<std::string> first) const {
  std::vector<std::string> lines = std::move(first);
  lines.push_back(header_line("User-Agent", options->user_agent.empty()
                                                ? "mcphttp/" MCPHTTP_VERSION_STRING
                                                : options->user_agent));
  if (!options->bearer_token.empty() && options->authorizer == nullptr) {
    lines.push_back("Authorization: Bearer " + options->bearer_token);
  }
  for (const Header& header : options->headers)
    lines.push_back(header_line(header.name, header.value));
  return std::make_shared<const std::vector<std::string>>(std::move(lines));
}

HeaderLines Transport::State::with_headers(const HeaderLines& usual, const SendOptions& send) {
  if (send.headers.empty()) return usual;
  std::vector<std::string> lines = *usual;
  for (const Header& header : send.headers)
    std::erase_if(lines, [&](const std::string& line) { return is_line_of(header.name, line); });
  for (const Header& header : send.headers) lines.push_back(header_line(header.name, header.value));
  return std::make_shared<const std::vector<std::string>>(std::move(lines));
}

Timeouts Transport::State::times_of(bool is_request, const Timeouts& over) const {
  const Timeouts& base = options->timeouts;
  const auto pick = [](std::optional<milliseconds> call, std::optional<milliseconds> own,
                       milliseconds fallback) { return call.value_or(own.value_or(fallback)); };
  Timeouts times;
  times.connect = pick(over.connect, base.connect, default_connect);
  times.headers = pick(over.headers, base.headers,
                       is_request ? default_request_headers : default_other_headers);
  times.idle = pick(over.idle, base.idle, default_idle);
  times.total = pick(over.total, base.total, milliseconds{0});
  times.request = pick(over.request, base.request, milliseconds{0});
  times.diagnostic = pick(over.diagnostic, base.diagnostic, default_diagnostic);
  return times;
}

ExchangeRequest Transport::State::make_request(std::string method, Awaits awaits,
                                               Session::Snapshot session, const SendOptions& send,
                                               const Timeouts& times) const {
  ExchangeRequest request;
  request.method = std::move(method);
  request.target = target;
  request.context.awaits = awaits;
  request.context.session_in_use = !session.id.empty();
  request.context.limits = options->limits;
  request.context.extras = send.extras;
  request.times = {*times.connect, *times.headers, *times.idle, *times.diagnostic};
  request.total = *times.total;
  request.idempotent = send.idempotent;
  request.http2 = options->http2 && !send.own_connection && can_speak_http2();
  request.max_connection_idle =
      send.idempotent
          ? idempotent_connection_idle
          : std::max(std::chrono::seconds{0}, endpoint->kept_alive.load() - keep_alive_margin);
  request.stream_header_lines = with_headers(stream_lines_, send);
  request.stream_headers_time =
      send.timeouts.headers.value_or(options->timeouts.headers.value_or(default_other_headers));
  request.session = std::move(session);
  request.options = options;
  return request;
}

Result<ExchangeRequest> Transport::State::prepare_post(std::string json,
                                                       const SendOptions& send) const {
  auto message = Message::parse(std::move(json), options->limits.max_json_depth);
  if (!message) {
    return tl::unexpected(
        usage_error(ErrorCode::invalid_argument, "json: " + message.error().detail));
  }
  auto request =
      prepare_message({message->kind(), message->id(), message->method(), message->params()}, send);
  if (!request) return request;
  if (request->context.is_modern) {
    if (message->is_response()) {
      return tl::unexpected(usage_error(ErrorCode::invalid_argument,
                                        "json: a response is never sent in this revision"));
    }
    request->message_header_lines = standard_header_lines(message->method(), message->params());
  }
  request->body = std::make_shared<const std::string>(std::move(*message).release());
  return request;
}

Result<ExchangeRequest> Transport::State::prepare_message(const Outgoing& message,
                                                          const SendOptions& send) const {
  if (auto error = check_send(send, *options, target->url()))
    return tl::unexpected(std::move(*error));
  return prepare_checked(message, send);
}

ExchangeRequest Transport::State::prepare_checked(const Outgoing& message,
                                                  const SendOptions& send) const {
  const bool is_request = message.kind == Message::Kind::request;
  const bool is_initialize = is_request && message.method == "initialize";
  // A handshake begins a session and so belongs to none.
  Session::Snapshot session = is_initialize ? Session::Snapshot{} : endpoint->session.snapshot();
  const protocol::Revision* revision = protocol::find(session.version);
  const Timeouts times = times_of(is_request, send.timeouts);

  ExchangeRequest request = make_request("POST", is_request ? Awaits::response : Awaits::acceptance,
                                         std::move(session), send, times);
  request.header_lines = with_headers(post_lines_, send);
  request.context.request_id = std::string(message.id);
  if (is_request && times.request->count() != 0) {
    request.without_progress = *times.request;
    request.progress_token = std::string(progress_token_of(message.params));
  }
  request.is_initialize = is_initialize;
  if (revision != nullptr && revision->is_modern) {
    request.context.is_modern = true;
    request.is_subscription = is_request && message.method == "subscriptions/listen";
  }
  request.context.takes_batches = revision != nullptr && revision->has_batches;
  if (is_request && revision != nullptr && revision->has_resumption) {
    request.reopening = Reopening::until_answered;
  }
  return request;
}

Result<ExchangeRequest> Transport::State::prepare_stream(const StreamOptions& stream) const {
  if (auto error = check_send(stream.send, *options, target->url()))
    return tl::unexpected(std::move(*error));
  if (!http::is_field_value(stream.last_event_id)) {
    return tl::unexpected(
        usage_error(ErrorCode::invalid_argument, "last_event_id: has a forbidden character"));
  }
  const Session::Snapshot session = endpoint->session.snapshot();
  const bool awaits_response = !stream.request_id.empty();
  const Timeouts times = times_of(false, stream.send.timeouts);
  ExchangeRequest request = make_request("GET", awaits_response ? Awaits::response : Awaits::stream,
                                         session, stream.send, times);
  if (!awaits_response) {
    // A quiet stream is in order; TCP keep-alive tells a dead peer. What the options say is meant
    // for requests.
    request.total = stream.send.timeouts.total.value_or(milliseconds{0});
    request.times.idle = stream.send.timeouts.idle.value_or(milliseconds{0});
  }
  const protocol::Revision* revision = protocol::find(session.version);
  request.context.takes_batches = revision != nullptr && revision->has_batches;
  request.context.request_id = stream.request_id;
  request.context.last_event_id = stream.last_event_id;
  request.reopening = awaits_response ? Reopening::until_answered : Reopening::for_ever;
  request.header_lines = request.stream_header_lines;
  return request;
}

ExchangeRequest Transport::State::prepare_delete(const Session::Snapshot& session,
                                                 const SendOptions& send) const {
  const Timeouts times = times_of(false, send.timeouts);
  ExchangeRequest request = make_request("DELETE", Awaits::acceptance, session, send, times);
  request.context.session_in_use = false;  // 404: it is gone already, which is what we want
  request.header_lines =
      with_headers(usual_header_lines({"Accept: application/json, text/event-stream"}), send);
  return request;
}

// --- Exchanges -----------------------------------------------------------------------------------

std::shared_ptr<Inbox> Transport::State::open(std::shared_ptr<ResponseHandler> handler,
                                              Inbox::Handler kind) {
  auto inbox = std::make_shared<Inbox>(loop, options, std::move(handler), kind);
  const std::lock_guard lock(mutex_);
  forget_ended();
  inboxes_.push_back(inbox);
  return inbox;
}

// Two are looked at for each one that comes, in turn: so there are never many, and the memory that
// they hold is soon used again.
void Transport::State::forget_ended() {
  for (int looks = 0; looks < 2 && !inboxes_.empty(); ++looks) {
    if (next_look_ >= inboxes_.size()) next_look_ = 0;
    if (inboxes_[next_look_].expired()) {
      std::swap(inboxes_[next_look_], inboxes_.back());
      inboxes_.pop_back();
    } else {
      ++next_look_;
    }
  }
}

void Transport::State::launch(const std::shared_ptr<Inbox>& inbox,
                              Result<ExchangeRequest>&& request, std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_)
      request = tl::unexpected(usage_error(ErrorCode::closed, "the transport is being destroyed"));
  }
  if (options->http2 && !can_speak_http2() && !endpoint->warned_of_http2.exchange(true)) {
    inbox->put(
        Warning{WarningKind::http2_unavailable,
                "the libcurl at hand is older than 8.14 or has no HTTP/2; HTTP/1.1 is spoken"});
  }
  if (request) {
    inbox->start(std::make_shared<Exchange>(std::move(*request), endpoint, inbox), std::move(stop));
  } else {
    inbox->refuse(std::move(request.error()));
  }
}

Result<Response> Transport::State::send(Result<ExchangeRequest> request, std::stop_token stop) {
  if (loop->refuses_blocking()) return tl::unexpected(wrong_thread());
  if (!request) return tl::unexpected(std::move(request.error()));
  auto inbox = open(nullptr);
  std::string id = request->context.request_id;
  launch(inbox, std::move(request), std::move(stop));
  auto first = inbox->take();
  if (auto* head = std::get_if<ResponseHead>(&*first)) {
    return Response(
        std::make_unique<Response::State>(std::move(inbox), std::move(*head), std::move(id)));
  }
  return tl::unexpected(*std::move(std::get<ExchangeEnd>(*first).error));
}

Result<void> Transport::State::end_session(SendOptions send_options) {
  const Session::Snapshot session = endpoint->session.snapshot();
  if (session.id.empty()) return {};
  endpoint->session.drop(session.id);
  auto response = send(prepare_delete(session, send_options), std::move(send_options.stop));
  if (response) return {};
  const Error& error = response.error();
  // 405: the server does not let clients end sessions; 404: this one is gone already (MCP
  // 2025-11-25, Session Management).
  const bool settled =
      error.code == ErrorCode::http_error && (error.http_status == 404 || error.http_status == 405);
  if (settled) return {};
  return tl::unexpected(error);
}

void Transport::State::close_all() {
  std::vector<std::weak_ptr<Inbox>> ours;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    ours.swap(inboxes_);
  }
  for (const auto& weak : ours) {
    if (const auto inbox = weak.lock()) inbox->close_from_transport();
  }
  worker->stop();
}

// --- The public handle ---------------------------------------------------------------------------

Result<Transport> Transport::create(TransportOptions options) {
  return create(std::move(options), EventLoop());
}

Result<Transport> Transport::create(TransportOptions options, EventLoop loop) {
  return State::create(std::move(options), std::move(loop.core_))
      .map([](std::shared_ptr<State> state) { return Transport(std::move(state)); });
}

Result<std::shared_ptr<Transport::State>> Transport::State::create(TransportOptions options,
                                                                   std::shared_ptr<LoopCore> loop) {
  auto url = http::parse_url(options.url);
  if (!url) {
    url.error().detail.insert(0, "url: ");
    return tl::unexpected(std::move(url.error()));
  }
  if (auto error = check_options(options, *url)) return tl::unexpected(std::move(*error));
  return std::make_shared<State>(std::move(options), std::move(*url), std::move(loop));
}

Transport::Transport(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
Transport::Transport(Transport&&) noexcept = default;

Transport& Transport::operator=(Transport&& other) noexcept {
  Transport(std::move(other)).state_.swap(state_);
  return *this;
}

Transport::~Transport() {
  if (state_) state_->close_all();
}

Result<Response> Transport::post(std::string json, SendOptions options) {
  return state_->send(state_->prepare_post(std::move(json), options), std::move(options.stop));
}

Call Transport::start_post(std::string json, SendOptions options,
                           std::shared_ptr<ResponseHandler> handler) {
  auto inbox = state_->open(std::move(handler));
  state_->launch(inbox, state_->prepare_post(std::move(json), options), std::move(options.stop));
  return Call(std::move(inbox));
}

Result<Response> Transport::open_stream(StreamOptions options) {
  return state_->send(state_->prepare_stream(options), std::move(options.send.stop));
}

Call Transport::start_stream(StreamOptions options, std::shared_ptr<ResponseHandler> handler) {
  auto inbox = state_->open(std::move(handler));
  state_->launch(inbox, state_->prepare_stream(options), std::move(options.send.stop));
  return Call(std::move(inbox));
}

Result<void> Transport::end_session(SendOptions options) {
  return state_->end_session(std::move(options));
}

SessionState Transport::session() const {
  Session::Snapshot session = state_->endpoint->session.snapshot();
  return {std::move(session.id), std::move(session.version)};
}

}  // namespace mcphttp
