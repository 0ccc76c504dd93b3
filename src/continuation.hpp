// What a client does with an answer that is not yet the end of its call. An exchange knows only
// this much of it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <mcphttp/error.hpp>
#include <mcphttp/message.hpp>

namespace mcphttp {

// The next request of the same call.
struct NextRequest {
  std::string id;  // raw token
  std::string json;
  std::vector<std::string> header_lines;  // that mirror the message
  std::chrono::milliseconds delay{0};     // before it is sent
};

class Continuation {
 public:
  using Proceed = std::function<void(Result<NextRequest>)>;

  virtual ~Continuation() = default;

  // True if the answer must not be handed out, because the call goes on. Loop context.
  virtual bool wants(const Message& answer) const = 0;
  // Finds out how; calls `proceed` exactly once, from any thread, perhaps before it returns. Loop
  // context; must not block.
  virtual void go_on(Message answer, Proceed proceed) = 0;
};

}  // namespace mcphttp
