// Exchange: one request and all that comes back for it, over as many transfers as that takes: it
// follows redirects, takes broken streams up again and keeps the total deadline. Loop context
// throughout; what it brings goes to an Inbox.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/options.hpp>
#include <mcphttp/response.hpp>

#include "authorization.hpp"
#include "continuation.hpp"
#include "deadline.hpp"
#include "event_loop.hpp"
#include "inbox.hpp"
#include "resumption.hpp"
#include "session.hpp"
#include "session_keeper.hpp"
#include "transfer.hpp"
#include "url.hpp"

namespace mcphttp {

// When an event stream that ends is opened again by a GET.
enum class Reopening {
  never,
  until_answered,  // the stream of a request, while it has an event id to go on from
  for_ever,        // a stream of server messages
};

struct ExchangeRequest {
  std::string method;
  std::shared_ptr<const http::Target> target;
  // But for those of session, credentials and resumption, which may change.
  HeaderLines header_lines;
  std::vector<std::string> message_header_lines;  // that mirror the message
  std::function<void()> on_sent;  // told in the loop context, each time it is sent; may be null
  std::shared_ptr<const std::string> body;  // null: none
  ReaderContext context;
  TransferTimes times;
  std::chrono::milliseconds total{0};             // 0: none
  std::chrono::milliseconds without_progress{0};  // 0: none
  std::string progress_token;                     // raw; empty: no progress was asked for
  std::chrono::seconds max_connection_idle{0};
  bool http2 = false;
  bool idempotent = false;
  bool is_initialize = false;
  bool is_subscription = false;  // subscriptions/listen: its stream lives until the server ends it
  Reopening reopening = Reopening::never;
  // Makes the request that opens a broken subscription anew; null: a GET takes the stream up again.
  std::function<NextRequest()> renew;
  HeaderLines stream_header_lines;  // of the GET that opens a stream again
  std::chrono::milliseconds stream_headers_time{0};
  Session::Snapshot session;
  std::weak_ptr<SessionKeeper> keeper;         // none: a lost session is the caller's affair
  std::shared_ptr<Continuation> continuation;  // null: every answer is the last
  std::shared_ptr<const TransportOptions> options;
};

class Exchange;

// What is known of an endpoint. Thread-safe, but for what is said otherwise.
struct Endpoint {
  Session session;
  // How long the server says it keeps an idle connection (Keep-Alive: timeout); most say nothing
  // and mean 5 s.
  std::atomic<std::chrono::seconds> kept_alive{std::chrono::seconds{5}};
  std::shared_ptr<Authorization> authorization;  // null: nobody to ask for credentials
  std::atomic<bool> warned_of_http2{false};
  std::vector<Exchange*> open_streams;  // loop context
};

class Exchange final : public Upstream,
                       public TransferOwner,
                       public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(ExchangeRequest&& request, std::shared_ptr<Endpoint> endpoint,
           std::shared_ptr<Inbox> inbox);
  ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void begin() override;
  void resume() override;
  void stop() override;

 private:
  void send();
  void on_sent() override;
  void on_head(ResponseHead&& head) override;
  bool is_replay(std::string_view event_id) override;
  Flow on_event(Event&& event) override;
  void on_message(Message&& message) override;
  Flow on_body(std::string&& bytes) override;
  void on_warning(Warning&& warning) override;
  void on_outcome(ReadOutcome&& outcome, const TransferFigures& figures) override;

  void on_unanswered(ReadOutcome outcome);
  void on_failed(ReadOutcome outcome);
  void follow_redirect(ReadOutcome outcome);
  bool may_repeat(const Error& error) const;

  bool can_resume(const ReadOutcome& outcome) const;
  static bool attempt_may_be_repeated(const Error& error);
  void reopen(ReadOutcome outcome);
  void schedule_reopening(Error why);
  bool outlasts(std::chrono::milliseconds delay) const;
  void open_again();

  Inbox::Pause pause() const;
  void await_progress();
  bool note_subscription(const Message& message);
  void end_subscription();
  bool is_for_continuation(const Message& answer) const;
  void continue_call(Message answer);
  void send_next(NextRequest next);

  bool may_restore(const Error& error) const;
  bool outlives_session() const;
  bool may_open_later(const Error& error) const;
  void restore_and_send();
  void on_not_restored(Error error);
  void lose_session();
  void end_streams_of_lost_session();

  void authorize_and_send();
  void refresh_and_send(Error refusal);
  bool may_refresh(const Error& error) const;
  void continue_with(std::function<void()> step);

  void adopt_session(const Message& answer);
  void check_session_id(const ResponseHead& head);
  void time_out(ErrorCode code, std::string_view which, std::chrono::milliseconds limit);
  void give_up(Error why);
  void fail(Error error);
  void finish(ExchangeEnd::Reason reason, std::optional<Error> error);
  void add_figures(const TransferFigures& figures);
  std::chrono::microseconds since_start(std::optional<TimePoint> at) const;
  LoopCore& loop() noexcept { return inbox_->loop(); }

  ExchangeRequest request_;
  const std::shared_ptr<Endpoint> endpoint_;
  const std::shared_ptr<Authorization> authorization_;  // null: nobody to ask
  Credential credential_;
  bool refreshed_ = false;
  bool restored_ = false;  // the session, for this request
  const std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<Transfer> transfer_;
  Deadline total_;
  Deadline progress_;
  Deadline reopening_;
  Deadline next_;  // the delay before the next request of the call
  int redirects_ = 0;
  bool repeated_ = false;
  bool head_handed_out_ = false;

  Resumption resumption_;
  ReplayFilter replayed_;
  bool opened_ = false;  // a stream has been open at least once
  TimePoint opened_at_;
  std::optional<std::uint64_t> retry_;

  std::optional<Message> continued_;  // an answer that is not the last
  std::optional<ResponseHead> initialize_head_;
  std::optional<Error> refusal_;  // of an answer that has been read but must not be handed out
  ExchangeFigures figures_;
  const TimePoint started_at_ = std::chrono::steady_clock::now();
  std::shared_ptr<Exchange> self_;  // from begin() to the end
};

}  // namespace mcphttp
