#include "inspection.hpp"

#include <utility>

#include "make_error.hpp"

namespace mcphttp {
namespace {

Error stopped(std::string detail, Verdict verdict = {}) {
  Error error = make_error(ErrorCode::stopped_by_inspector, std::move(detail), Delivery::answered);
  error.rpc_code = verdict.rpc_code;
  error.rpc_message = std::move(verdict.text);
  return error;
}

}  // namespace

Result<std::optional<Message>> Inspection::judge(const Message& message, bool last) {
  if (!is_active()) return std::optional<Message>();
  auto verdict = ask(&message, last);
  if (!verdict) return tl::unexpected(std::move(verdict.error()));
  if (verdict->action == Verdict::Action::pass) return std::optional<Message>();
  auto replacement = Message::parse(std::move(verdict->text), max_json_depth_);
  if (!replacement) {
    return tl::unexpected(stopped("its replacement is no message: " + replacement.error().detail));
  }
  return std::optional<Message>(std::move(*replacement));
}

std::optional<Error> Inspection::conclude() {
  if (!is_active() || concluded_) return std::nullopt;
  auto verdict = ask(nullptr, true);
  if (!verdict) return std::move(verdict.error());
  if (verdict->action == Verdict::Action::pass) return std::nullopt;
  return stopped("there was no message to replace");
}

// The verdict, unless it is to stop.
Result<Verdict> Inspection::ask(const Message* message, bool last) {
  concluded_ = concluded_ || last;
  try {
    Verdict verdict = inspector_->on_message(message, last);
    if (verdict.action != Verdict::Action::stop) return verdict;
    return tl::unexpected(stopped("the inspector stopped the response", std::move(verdict)));
  } catch (...) {
    return tl::unexpected(make_error(ErrorCode::callback_threw, "the inspector threw an exception",
                                     Delivery::answered));
  }
}

}  // namespace mcphttp
