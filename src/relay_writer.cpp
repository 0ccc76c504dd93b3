#include "relay_writer.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "forwarding.hpp"
#include "make_error.hpp"
#include "relay_head.hpp"

namespace mcphttp {
namespace {

// What the client can be told by its name, since no answer will come any more. A stream that broke
// off it can perhaps take up again by itself.
bool is_worth_telling(const ExchangeEnd& end) {
  return end.reason == ExchangeEnd::Reason::limit ||
         (end.error && group(end.error->code) == ErrorGroup::timeout);
}

bool is_in_order(ExchangeEnd::Reason reason) {
  return reason == ExchangeEnd::Reason::answered || reason == ExchangeEnd::Reason::accepted ||
         reason == ExchangeEnd::Reason::unanswered;
}

// An event that a client would take for a message, though it is none that can be judged.
bool only_looks_like_message(const Event& event) {
  return event.kind() == Event::Kind::event && event.type() == "message" && !event.data().empty() &&
         event.message() == nullptr;
}

// The message in an event of another type than `message`: none for MCP, but for a client that looks
// at every event.
std::optional<Message> message_of_other_type(const Event& event, std::size_t max_json_depth) {
  if (event.kind() != Event::Kind::event || event.type() == "message") return std::nullopt;
  auto parsed = Message::parse(std::string(event.data()), max_json_depth);
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

}  // namespace

RelayWriter::RelayWriter(ResponseHead head, std::string request_id, RelayOptions options,
                         std::size_t max_json_depth)
    : head_(std::move(head)),
      request_id_(std::move(request_id)),
      options_(std::move(options)),
      max_json_depth_(max_json_depth),
      inspection_(options_.inspector, max_json_depth) {
  auto why = judges() ? why_not_inspectable(head_, options_) : std::nullopt;
  drop_response_hop_fields(head_.headers);
  drop_forbidden_length(head_);
  // An event stream is framed anew, and of a mere acceptance no body is kept.
  const bool keeps_bytes = head_.kind == ResponseKind::message || head_.kind == ResponseKind::body;
  if (!keeps_bytes) forget_bytes(head_);
  // As the client will see it, without the fields of the other hop.
  if (judges() && head_.kind == ResponseKind::body) doubt_ = why_type_in_doubt(head_);
  if (why) cannot_inspect(std::move(*why));
}

// --- Whole bodies --------------------------------------------------------------------------------

std::optional<RelayWriter::Whole> RelayWriter::wants_whole() const {
  if (over_) return std::nullopt;
  // Without an inspector too: what fails can then be said in an answer.
  const std::size_t max = judges() ? options_.max_whole_size : unlimited;
  if (head_.kind == ResponseKind::message) return Whole{max, {}};
  const bool holds_back = judges() && head_.kind == ResponseKind::stream &&
                          options_.streams == RelayOptions::Streams::whole && !request_id_.empty();
  if (holds_back) return Whole{max, options_.whole_within};
  return std::nullopt;
}

void RelayWriter::take_whole(Collected collected, const ExchangeEnd& end) {
  switch (collected.outcome) {
    case Collected::Outcome::complete:
      break;
    case Collected::Outcome::too_large:
      cannot_inspect(not_inspectable(
          fmt::format("longer than max_whole_size ({} bytes)", options_.max_whole_size)));
      return;
    case Collected::Outcome::timed_out:
      cannot_inspect(not_inspectable(
          fmt::format("not whole after whole_within ({} ms)", options_.whole_within.count())));
      return;
    case Collected::Outcome::ended:
      refuse(end.error.value_or(make_error(ErrorCode::internal, {})));
      return;
  }
  if (collected.message) {
    take_message_body(std::move(*collected.message));
  } else if (head_.kind == ResponseKind::stream) {
    take_events(std::move(collected.events));
  } else if (collected.body.empty() || !judges() ||
             !cannot_inspect(not_inspectable("JSON that is no JSON-RPC message"))) {
    output_ = std::move(collected.body);
  }
  complete_whole();
}

void RelayWriter::take_message_body(Message message) {
  if (!judges()) return void(output_ = std::move(message).release());
  auto replacement = inspection_.judge(message, true);
  if (!replacement) return refuse(std::move(replacement.error()));
  if (*replacement) {
    forget_bytes(head_);
    message = std::move(**replacement);
  }
  output_ = std::move(message).release();
}

void RelayWriter::take_events(std::vector<Event> events) {
  for (Event& event : events) {
    if (!judge(event)) return;
    output_ += event.frame();
  }
}

void RelayWriter::complete_whole() {
  if (over_) return;
  if (auto why = inspection_.conclude()) return refuse(std::move(*why));
  set_length(head_, output_.size());
  end(RelayEnding::clean);
}

// --- Live bodies ---------------------------------------------------------------------------------

void RelayWriter::take(BodyItem item) {
  if (over_) return;
  if (auto* event = std::get_if<Event>(&item)) {
    if (judge(*event)) write_event(*event);
  } else if (wants_first_part()) {
    cannot_inspect(std::move(*doubt_));
  } else {
    output_ += frame_of(item);
  }
}

// False if the event must not pass.
bool RelayWriter::judge(Event& event) {
  if (!judges()) return true;
  if (only_looks_like_message(event)) {
    return options_.uninspected == RelayOptions::Uninspected::pass ||
           !cannot_inspect(not_inspectable("an event that is no JSON-RPC message"));
  }
  const auto of_other_type = message_of_other_type(event, max_json_depth_);
  const Message* message = of_other_type ? &*of_other_type : event.message();
  if (message == nullptr) return true;
  auto replacement = inspection_.judge(*message, false);
  if (!replacement) {
    refuse(std::move(replacement.error()));
    return false;
  }
  if (*replacement) event.replace_message(std::move(**replacement));
  return true;
}

void RelayWriter::write_event(const Event& event) {
  (event.is_response() ? held_ : output_) += event.frame();
}

void RelayWriter::finish(const ExchangeEnd& end_of_exchange) {
  if (over_) return;
  if (auto why = inspection_.conclude()) return refuse(std::move(*why));
  if (is_in_order(end_of_exchange.reason)) {
    output_ += std::exchange(held_, {});
    return end(RelayEnding::clean);
  }
  Error why = end_of_exchange.error.value_or(make_error(ErrorCode::internal, {}));
  if (!committed_) return refuse(std::move(why));
  const bool is_told = head_.kind == ResponseKind::stream && !request_id_.empty() &&
                       is_worth_telling(end_of_exchange);
  if (!is_told) return break_off(std::move(why));
  Event::Parts parts;
  parts.data = error_answer(why, request_id_).body;
  output_ += Event(std::move(parts)).frame();
  error_ = std::move(why);
  end(RelayEnding::clean);
}

// --- Refusals ------------------------------------------------------------------------------------

// True if it is refused for that.
bool RelayWriter::cannot_inspect(Error why) {
  passes_unseen_ = options_.uninspected == RelayOptions::Uninspected::pass;
  if (!passes_unseen_) refuse(std::move(why));
  return !passes_unseen_;
}

// Before anything has left, an answer that says why; later, nothing that could look complete.
void RelayWriter::refuse(Error why) {
  if (committed_) return break_off(std::move(why));
  ErrorAnswer answer = error_answer(why, request_id_);
  head_ = std::move(answer.head);
  output_ = std::move(answer.body);
  error_ = std::move(why);
  end(RelayEnding::clean);
}

void RelayWriter::break_off(Error why) {
  output_.clear();
  error_ = std::move(why);
  end(RelayEnding::abort);
}

void RelayWriter::end(RelayEnding ending) {
  over_ = true;
  ending_ = ending;
  held_.clear();
  inspection_.conclude();
}

}  // namespace mcphttp
