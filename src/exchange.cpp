#include "exchange.hpp"

#include <random>
#include <utility>

#include <fmt/format.h>

#include "forwarding.hpp"
#include "http_fields.hpp"
#include "make_error.hpp"
#include "message.hpp"
#include "subscription.hpp"

namespace mcphttp {
namespace {

// A stream of server messages that lived this long was no failure, even if it brought nothing.
constexpr std::chrono::seconds proof_of_life{60};

// No server is waited for longer than this on behalf of a request.
constexpr std::chrono::milliseconds longest_retry = std::chrono::hours(1);

// One engine for each thread, seeded when the first delay is drawn: few exchanges ever wait, and a
// seed costs as much as a whole call.
Backoff::RandomSource random_source() {
  return [] {
    thread_local std::mt19937_64 engine(std::random_device{}());
    return engine();
  };
}

// What may pass by itself: the server is busy, or something before it.
bool is_passing(int status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

// The server has no stream to offer (405), no such route, or does not know what to make of a GET.
bool says_not_offered(int status) { return status == 405 || status == 404 || status == 400; }

ExchangeEnd::Reason reason_of(const Error& error) {
  return group(error.code) == ErrorGroup::limit ? ExchangeEnd::Reason::limit
                                                : ExchangeEnd::Reason::failed;
}

}  // namespace

Exchange::Exchange(ExchangeRequest&& request, std::shared_ptr<Endpoint> endpoint,
                   std::shared_ptr<Inbox> inbox)
    : request_(std::move(request)),
      endpoint_(std::move(endpoint)),
      authorization_(endpoint_->authorization),
      inbox_(std::move(inbox)),
      total_(loop().wall_deadlines(),
             [this] { time_out(ErrorCode::timeout_total, "total", request_.total); }),
      progress_(
          loop().wall_deadlines(),
          [this] { time_out(ErrorCode::timeout_request, "request", request_.without_progress); }),
      reopening_(loop().wall_deadlines(), [this] { open_again(); }),
      next_(loop().wall_deadlines(), [this] { authorize_and_send(); }),
      resumption_(request_.options->reconnection, random_source()) {}

// --- From the inbox ------------------------------------------------------------------------------

void Exchange::begin() {
  if (inbox_->has_ended()) return;
  self_ = shared_from_this();
  if (request_.total.count() != 0) total_.arm(after(started_at_, request_.total));
  await_progress();
  const auto keeper = request_.keeper.lock();
  if (keeper && keeper->has_lost_session()) return restore_and_send();
  authorize_and_send();
}

void Exchange::resume() {
  if (transfer_) transfer_->resume();
}

void Exchange::stop() {
  if (auto transfer = std::exchange(transfer_, nullptr)) transfer->abandon();
  std::erase(endpoint_->open_streams, this);
  total_.disarm();
  progress_.disarm();
  reopening_.disarm();
  next_.disarm();
  if (self_) loop().retire(std::move(self_));
}

void Exchange::send() {
  std::vector<std::string> header_lines;
  if (request_.body != nullptr) {
    header_lines.insert(header_lines.end(), request_.message_header_lines.begin(),
                        request_.message_header_lines.end());
  }
  if (!request_.context.last_event_id.empty()) {
    header_lines.push_back("Last-Event-ID: " + request_.context.last_event_id);
  }
  if (!credential_.header.empty()) header_lines.push_back("Authorization: " + credential_.header);
  TransferRequest request{request_.method,
                          request_.target,
                          {request_.header_lines, request_.session.header_lines},
                          std::move(header_lines),
                          request_.body,
                          request_.context,
                          request_.times,
                          request_.max_connection_idle,
                          request_.http2,
                          request_.options};
  transfer_ = std::make_shared<Transfer>(loop(), std::move(request), *this);
  // What waits in the loop must not keep it alive: nobody may be left to drive it.
  loop().start_when_settled([weak = weak_from_this(), transfer = transfer_] {
    const auto self = weak.lock();
    if (self && self->transfer_ == transfer) transfer->start();
  });
}

// --- From the transfer ---------------------------------------------------------------------------

void Exchange::on_sent() {
  if (request_.on_sent) request_.on_sent();
}

void Exchange::on_head(ResponseHead&& head) {
  if (const std::string* kept = head.find("Keep-Alive")) {
    if (const auto time = http::parse_keep_alive_timeout(*kept)) endpoint_->kept_alive = *time;
  }
  if (request_.context.forwarded) drop_response_hop_fields(head.headers);
  check_session_id(head);
  if (head.kind == ResponseKind::stream) {
    opened_ = true;
    opened_at_ = loop().driven_now();
    std::erase(endpoint_->open_streams, this);
    endpoint_->open_streams.push_back(this);
  }
  restored_ = false;
  refreshed_ = false;
  if (request_.is_initialize) initialize_head_ = head;
  // The stream of a request has one head, however often it is taken up again.
  if (std::exchange(head_handed_out_, true) && request_.reopening == Reopening::until_answered)
    return;
  inbox_->put(std::move(head));
}

void Exchange::check_session_id(const ResponseHead& head) {
  const std::string* id = request_.session.id.empty() ? nullptr : head.find("MCP-Session-Id");
  if (id == nullptr || *id == request_.session.id) return;
  on_warning({WarningKind::session_id_changed, "a reply carried another MCP-Session-Id; ignored"});
}

bool Exchange::is_replay(std::string_view event_id) {
  return !request_.context.forwarded && replayed_.seen(event_id);
}

Flow Exchange::on_event(Event&& event) {
  if (figures_.first_event.count() == 0 && event.kind() == Event::Kind::event)
    figures_.first_event = since_start(std::chrono::steady_clock::now());
  if (event.message() != nullptr) {
    if (!note_subscription(*event.message())) return Flow::proceed;
    resumption_.on_message();
    if (request_.without_progress.count() != 0 &&
        is_progress(*event.message(), request_.progress_token)) {
      await_progress();
    }
  }
  if (event.is_response()) {
    if (is_for_continuation(*event.message())) {
      continued_ = std::move(event).take_message();
      return Flow::proceed;
    }
    adopt_session(*event.message());
  }
  if (refusal_) return Flow::proceed;
  return inbox_->put(std::move(event), pause());
}

void Exchange::await_progress() {
  if (request_.without_progress.count() == 0) return;
  progress_.arm(after(std::chrono::steady_clock::now(), request_.without_progress));
}

// A subscription lasts as long as both sides like, and is silent while nothing changes (MCP
// 2026-07-28, Subscriptions). False for what must not be handed out.
bool Exchange::note_subscription(const Message& message) {
  if (!request_.is_subscription || message.kind() != Message::Kind::notification) return true;
  const std::string& id = request_.context.request_id;
  const bool is_ours = subscription::belongs_to(message, id);
  if (subscription::is_acknowledgement(message) && is_ours) {
    total_.disarm();
    progress_.disarm();
    transfer_->expect_silence();
  }
  if (!request_.renew) return true;
  if (subscription::ends(message, id)) {
    request_.reopening = Reopening::never;
    continue_with([self = shared_from_this()] { self->end_subscription(); });
    return true;
  }
  const bool is_cancellation = message.method() == "notifications/cancelled";
  if (is_ours && !is_cancellation) return true;
  on_warning({WarningKind::foreign_message, "a notification of another subscription was skipped"});
  return false;
}

// The server has said so, and need not close the stream.
void Exchange::end_subscription() {
  finish(ExchangeEnd::Reason::unanswered,
         make_error(ErrorCode::stream_ended_without_response, "the server ended the subscription",
                    Delivery::answered));
}

void Exchange::on_message(Message&& message) {
  if (message.is_response() && is_for_continuation(message)) {
    continued_ = std::move(message);
    return;
  }
  if (message.is_response()) adopt_session(message);
  if (!refusal_) inbox_->put(std::move(message));
}

Flow Exchange::on_body(std::string&& bytes) {
  return inbox_->put(BodyPiece{std::move(bytes)}, pause());
}

// A stream that shares its connection is ended rather than paused (Transfer::take_body).
Inbox::Pause Exchange::pause() const {
  return request_.http2 ? Inbox::Pause::ends_it : Inbox::Pause::stops_it;
}

void Exchange::on_warning(Warning&& warning) { inbox_->put(std::move(warning)); }

// An answer that cannot be adopted is not handed out: the outcome that follows turns into the
// refusal.
void Exchange::adopt_session(const Message& answer) {
  if (!initialize_head_) return;
  refusal_ = endpoint_->session.adopt(*initialize_head_, answer,
                                      request_.context.limits.max_event_id_size);
}

void Exchange::on_outcome(ReadOutcome&& outcome, const TransferFigures& figures) {
  transfer_.reset();
  add_figures(figures);
  switch (outcome.kind) {
    case ReadOutcome::Kind::answered:
      if (refusal_) return fail(std::move(*refusal_));
      if (continued_) return continue_call(*std::exchange(continued_, std::nullopt));
      return finish(ExchangeEnd::Reason::answered, std::nullopt);
    case ReadOutcome::Kind::accepted:
      return finish(ExchangeEnd::Reason::accepted, std::nullopt);
    case ReadOutcome::Kind::redirected:
      return follow_redirect(std::move(outcome));
    case ReadOutcome::Kind::unanswered:
      return on_unanswered(std::move(outcome));
    case ReadOutcome::Kind::failed:
      return on_failed(std::move(outcome));
  }
}

void Exchange::on_unanswered(ReadOutcome outcome) {
  if (can_resume(outcome)) return reopen(std::move(outcome));
  const Error* cause = outcome.error.cause.get();
  const bool cut = cause != nullptr && cause->code == ErrorCode::body_truncated;
  finish(cut ? ExchangeEnd::Reason::cut : ExchangeEnd::Reason::unanswered,
         std::move(outcome.error));
}

void Exchange::on_failed(ReadOutcome outcome) {
  Error& error = outcome.error;
  if (may_repeat(error)) {
    repeated_ = true;
    return authorize_and_send();
  }
  if (may_restore(error)) return restore_and_send();
  if (error.code == ErrorCode::session_expired && may_open_later(error))
    return schedule_reopening(std::move(error));
  if (may_refresh(error)) return refresh_and_send(std::move(error));
  // Silence on a stream that can be taken up again is a cut like any other.
  if (error.code == ErrorCode::timeout_idle && can_resume(outcome))
    return reopen(std::move(outcome));
  const bool is_attempt = request_.method == "GET" || request_.renew;
  if (!opened_ || !is_attempt || request_.reopening == Reopening::never) {
    const bool not_offered = request_.context.awaits == Awaits::stream &&
                             error.code == ErrorCode::http_error &&
                             says_not_offered(error.http_status);
    if (not_offered) return finish(ExchangeEnd::Reason::not_offered, std::move(error));
    return fail(std::move(error));
  }
  // An attempt to open the stream again has failed.
  if (attempt_may_be_repeated(error)) return schedule_reopening(std::move(error));
  give_up(std::move(error));
}

bool Exchange::may_repeat(const Error& error) const {
  return error.code == ErrorCode::connection_lost && request_.idempotent && !repeated_ &&
         !head_handed_out_;
}

void Exchange::follow_redirect(ReadOutcome outcome) {
  const TransportOptions& options = *request_.options;
  Error& refused = outcome.error;
  const bool keeps_method = refused.http_status == 307 || refused.http_status == 308;
  const http::Url& from = request_.target->url();
  const auto location = http::resolve_location(from, refused.location);
  const auto url = location ? http::parse_url(*location) : tl::unexpected(Error{});
  if (options.redirects == Redirects::none) {
    refused.detail = "redirects are switched off";
  } else if (!keeps_method) {
    refused.detail = fmt::format("HTTP {} would change the request; only 307 and 308 are followed",
                                 refused.http_status);
  } else if (refused.location.empty()) {
    refused.detail = "the redirect has no Location";
  } else if (!url || http::origin(*url) != http::origin(from)) {
    refused.detail = "the redirect leaves the origin";
  } else if (redirects_ == options.max_redirects) {
    refused.detail = fmt::format("max_redirects ({}) exceeded", options.max_redirects);
  } else {
    ++redirects_;
    request_.target = std::make_shared<const http::Target>(*url);
    return send();
  }
  fail(std::move(refused));
}

// --- Opening a stream again ----------------------------------------------------------------------

bool Exchange::can_resume(const ReadOutcome& outcome) const {
  if (request_.options->reconnection.max_attempts == 0 || !outcome.was_stream) return false;
  switch (request_.reopening) {
    case Reopening::never:
      return false;
    case Reopening::for_ever:
      return true;
    case Reopening::until_answered:
      break;
  }
  // Without an id there is nothing to go on from; one that cannot be a header value is none.
  const std::string& id = outcome.last_event_id;
  return !id.empty() && id.size() <= request_.context.limits.max_event_id_size &&
         http::is_field_value(id);
}

bool Exchange::attempt_may_be_repeated(const Error& error) {
  if (error.code == ErrorCode::http_error) return is_passing(error.http_status);
  const ErrorGroup kind = group(error.code);
  return kind == ErrorGroup::network || kind == ErrorGroup::timeout ||
         error.code == ErrorCode::body_truncated;
}

void Exchange::reopen(ReadOutcome outcome) {
  const bool lived = loop().driven_now() - opened_at_ >= proof_of_life;
  if (request_.reopening == Reopening::for_ever && lived) resumption_.on_message();
  retry_ = outcome.retry ? outcome.retry : retry_;
  std::string& id = outcome.last_event_id;
  const bool usable =
      id.size() <= request_.context.limits.max_event_id_size && http::is_field_value(id);
  request_.context.last_event_id = usable ? std::move(id) : std::string();
  schedule_reopening(std::move(outcome.error));
}

void Exchange::schedule_reopening(Error why) {
  const bool bounded = request_.reopening == Reopening::until_answered;
  if (bounded && resumption_.exhausted()) return give_up(std::move(why));
  const auto delay = resumption_.next_delay(retry_);
  if (bounded && outlasts(delay)) {
    why.code = request_.total.count() != 0 ? ErrorCode::timeout_total
                                           : ErrorCode::stream_ended_without_response;
    why.detail = fmt::format(
        "the next attempt to take the stream up again is due in {} ms, later than is allowed",
        delay.count());
    return fail(std::move(why));
  }
  reopening_.arm(std::chrono::steady_clock::now() + delay);
}

// Longer than an hour, or than what is left of the total time: neither shortened nor waited for.
bool Exchange::outlasts(std::chrono::milliseconds delay) const {
  if (delay > longest_retry) return true;
  return request_.total.count() != 0 &&
         std::chrono::steady_clock::now() + delay > after(started_at_, request_.total);
}

void Exchange::open_again() {
  if (request_.renew) return send_next(request_.renew());
  request_.method = "GET";
  request_.body = nullptr;
  request_.idempotent = false;
  restored_ = false;
  request_.times.headers = request_.stream_headers_time;
  request_.header_lines = request_.stream_header_lines;
  authorize_and_send();
}

// --- Ends ----------------------------------------------------------------------------------------

void Exchange::time_out(ErrorCode code, std::string_view which, std::chrono::milliseconds limit) {
  fail(make_timeout(code, which, limit, Delivery::unknown));
}

// A stream that was open cannot be had again.
void Exchange::give_up(Error why) {
  if (request_.reopening == Reopening::for_ever) {
    on_warning({WarningKind::stream_not_reopened, why.to_string()});
    return fail(std::move(why));
  }
  const bool says_more =
      group(why.code) == ErrorGroup::limit || why.code == ErrorCode::session_expired ||
      why.code == ErrorCode::unauthorized || why.code == ErrorCode::stream_ended_without_response;
  if (says_more) return fail(std::move(why));
  Error error =
      make_error(ErrorCode::stream_ended_without_response,
                 "the event stream broke off before the response and could not be taken up again",
                 Delivery::unknown);
  error.http_status = why.http_status;
  error.cause = std::make_shared<const Error>(std::move(why));
  fail(std::move(error));
}

void Exchange::fail(Error error) {
  if (error.code == ErrorCode::session_expired) end_streams_of_lost_session();
  const ExchangeEnd::Reason reason = reason_of(error);
  finish(reason, std::move(error));
}

void Exchange::finish(ExchangeEnd::Reason reason, std::optional<Error> error) {
  figures_.ended = since_start(std::chrono::steady_clock::now());
  inbox_->put(ExchangeEnd{reason, std::move(error), figures_});
  stop();
}

void Exchange::add_figures(const TransferFigures& figures) {
  figures_.bytes_sent += figures.bytes_sent;
  figures_.bytes_received += figures.bytes_received;
  figures_.events += figures.events;
  figures_.connected = since_start(figures.connected);
  figures_.headers = since_start(figures.headers);
  figures_.connection_reused = figures.connection_reused;
  figures_.http_version = figures.http_version;
}

std::chrono::microseconds Exchange::since_start(std::optional<TimePoint> at) const {
  if (!at) return {};
  return std::chrono::duration_cast<std::chrono::microseconds>(*at - started_at_);
}

}  // namespace mcphttp
