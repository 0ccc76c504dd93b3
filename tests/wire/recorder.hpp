// Records one exchange, from its callbacks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

#include <mcphttp/message.hpp>
#include <mcphttp/response.hpp>

#include "wire/observation.hpp"

namespace mcphttp::test::wire {

// Thread-safe.
class Recorder final : public ResponseHandler {
 public:
  // To be set before the exchange is started. Called for each request of the server, from on_event.
  std::function<void(const Message&)> on_request;
  // Pauses once, after that many events; 0: never.
  std::size_t pause_after_events = 0;

  void on_headers(const ResponseHead& head) override;
  Flow on_event(Event&& event) override;
  void on_message(Message&& message) override;
  void on_end(const ExchangeEnd& end) override;

  // For what does not come through the handler.
  void note_warning(const Warning& warning);
  void note_message(const Message& message);
  // An end without figures.
  void note_end(ExchangeEnd::Reason reason, std::optional<Error> error);

  // True once `condition` holds; false if it does not within that time.
  bool wait(const std::function<bool(const Recording&)>& condition,
            std::chrono::milliseconds within) const;
  Recording snapshot() const;

 private:
  class Visit;

  void add(const Message& message);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Recording recording_;
  std::atomic<int> inside_{0};
};

}  // namespace mcphttp::test::wire
