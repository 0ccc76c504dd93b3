// What a Response consists of, and the errors that its members share with Transport.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <mcphttp/response.hpp>

#include "intake.hpp"
#include "make_error.hpp"

namespace mcphttp {

struct Response::State {
  State(std::shared_ptr<Inbox> inbox, ResponseHead received, std::string id)
      : head(std::move(received)),
        request_id(std::move(id)),
        intake(std::make_shared<Intake>(std::move(inbox), head.kind == ResponseKind::stream)),
        stream(intake) {}

  ResponseHead head;
  std::string request_id;  // raw token; empty: no response is waited for
  std::shared_ptr<Intake> intake;
  EventStream stream;  // of other answers too, where it is not shown
  bool message_taken = false;
};

inline Error usage_error(ErrorCode code, std::string detail) {
  return make_error(code, std::move(detail));
}

inline Error wrong_thread() {
  return usage_error(ErrorCode::wrong_thread,
                     "blocking members must not be called on the loop thread or inside poll()");
}

}  // namespace mcphttp
