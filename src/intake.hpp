// Intake: the pulling side of an inbox, with room for what was read ahead and is put back.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deadline.hpp"
#include "inbox.hpp"

namespace mcphttp {

// What belongs to the body. An event stream's response that was rescued from an unfinished last
// event is an Event here like any other; a Message is a JSON body.
using BodyItem = std::variant<Event, Message, BodyPiece>;

// The bytes that a relay passes on for it.
std::string frame_of(const BodyItem& item);

// For one thread at a time, but for cancel().
class Intake {
 public:
  // `is_stream`: the body is an event stream.
  Intake(std::shared_ptr<Inbox> inbox, bool is_stream);

  // The next item, waiting for it; nothing at the end, after cancel(), and once `until` has passed.
  std::optional<BodyItem> next(std::optional<TimePoint> until = {});
  // They come again, in their order, before anything else.
  void put_back(std::vector<BodyItem> items);
  // How it ended; nullptr before next() has met the end. Right after a next() that was refused on
  // the loop thread, that refusal, though nothing has ended.
  const ExchangeEnd* end() const noexcept;
  // next() has met the end.
  bool is_over() const noexcept { return end_.has_value(); }

  std::size_t max_json_depth() const noexcept { return inbox_->limits().max_json_depth; }

  // Any thread.
  void cancel();
  void close() { inbox_->close(); }

 private:
  std::optional<BodyItem> take(std::optional<TimePoint> until);

  const std::shared_ptr<Inbox> inbox_;
  const bool is_stream_;
  std::deque<BodyItem> ahead_;
  std::optional<ExchangeEnd> end_;
  std::optional<ExchangeEnd> refusal_;  // of the latest next()
  std::atomic<bool> cancelled_{false};
};

}  // namespace mcphttp
