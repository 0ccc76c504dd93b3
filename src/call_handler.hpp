// One call of a Client while it is under way: its notifications to the callbacks, the server's
// requests to their handlers, and in the end its result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <mcphttp/client.hpp>

#include "inbox.hpp"
#include "server_requests.hpp"

namespace mcphttp {

// What arrives beside the answer. The token is that of the request, which is also its id.
class Notifier {
 public:
  // Told of every notification before the application is.
  using Observer = std::function<void(const Message&)>;

  // `options`, `requests` and `observer` must outlive the notifier.
  Notifier(const CallOptions& options, std::int64_t token, const ServerRequests& requests,
           const Observer& observer);
  // Throws what the callbacks throw.
  void notice(const Message& message, const std::shared_ptr<Inbox>& inbox) const;

 private:
  const CallOptions& options_;
  const std::string token_;
  const ServerRequests& requests_;
  const Observer& observer_;
};

// Reads a blocking call to its end, on the calling thread.
Result<Message> read_answer(const std::shared_ptr<Inbox>& inbox, const Notifier& notifier);

// An asynchronous call.
class CallHandler final : public ResponseHandler {
 public:
  using Done = std::function<void(Result<Message>)>;

  // `requests` and `observer` must outlive the handler's exchange.
  CallHandler(CallOptions options, std::int64_t token, const ServerRequests& requests,
              const Notifier::Observer& observer, Done done);
  // Before the call is started.
  void attach(const std::shared_ptr<Inbox>& inbox) { inbox_ = inbox; }

  void on_headers(const ResponseHead& head) override;
  Flow on_event(Event&& event) override;
  void on_message(Message&& message) override;
  void on_end(const ExchangeEnd& end) override;

 private:
  const CallOptions options_;
  const Notifier notifier_;
  const Done done_;
  std::weak_ptr<Inbox> inbox_;  // which holds us
  int status_ = 0;
  std::optional<Message> answer_;
};

}  // namespace mcphttp
