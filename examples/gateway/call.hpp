// A message of the client, as far as the gateway must understand it.
#pragma once

#include <cstdint>
#include <string>

#include <mcphttp/error.hpp>
#include <mcphttp/message.hpp>

#include "json.hpp"

namespace gateway {

// JSON-RPC 2.0 section 5.1; the last one is the gateway's own.
inline constexpr std::int64_t invalid_request = -32600;
inline constexpr std::int64_t invalid_params = -32602;
inline constexpr std::int64_t not_allowed = -32000;

struct Call {
  std::string id;      // raw JSON; empty for what has none
  std::string method;  // empty for a response
  std::string tool;    // of tools/call
  Json arguments;      // of tools/call; null if absent
};

// Fails for a tools/call that does not say plainly which tool it means.
mcphttp::Result<Call> read_call(const mcphttp::Message& message);

// A refusal of the gateway's own. The client is told the reason, as a JSON-RPC error; the code
// decides the HTTP status (error_answer() in relay.hpp).
mcphttp::Error refusal(mcphttp::ErrorCode code, std::int64_t rpc_code, std::string reason);

}  // namespace gateway
