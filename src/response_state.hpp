// What a Response consists of, and the errors that its members share with Transport.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <mcphttp/response.hpp>

#include "inbox.hpp"
#include "make_error.hpp"

namespace mcphttp {

struct Response::State {
  State(std::shared_ptr<Inbox> of, ResponseHead received)
      : inbox(std::move(of)), head(std::move(received)), stream(inbox) {}

  std::shared_ptr<Inbox> inbox;
  ResponseHead head;
  EventStream stream;  // of a JSON answer too, which has no events
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
