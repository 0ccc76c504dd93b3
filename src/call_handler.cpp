#include "call_handler.hpp"

#include <utility>

#include "json.hpp"
#include "message.hpp"
#include "rpc.hpp"
#include "types.hpp"

namespace mcphttp {

Notifier::Notifier(const CallOptions& options, std::int64_t token, const ServerRequests& requests,
                   const Observer& observer)
    : options_(options), token_(std::to_string(token)), requests_(requests), observer_(observer) {}

void Notifier::notice(const Message& message, const std::shared_ptr<Inbox>& inbox) const {
  if (message.kind() == Message::Kind::request) return requests_.take(message, inbox);
  if (message.kind() != Message::Kind::notification) return;
  observer_(message);
  if (options_.on_progress && is_progress(message, token_)) {
    options_.on_progress(to_progress(json::Value(message.params())));
  } else if (options_.on_notification) {
    options_.on_notification(message);
  }
}

Result<Message> read_answer(const std::shared_ptr<Inbox>& inbox, const Notifier& notifier) {
  int status = 0;
  std::optional<Message> answer;
  const auto notice = [&](const Message& message) {
    try {
      notifier.notice(message, inbox);
    } catch (...) {
      inbox->cancel_for_exception();
    }
  };
  while (auto item = inbox->take()) {
    if (const auto* head = std::get_if<ResponseHead>(&*item)) {
      status = head->status;
    } else if (auto* message = std::get_if<Message>(&*item)) {
      if (message->is_response()) {
        answer = std::move(*message);
      } else {
        notice(*message);
      }
    } else if (auto* end = std::get_if<ExchangeEnd>(&*item)) {
      if (end->error) return tl::unexpected(std::move(*end->error));
    } else if (auto* event = std::get_if<Event>(&*item); event->is_response()) {
      answer = std::move(*event).take_message();
    } else if (event->message() != nullptr) {
      notice(*event->message());
    }
  }
  return rpc::to_result(std::move(*answer), status);
}

CallHandler::CallHandler(CallOptions options, std::int64_t token, const ServerRequests& requests,
                         const Notifier::Observer& observer, Done done)
    : options_(std::move(options)),
      notifier_(options_, token, requests, observer),
      done_(std::move(done)) {}

void CallHandler::on_headers(const ResponseHead& head) { status_ = head.status; }

Flow CallHandler::on_event(Event&& event) {
  if (event.is_response()) {
    answer_ = std::move(event).take_message();
  } else if (event.message() != nullptr) {
    notifier_.notice(*event.message(), inbox_.lock());
  }
  return Flow::proceed;
}

void CallHandler::on_message(Message&& message) {
  if (message.is_response()) {
    answer_ = std::move(message);
  } else {
    notifier_.notice(message, inbox_.lock());
  }
}

void CallHandler::on_end(const ExchangeEnd& end) {
  if (end.error) {
    done_(tl::unexpected(*end.error));
  } else {
    done_(rpc::to_result(std::move(*answer_), status_));
  }
}

}  // namespace mcphttp
