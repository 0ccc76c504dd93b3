// Response::collect(): a look ahead that loses nothing.
#include <mcphttp/response.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include "http_fields.hpp"
#include "response_state.hpp"

namespace mcphttp {
namespace {

using Outcome = Collected::Outcome;

std::optional<TimePoint> deadline_after(std::chrono::milliseconds within) {
  if (within.count() <= 0) return std::nullopt;
  return after(std::chrono::steady_clock::now(), within);
}

bool declares_more_than(std::size_t max, const ResponseHead& head) {
  const std::string* value = head.find("Content-Length");
  const auto length = value != nullptr ? http::parse_content_length(*value) : std::nullopt;
  return length && *length > max;
}

Outcome outcome_of(const ExchangeEnd* end) {
  if (end == nullptr) return Outcome::timed_out;
  const bool in_order =
      end->reason == ExchangeEnd::Reason::answered || end->reason == ExchangeEnd::Reason::accepted;
  return in_order ? Outcome::complete : Outcome::ended;
}

void hand_over(std::vector<BodyItem> items, Collected& collected) {
  for (BodyItem& item : items) {
    if (auto* event = std::get_if<Event>(&item)) collected.events.push_back(std::move(*event));
    if (auto* message = std::get_if<Message>(&item)) collected.message = std::move(*message);
    if (auto* piece = std::get_if<BodyPiece>(&item)) collected.body += piece->bytes;
  }
}

}  // namespace

std::string Collected::bytes() const {
  if (message) return std::string(message->json());
  std::string out = body;
  for (const Event& event : events) out += event.frame();
  return out;
}

Collected Response::collect(std::size_t max, std::chrono::milliseconds within) {
  Collected collected;
  // An event stream is framed anew, so its length says nothing.
  if (kind() != ResponseKind::stream && declares_more_than(max, head())) {
    collected.outcome = Outcome::too_large;
    return collected;
  }
  Intake& intake = *state_->intake;
  const auto until = deadline_after(within);
  std::vector<BodyItem> items;
  std::size_t size = 0;
  while (auto item = intake.next(until)) {
    size += frame_of(*item).size();
    items.push_back(std::move(*item));
    if (size <= max) continue;
    collected.outcome = Outcome::too_large;
    intake.put_back(std::move(items));
    return collected;
  }
  collected.outcome = outcome_of(intake.end());
  if (collected.is_complete()) {
    hand_over(std::move(items), collected);
  } else {
    intake.put_back(std::move(items));
  }
  return collected;
}

}  // namespace mcphttp
