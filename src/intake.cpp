#include "intake.hpp"

#include <iterator>
#include <utility>
#include <variant>

#include "response_state.hpp"

namespace mcphttp {

std::string frame_of(const BodyItem& item) {
  struct Visitor {
    std::string operator()(const Event& event) const { return event.frame(); }
    std::string operator()(const Message& message) const { return std::string(message.json()); }
    std::string operator()(const BodyPiece& piece) const { return piece.bytes; }
  };
  return std::visit(Visitor{}, item);
}

Intake::Intake(std::shared_ptr<Inbox> inbox, bool is_stream)
    : inbox_(std::move(inbox)), is_stream_(is_stream) {}

std::optional<BodyItem> Intake::next(std::optional<TimePoint> until) {
  if (cancelled_) ahead_.clear();
  if (!ahead_.empty()) {
    BodyItem item = std::move(ahead_.front());
    ahead_.pop_front();
    return item;
  }
  refusal_.reset();
  if (end_) return std::nullopt;
  if (inbox_->loop().refuses_blocking()) {
    refusal_ = ExchangeEnd{ExchangeEnd::Reason::failed, wrong_thread(), {}};
    return std::nullopt;
  }
  return take(until);
}

std::optional<BodyItem> Intake::take(std::optional<TimePoint> until) {
  while (auto item = inbox_->take(until)) {
    if (auto* event = std::get_if<Event>(&*item)) return std::move(*event);
    if (auto* piece = std::get_if<BodyPiece>(&*item)) return std::move(*piece);
    if (auto* message = std::get_if<Message>(&*item)) {
      if (is_stream_) return Event({}, std::move(*message), true);
      return std::move(*message);
    }
    if (auto* end = std::get_if<ExchangeEnd>(&*item)) {
      end_ = std::move(*end);
      break;
    }
  }
  return std::nullopt;
}

const ExchangeEnd* Intake::end() const noexcept {
  if (refusal_) return &*refusal_;
  return end_ ? &*end_ : nullptr;
}

void Intake::put_back(std::vector<BodyItem> items) {
  ahead_.insert(ahead_.begin(), std::make_move_iterator(items.begin()),
                std::make_move_iterator(items.end()));
}

void Intake::cancel() {
  cancelled_ = true;
  inbox_->cancel();
}

}  // namespace mcphttp
