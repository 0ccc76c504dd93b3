// Who starts a new session when the server has lost one. An exchange knows only this much of the
// client above it.
#pragma once

#include <functional>
#include <string>

#include <mcphttp/error.hpp>

namespace mcphttp {

class SessionKeeper {
 public:
  // `restarted`: this call, not an earlier one that saw the same loss, led to the new session.
  using Done = std::function<void(Result<void> result, bool restarted)>;

  virtual ~SessionKeeper() = default;

  // True if there was a session, and none is left.
  virtual bool has_lost_session() = 0;
  // Starts a new session in place of `lost`, unless that has been done; calls `done` exactly once,
  // perhaps before it returns. Loop context; blocks nothing, calls no code of the application.
  virtual void restore(const std::string& lost, Done done) = 0;
};

}  // namespace mcphttp
