#include "subscription_handler.hpp"

#include <utility>

#include "rpc.hpp"
#include "subscription.hpp"

namespace mcphttp {

SubscriptionHandler::SubscriptionHandler(SubscriptionOptions options, Observer observer)
    : options_(std::move(options)), observer_(std::move(observer)) {}

Flow SubscriptionHandler::on_event(Event&& event) {
  const Message* message = event.message();
  if (message == nullptr) return Flow::proceed;
  if (event.is_response()) {
    on_message(*std::move(event).take_message());
  } else if (subscription::is_acknowledgement(*message)) {
    if (options_.on_acknowledged)
      options_.on_acknowledged(subscription::read_acknowledgement(*message));
  } else if (message->method() == "notifications/cancelled") {
    closed_by_server_ = true;  // others than this subscription's do not come here
  } else if (message->kind() == Message::Kind::notification) {
    observer_(*message);
    if (options_.on_notification) options_.on_notification(*message);
  }
  return Flow::proceed;
}

// The result has nothing to say but that this is the end.
void SubscriptionHandler::on_message(Message&& message) {
  auto result = rpc::to_result(std::move(message), 0);
  closed_by_server_ = result.has_value();
  if (!result) refusal_ = std::move(result.error());
}

void SubscriptionHandler::on_end(const ExchangeEnd& end) {
  if (!options_.on_end) return;
  if (refusal_) return options_.on_end({SubscriptionEnd::Reason::failed, refusal_});
  if (end.reason == ExchangeEnd::Reason::cancelled)
    return options_.on_end({SubscriptionEnd::Reason::cancelled, end.error});
  if (closed_by_server_)
    return options_.on_end({SubscriptionEnd::Reason::closed_by_server, std::nullopt});
  options_.on_end({SubscriptionEnd::Reason::failed, end.error});
}

}  // namespace mcphttp
