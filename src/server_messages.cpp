// How a Client hears what its server says of its own accord: on the stream of the legacy era, and
// through subscriptions in both.
#include <utility>

#include "client_state.hpp"
#include "response_state.hpp"
#include "rpc.hpp"
#include "subscription.hpp"
#include "subscription_handler.hpp"

namespace mcphttp {
namespace {

// The stream of the server's own messages.
class ServerStream final : public ResponseHandler {
 public:
  // `options`, `requests` and `observer` must outlive the stream's exchange.
  ServerStream(const ClientOptions& options, const ServerRequests& requests,
               const Notifier::Observer& observer,
               std::shared_ptr<LegacySubscriptions> subscriptions,
               std::shared_ptr<StreamOpening> opening, std::function<void()> on_over)
      : options_(options),
        requests_(requests),
        observer_(observer),
        subscriptions_(std::move(subscriptions)),
        opening_(std::move(opening)),
        on_over_(std::move(on_over)) {}
  void attach(const std::shared_ptr<Inbox>& inbox) { inbox_ = inbox; }

  void on_headers(const ResponseHead& /*head*/) override {
    opening_->note_settled();
    subscriptions_->stream_opened();
  }
  Flow on_event(Event&& event) override {
    const Message* message = event.message();
    if (message == nullptr) return Flow::proceed;
    if (message->kind() == Message::Kind::request) {
      requests_.take(*message, inbox_.lock());
    } else if (message->kind() == Message::Kind::notification) {
      observer_(*message);
      if (options_.on_notification) options_.on_notification(*message);
      return subscriptions_->distribute(*message);
    }
    return Flow::proceed;
  }
  void on_end(const ExchangeEnd& end) override {
    opening_->note_settled();
    on_over_();
    subscriptions_->stream_ended(end);
  }

 private:
  const ClientOptions& options_;
  const ServerRequests& requests_;
  const Notifier::Observer& observer_;
  const std::shared_ptr<LegacySubscriptions> subscriptions_;
  const std::shared_ptr<StreamOpening> opening_;
  const std::function<void()> on_over_;
  std::weak_ptr<Inbox> inbox_;
};

Result<void> check_filter(const SubscriptionFilter& filter) {
  for (const std::string& uri : filter.resource_subscriptions) {
    if (auto checked = rpc::check_text("resource_subscriptions", uri); !checked) return checked;
  }
  return {};
}

}  // namespace

void Client::State::prepare_for_server_messages() {
  server_requests_ = std::make_unique<ServerRequests>(
      options.request_handlers, transport_->worker,
      [weak = weak_from_this()](std::string json, std::function<void()> done) {
        if (const auto self = weak.lock()) self->send_detached(std::move(json), std::move(done));
      });
  LegacySubscriptions::Host host;
  host.send = [weak = weak_from_this()](std::string_view method, const std::string& params,
                                        const Done& done) {
    const auto self = weak.lock();
    if (self) self->send_inside(rpc::make_request(self->next_id_++, method, params), false, done);
  };
  host.open_stream = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->open_server_stream();
  };
  host.resume_stream = [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    const std::lock_guard lock(self->mutex_);
    self->server_stream_.resume();
  };
  host.capabilities = [weak = weak_from_this()] {
    const auto self = weak.lock();
    return self ? self->server.capabilities : std::string();
  };
  host.in_loop = [loop = transport_->loop](std::function<void()> task) {
    {
      const std::lock_guard lock(loop->mutex());
      loop->enqueue(std::move(task));
    }
    loop->kick();
  };
  legacy_subscriptions_ = std::make_shared<LegacySubscriptions>(std::move(host));
}

std::shared_ptr<StreamOpening> Client::State::open_server_stream() {
  auto opening = std::make_shared<StreamOpening>(transport_->loop);
  if (closed_ || server_stream_is_open_.exchange(true)) return opening;
  auto handler =
      std::make_shared<ServerStream>(options, *server_requests_, observer_, legacy_subscriptions_,
                                     opening, [weak = weak_from_this()] {
                                       if (const auto self = weak.lock())
                                         self->server_stream_is_open_ = false;
                                     });
  auto request = transport_->prepare_stream({});
  if (!request) return opening;
  adopt(*request);
  request->on_sent = [opening] { opening->note_sent(); };
  auto inbox = transport_->open(handler);
  handler->attach(inbox);
  const std::lock_guard lock(mutex_);
  server_stream_.detach();  // an earlier one is over
  server_stream_ = Call(inbox);
  transport_->launch(inbox, std::move(request), {});
  return opening;
}

Result<void> Client::State::subscribe_resource(std::string_view uri, const CallOptions& call) {
  auto checked = rpc::check_text("uri", uri);
  if (!checked) return checked;
  auto answer = request("resources/subscribe", rpc::make_text_params("uri", uri), call);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  const std::lock_guard lock(mutex_);
  subscribed_resources_.emplace(uri);
  return {};
}

Result<void> Client::State::unsubscribe_resource(std::string_view uri, const CallOptions& call) {
  auto checked = rpc::check_text("uri", uri);
  if (!checked) return checked;
  auto answer = request("resources/unsubscribe", rpc::make_text_params("uri", uri), call);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  const std::lock_guard lock(mutex_);
  subscribed_resources_.erase(std::string(uri));
  return {};
}

Call Client::State::subscribe(const SubscriptionFilter& filter, SubscriptionOptions chosen) {
  CallOptions call;
  call.headers = chosen.headers;
  call.timeouts = chosen.timeouts;
  const std::stop_token stop = chosen.stop;
  auto inbox =
      transport_->open(std::make_shared<SubscriptionHandler>(std::move(chosen), observer_));
  if (closed_) {
    inbox->refuse(usage_error(ErrorCode::closed, "the client was closed"));
  } else if (auto checked = check_filter(filter); !checked) {
    inbox->refuse(std::move(checked.error()));
  } else if (is_modern_) {
    transport_->launch(inbox, prepare_subscription(filter, call), stop);
  } else {
    inbox->start(legacy_subscriptions_->make(filter, inbox), stop);
  }
  return Call(std::move(inbox));
}

Result<ExchangeRequest> Client::State::prepare_subscription(const SubscriptionFilter& filter,
                                                            const CallOptions& call) {
  auto renew = [weak = weak_from_this(), params = subscription::make_params(filter)] {
    const auto self = weak.lock();
    return self ? self->make_request(self->next_id_++, "subscriptions/listen", params)
                : NextRequest{};
  };
  NextRequest first = renew();
  auto request = transport_->prepare_post(std::move(first.json), send_options(call, true));
  if (!request) return request;
  request->message_header_lines = std::move(first.header_lines);
  request->reopening = Reopening::for_ever;
  request->renew = std::move(renew);
  return request;
}

}  // namespace mcphttp
