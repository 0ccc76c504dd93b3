// What a ResponseReader makes of events and of the messages of a body: which events carry messages,
// which message is the answer, and what is wrong with the others.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "http_fields.hpp"
#include "message.hpp"
#include "response_reader.hpp"

namespace mcphttp {
namespace {

// Lack of memory says nothing of a message: an event is not skipped for it, and no error body is
// taken for a page.
template <class T>
Result<T> with_memory(Result<T> parsed) {
  if (!parsed && parsed.error().code == ErrorCode::out_of_memory) throw std::bad_alloc();
  return parsed;
}

}  // namespace

Flow ResponseReader::take_event(const SseEvent& event) {
  ++events_;
  if (event.has_id) {
    note_event_id(event.last_event_id);
    if (!event.last_event_id.empty() && sink_.is_replay(event.last_event_id)) return Flow::proceed;
  }
  Event::Parts parts{
      std::string(event.type), {}, std::string(event.last_event_id), event.has_id, event.retry};
  // Priming events have empty data; other types are not MCP's.
  const bool may_carry = event.type == "message" && !event.data.empty();
  parts.data = parser_->take_data();
  auto messages = may_carry ? parse_event_messages(parts.data) : std::nullopt;
  if (messages) {
    parts.data.clear();
    return hand_out_messages(std::move(*messages), std::move(parts));
  }
  return sink_.on_event(Event(std::move(parts)));
}

// One event for each message, the answer last: nothing is handed out after it. Id and retry are
// those of the first.
Flow ResponseReader::hand_out_messages(std::vector<Message> messages, Event::Parts parts) {
  Flow flow = Flow::proceed;
  std::optional<Message> answer;
  const auto hand_out = [&](Message message, bool answers) {
    if (sink_.on_event(Event(parts, std::move(message), answers)) == Flow::pause)
      flow = Flow::pause;
    parts.has_id = false;
    parts.retry.reset();
  };
  for (Message& message : messages) {
    if (!answer && answers_request(message)) {
      answer = std::move(message);
    } else {
      hand_out(std::move(message), false);
    }
  }
  if (!answer) return flow;
  hand_out(std::move(*answer), true);
  end({ReadOutcome::Kind::answered, {}, false});
  return Flow::cancel;
}

Flow ResponseReader::take_block(const SseEvent& block) {
  if (block.has_id) note_event_id(block.last_event_id);
  if (!context_.extras.blocks) return Flow::proceed;
  Event::Parts parts{
      std::string(block.type), {}, std::string(block.last_event_id), block.has_id, block.retry,
      Event::Kind::block};
  return sink_.on_event(Event(std::move(parts)));
}

// Leaves `text` as it is if there are none.
std::optional<std::vector<Message>> ResponseReader::parse_event_messages(std::string& text) {
  static_assert(SseBuffer::spare >= json::padding);
  auto messages = parse_messages(std::move(text));
  if (!messages) {
    warn(WarningKind::malformed_event,
         fmt::format("event {} skipped: {}", events_, messages.error().detail));
    if (!first_fault_) {
      first_fault_ =
          std::make_unique<const Error>(error(messages.error().code, messages.error().detail));
    }
    return std::nullopt;
  }
  if (context_.is_modern && messages->front().kind() == Message::Kind::request) {
    // MCP 2026-07-28, Receiving Messages: input is asked for in results.
    warn(WarningKind::malformed_event,
         fmt::format("event {}: a server request on a stream, not to be answered", events_));
  }
  return std::move(*messages);
}

// The answer last: nothing is handed out after it.
void ResponseReader::hand_out_body(std::vector<Message> messages) {
  const auto answer = std::find_if(messages.begin(), messages.end(),
                                   [this](const Message& each) { return answers_request(each); });
  if (answer == messages.end()) {
    const bool has_response = std::any_of(messages.begin(), messages.end(),
                                          [](const Message& each) { return each.is_response(); });
    return fail(has_response
                    ? error(ErrorCode::id_mismatch, "the JSON body answers another request")
                    : error(ErrorCode::malformed_message, "a JSON body that is no response"));
  }
  std::rotate(answer, answer + 1, messages.end());
  for (Message& message : messages) {
    const bool is_last = &message == &messages.back();
    if (is_last || !message.is_response()) sink_.on_message(std::move(message));
  }
  end({ReadOutcome::Kind::answered, {}, false});
}

// Several messages in one array are a matter of 2025-03-26 alone (Base Protocol, Batching).
Result<std::vector<Message>> ResponseReader::parse_messages(std::string&& text) {
  const std::size_t max_messages = 1000;
  if (context_.takes_batches) {
    return with_memory(
        parse_batch(std::move(text), context_.limits.max_json_depth, max_messages, checker_));
  }
  auto message =
      with_memory(parse_message(std::move(text), context_.limits.max_json_depth, checker_));
  if (!message) return tl::unexpected(std::move(message.error()));
  std::vector<Message> one;
  one.push_back(std::move(*message));
  return one;
}

void ResponseReader::note_event_id(std::string_view id) {
  const bool is_oversized = id.size() > context_.limits.max_event_id_size;
  if (dropped_id_warned_ || (!is_oversized && http::is_field_value(id))) return;
  dropped_id_warned_ = true;
  warn(WarningKind::event_id_dropped,
       is_oversized ? fmt::format("event id of {} bytes is over max_event_id_size ({} bytes)",
                                  id.size(), context_.limits.max_event_id_size)
                    : "event id with a control character, which no header can carry");
}

// Whether a message is the response that the request waits for; warns of near misses.
bool ResponseReader::answers_request(const Message& message) {
  if (!message.is_response() || context_.awaits == Awaits::stream) return false;
  // A POST carries one message, so an error that names no request is about it (JSON-RPC 2.0 section
  // 5 allows null), also if it was a notification (MCP 2025-11-25, Sending Messages to the Server).
  if (message.kind() == Message::Kind::error && (message.id().empty() || message.id() == "null"))
    return true;
  if (context_.awaits != Awaits::response) return false;
  switch (match_ids(context_.request_id, message.id())) {
    case IdMatch::same:
      return true;
    case IdMatch::type_changed:
      warn(WarningKind::id_type_changed, "the response has the request's id in another JSON type");
      return true;
    case IdMatch::different:
      break;
  }
  if (phase_ == Phase::events)
    warn(WarningKind::foreign_message, "a response to another request was skipped");
  return false;
}

// A server that forgets the last blank line has still answered, if its stream ended in order.
bool ResponseReader::rescue_unfinished_event() {
  auto unfinished = parser_->take_unfinished();
  if (!unfinished || unfinished->type != "message" || unfinished->data.empty()) return false;
  auto message = with_memory(
      parse_message(std::move(unfinished->data), context_.limits.max_json_depth, checker_));
  if (!message || !message->is_response() || !answers_request(*message)) return false;
  warn(WarningKind::unterminated_event,
       "the response was taken from an event without its blank line");
  sink_.on_message(std::move(*message));
  end({ReadOutcome::Kind::answered, {}, false});
  return true;
}

}  // namespace mcphttp
