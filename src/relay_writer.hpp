// RelayWriter: parts of a response in; a head, bytes and an ending out. All that a Relay decides is
// decided here. No I/O.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mcphttp/relay.hpp>

#include "inspection.hpp"
#include "intake.hpp"

namespace mcphttp {

// Thread-compatible.
class RelayWriter {
 public:
  RelayWriter(ResponseHead head, std::string request_id, RelayOptions options,
              std::size_t max_json_depth);

  // The body must be collected first, within these bounds, and given to take_whole().
  struct Whole {
    std::size_t max;
    std::chrono::milliseconds within;
  };
  std::optional<Whole> wants_whole() const;
  // What collecting has found; what was not complete comes to take(). `end`: of the exchange.
  void take_whole(Collected collected, const ExchangeEnd& end);

  // Whether a body comes at all decides over the head: give its first part, or the end, before that
  // is asked for.
  bool wants_first_part() const {
    return doubt_ && !over_ && options_.uninspected == RelayOptions::Uninspected::refuse;
  }

  void take(BodyItem item);
  void finish(const ExchangeEnd& end);

  const ResponseHead& head() const noexcept { return head_; }
  // Something of this answer is on its way downstream: it cannot be taken back any more.
  void commit() noexcept { committed_ = true; }
  // The bytes to be written now.
  std::string take_output() { return std::exchange(output_, {}); }

  bool is_over() const noexcept { return over_; }
  RelayEnding ending() const noexcept { return ending_; }
  const std::optional<Error>& error() const noexcept { return error_; }

 private:
  bool judges() const noexcept { return inspection_.is_active() && !passes_unseen_; }
  bool cannot_inspect(Error why);
  void take_message_body(Message message);
  void take_events(std::vector<Event> events);
  bool judge(Event& event);
  void write_event(const Event& event);
  void complete_whole();
  void refuse(Error why);
  void break_off(Error why);
  void end(RelayEnding ending);

  ResponseHead head_;
  const std::string request_id_;
  const RelayOptions options_;
  const std::size_t max_json_depth_;
  Inspection inspection_;
  std::optional<Error> doubt_;  // why a body, if there is one, cannot be inspected
  bool passes_unseen_ = false;  // it cannot be inspected, and need not be
  bool committed_ = false;
  bool over_ = false;
  std::string output_;
  std::string held_;  // what completes the stream, until the inspector has agreed to the end
  RelayEnding ending_ = RelayEnding::abort;
  std::optional<Error> error_;
};

}  // namespace mcphttp
