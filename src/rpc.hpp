// The client's side of JSON-RPC: making messages and judging responses. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <mcphttp/error.hpp>
#include <mcphttp/message.hpp>

#include "json.hpp"

namespace mcphttp::rpc {

// JSON-RPC 2.0 section 5.1.
inline constexpr std::int64_t method_not_found = -32601;
inline constexpr std::int64_t internal_error = -32603;

// `params` is a checked JSON object, or empty for none.
std::string make_request(std::int64_t id, std::string_view method, std::string_view params);
std::string make_notification(std::string_view method, std::string_view params);
// `id` is a raw token; `body` is `"result":...` or `"error":...`.
std::string make_response(std::string_view id, std::string_view body);
std::string make_error_body(std::int64_t code, std::string_view message);

// {"name":...,"arguments":...}; `arguments` as `params` above.
std::string make_named_params(std::string_view name, std::string_view arguments);
// {"key":"value"}
std::string make_text_params(std::string_view key, std::string_view value);

std::string make_completion_params(std::string_view reference, std::string_view argument,
                                   std::string_view value);

// `params` with the members of `meta`, a checked JSON object or empty, in `_meta`.
std::string with_meta(std::string_view params, std::string_view meta);

// `params` with `_meta.progressToken` set, the caller's own members untouched.
std::string with_progress_token(std::string_view params, std::int64_t token);

// What every modern request carries in `_meta` (MCP 2026-07-28, Basic, _meta); raw JSON but for the
// version.
struct Metadata {
  std::string_view protocol_version;
  std::string client_info;
  std::string capabilities;
  std::string log_level;  // empty: none
};
std::string with_metadata(std::string_view params, const Metadata& metadata);

// Succeeds if `params` is empty or one JSON object that fits into `max_depth` with what will stand
// around it. `what` names it in the error.
Result<void> check_params(std::string_view what, std::string_view params, std::size_t max_depth,
                          std::size_t levels_around = 0);
// Succeeds if `text` can be sent as it is: it would be changed silently otherwise.
Result<void> check_text(std::string_view what, std::string_view text);

// A response as the result of a call: an error response becomes Error rpc_error.
Result<Message> to_result(Message response, int http_status);

// A result of the modern era: fails with malformed_message if its resultType is none that is known,
// or asks for input where `method` does not allow it. Absent means complete (MCP 2026-07-28, Basic,
// Responses).
Result<Message> check_result_type(Result<Message> result, std::string_view method);

// Fails with malformed_message unless a result is an object, as those of MCP are.
Result<void> check_result_object(json::Value result);

}  // namespace mcphttp::rpc
