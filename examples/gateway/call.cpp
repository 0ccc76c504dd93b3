#include "call.hpp"

#include <utility>

namespace gateway {

using mcphttp::ErrorCode;

mcphttp::Error refusal(ErrorCode code, std::int64_t rpc_code, std::string reason) {
  mcphttp::Error error;
  error.code = code;
  error.rpc_code = rpc_code;
  error.rpc_message = std::move(reason);
  return error;
}

mcphttp::Result<Call> read_call(const mcphttp::Message& message) {
  Call call;
  call.id = message.id();
  call.method = message.method();
  if (call.method != "tools/call") return call;
  const auto params = parse_unambiguous(message.params());
  if (!params || !params->is_object() || !params->contains("name") ||
      !(*params)["name"].is_string()) {
    return tl::unexpected(
        refusal(ErrorCode::stopped_by_inspector, invalid_params, "params do not name one tool"));
  }
  call.tool = (*params)["name"];
  call.arguments = params->value("arguments", Json());
  return call;
}

}  // namespace gateway
