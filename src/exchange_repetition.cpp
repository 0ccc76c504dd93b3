// The reasons for which an exchange sends a request again, broken streams and redirects aside: the
// call goes on, the server has lost the session, the credentials were refused. Each but the first
// happens at most once between two answers.
#include <utility>

#include "exchange.hpp"
#include "make_error.hpp"

namespace mcphttp {

// --- The next request of the call ----------------------------------------------------------------

bool Exchange::is_for_continuation(const Message& answer) const {
  return request_.continuation != nullptr && request_.continuation->wants(answer);
}

// While the application supplies what was asked for, no request is under way. What the application
// may keep for ever does not keep an exchange that has ended, here and below.
void Exchange::continue_call(Message answer) {
  progress_.disarm();
  request_.continuation->go_on(std::move(answer),
                               [weak = weak_from_this()](Result<NextRequest> next) {
                                 const auto self = weak.lock();
                                 if (!self) return;
                                 self->continue_with([self, next = std::move(next)] {
                                   if (!next) return self->fail(next.error());
                                   self->send_next(*next);
                                 });
                               });
}

void Exchange::send_next(NextRequest next) {
  request_.context.request_id = std::move(next.id);
  request_.message_header_lines = std::move(next.header_lines);
  request_.body = std::make_shared<const std::string>(std::move(next.json));
  await_progress();
  if (next.delay.count() == 0) return authorize_and_send();
  next_.arm(std::chrono::steady_clock::now() + next.delay);
}

// --- The session ---------------------------------------------------------------------------------

// What a GET would take up again of a request's stream is gone with the session.
bool Exchange::may_restore(const Error& error) const {
  const bool resumes_request =
      request_.reopening == Reopening::until_answered && request_.method == "GET";
  return error.code == ErrorCode::session_expired && !restored_ && !resumes_request &&
         !request_.keeper.expired();
}

// The stream of server messages is for whatever session there is.
bool Exchange::outlives_session() const {
  return request_.reopening == Reopening::for_ever && !request_.keeper.expired();
}

// The request was refused, so not carried out: it may be sent again, once, in a new session.
void Exchange::restore_and_send() {
  restored_ = true;
  end_streams_of_lost_session();
  const auto keeper = request_.keeper.lock();
  keeper->restore(request_.session.id,
                  [self = shared_from_this()](Result<void> result, bool restarted) {
                    self->continue_with([self, result = std::move(result), restarted] {
                      if (!result) return self->on_not_restored(result.error());
                      if (restarted) {
                        self->on_warning({WarningKind::session_restarted,
                                          "the server had lost the session; a new one was begun"});
                      }
                      self->request_.session = self->endpoint_->session.snapshot();
                      self->request_.context.session_in_use = !self->request_.session.id.empty();
                      self->request_.context.last_event_id.clear();
                      self->authorize_and_send();
                    });
                  });
}

void Exchange::on_not_restored(Error error) {
  if (may_open_later(error)) return schedule_reopening(std::move(error));
  fail(std::move(error));
}

// Sessions that are lost as fast as they begin must not make a hot loop either.
bool Exchange::may_open_later(const Error& error) const {
  return outlives_session() && request_.options->reconnection.max_attempts != 0 &&
         (error.code == ErrorCode::session_expired || attempt_may_be_repeated(error));
}

// What is streamed in a session that is gone is gone with it. Not at once: a stream may be in the
// middle of libcurl.
void Exchange::end_streams_of_lost_session() {
  endpoint_->session.drop(request_.session.id);
  const std::lock_guard lock(loop().mutex());
  loop().enqueue([endpoint = endpoint_, lost = request_.session.id] {
    const std::vector<Exchange*> streams = endpoint->open_streams;
    for (Exchange* stream : streams) {
      if (!lost.empty() && stream->request_.session.id == lost) stream->lose_session();
    }
  });
}

void Exchange::lose_session() {
  // Whoever sees the same loss later must not send it a second time.
  std::erase(endpoint_->open_streams, this);
  if (auto transfer = std::exchange(transfer_, nullptr)) transfer->abandon();
  reopening_.disarm();
  if (outlives_session()) return restore_and_send();
  finish(ExchangeEnd::Reason::failed,
         make_error(ErrorCode::session_expired, "the session was lost while the stream was open",
                    Delivery::unknown));
}

// --- Credentials ---------------------------------------------------------------------------------

// Asks for credentials first, where there is somebody to ask.
void Exchange::authorize_and_send() {
  if (!authorization_) return send();
  authorization_->obtain([weak = weak_from_this()](Credential credential) {
    const auto self = weak.lock();
    if (!self) return;
    self->continue_with([self, credential = std::move(credential)] {
      self->credential_ = credential;
      self->send();
    });
  });
}

void Exchange::refresh_and_send(Error refusal) {
  refreshed_ = true;
  const Authorization::Refused refused{credential_.generation, refusal.http_status,
                                       refusal.www_authenticate};
  authorization_->refresh(refused,
                          [weak = weak_from_this(), refusal = std::move(refusal)](bool retry) {
                            const auto self = weak.lock();
                            if (!self) return;
                            self->continue_with([self, refusal, retry] {
                              if (retry) return self->authorize_and_send();
                              self->fail(refusal);
                            });
                          });
}

bool Exchange::may_refresh(const Error& error) const {
  return authorization_ != nullptr && !refreshed_ &&
         (error.http_status == 401 || error.http_status == 403);
}

// Back into the loop context, from any thread; nothing if the exchange has ended meanwhile.
void Exchange::continue_with(std::function<void()> step) {
  {
    const std::lock_guard lock(loop().mutex());
    loop().enqueue([self = shared_from_this(), step = std::move(step)] {
      if (self->self_) step();
    });
  }
  loop().kick();
}

}  // namespace mcphttp
