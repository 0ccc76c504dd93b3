// One subscription of a Client, as its stream arrives: acknowledgements, notifications and the end,
// to the callbacks.
#pragma once

#include <functional>
#include <optional>

#include <mcphttp/client.hpp>

namespace mcphttp {

class SubscriptionHandler final : public ResponseHandler {
 public:
  // Told of every notification before the application is.
  using Observer = std::function<void(const Message&)>;

  SubscriptionHandler(SubscriptionOptions options, Observer observer);

  Flow on_event(Event&& event) override;
  void on_message(Message&& message) override;
  void on_end(const ExchangeEnd& end) override;

 private:
  const SubscriptionOptions options_;
  const Observer observer_;
  bool closed_by_server_ = false;
  std::optional<Error> refusal_;
};

}  // namespace mcphttp
