// Which era of MCP a server belongs to, judged from its answer to server/discover (MCP 2026-07-28,
// Versioning, Backward Compatibility). Pure.
#pragma once

#include <string>

#include <mcphttp/error.hpp>
#include <mcphttp/message.hpp>

namespace mcphttp {

struct ProbeVerdict {
  enum class Kind {
    modern,        // stateless: speak `version`
    ask_again,     // modern, but not in the revision that was tried: ask in `version`
    legacy,        // begin with `initialize`
    no_sign,       // says nothing of the era: report the error
    modern_fault,  // modern, and refuses this very request: report the error
    incompatible,  // modern, and no revision in common
  };
  Kind kind;
  std::string version;
};

ProbeVerdict judge_probe(const Result<Message>& answer);

}  // namespace mcphttp
