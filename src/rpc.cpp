#include "rpc.hpp"

#include <utility>

#include <fmt/format.h>

#include "json.hpp"
#include "make_error.hpp"
#include "protocol.hpp"

namespace mcphttp::rpc {
namespace {

void append_call(std::string& out, std::string_view method, std::string_view params) {
  out += R"("method":)";
  json::append_quoted(out, method);
  if (!params.empty()) out.append(R"(,"params":)").append(params);
  out += '}';
}

}  // namespace

std::string make_request(std::int64_t id, std::string_view method, std::string_view params) {
  std::string out;
  out.reserve(method.size() + params.size() + 80);  // the rest of it, an id of 20 digits included
  out.append(R"({"jsonrpc":"2.0","id":)").append(std::to_string(id)).append(",");
  append_call(out, method, params);
  return out;
}

std::string make_notification(std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0",)";
  append_call(out, method, params);
  return out;
}

std::string make_response(std::string_view id, std::string_view body) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},{}}})", id, body);
}

std::string make_error_body(std::int64_t code, std::string_view message) {
  std::string out = fmt::format(R"("error":{{"code":{},"message":)", code);
  json::append_quoted(out, message);
  return out.append("}");
}

std::string make_named_params(std::string_view name, std::string_view arguments) {
  std::string out;
  out.reserve(name.size() + arguments.size() + 32);
  out += R"({"name":)";
  json::append_quoted(out, name);
  if (!arguments.empty()) out.append(R"(,"arguments":)").append(arguments);
  return out.append("}");
}

std::string make_text_params(std::string_view key, std::string_view value) {
  std::string out = "{";
  json::append_quoted(out, key);
  out += ':';
  json::append_quoted(out, value);
  return out.append("}");
}

std::string make_completion_params(std::string_view reference, std::string_view argument,
                                   std::string_view value) {
  std::string out = R"({"ref":)";
  out.append(reference.empty() ? std::string_view("{}") : reference)
      .append(R"(,"argument":{"name":)");
  json::append_quoted(out, argument);
  out += R"(,"value":)";
  json::append_quoted(out, value);
  return out.append("}}");
}

std::string with_meta(std::string_view params, std::string_view meta) {
  if (meta.empty()) return std::string(params);
  std::string out(params.empty() ? std::string_view("{}") : params);
  json::Value(meta).for_each_member([&out](json::RawString name, json::Value value) {
    out = json::set_member_of(out, "_meta", name.unescaped(), value.raw());
  });
  return out;
}

std::string with_progress_token(std::string_view params, std::int64_t token) {
  return json::set_member_of(params.empty() ? std::string_view("{}") : params, "_meta",
                             "progressToken", std::to_string(token));
}

std::string with_metadata(std::string_view params, const Metadata& metadata) {
  std::string out(params.empty() ? std::string_view("{}") : params);
  const auto set = [&out](std::string_view name, std::string_view raw) {
    out = json::set_member_of(out, "_meta", fmt::format("io.modelcontextprotocol/{}", name), raw);
  };
  set("protocolVersion", fmt::format("\"{}\"", metadata.protocol_version));
  set("clientInfo", metadata.client_info);
  set("clientCapabilities", metadata.capabilities);
  if (!metadata.log_level.empty()) set("logLevel", metadata.log_level);
  return out;
}

Result<Message> check_result_type(Result<Message> result, std::string_view method) {
  if (!result) return result;
  const auto type = json::Value(result->result()).find("resultType");
  if (!type || type->string() == "complete") return result;
  if (type->string() == "input_required" && protocol::may_ask_for_input(method)) return result;
  return tl::unexpected(
      make_error(ErrorCode::malformed_message,
                 "a result of a resultType that is unknown or does not belong to the method",
                 Delivery::answered));
}

Result<void> check_result_object(json::Value result) {
  if (result.type() == json::Type::object) return {};
  return tl::unexpected(make_error(ErrorCode::malformed_message,
                                   "a result that is no object (MCP asks for one)",
                                   Delivery::answered));
}

Result<void> check_params(std::string_view what, std::string_view params, std::size_t max_depth,
                          std::size_t levels_around) {
  if (params.empty()) return {};
  json::Checker checker;
  auto checked = json::check_object(params, max_depth, checker, levels_around);
  if (!checked) checked.error().detail.insert(0, fmt::format("{}: ", what));
  return checked;
}

Result<void> check_text(std::string_view what, std::string_view text) {
  if (json::is_utf8(text)) return {};
  return tl::unexpected(
      make_error(ErrorCode::invalid_argument, fmt::format("{}: invalid UTF-8", what)));
}

Result<Message> to_result(Message response, int http_status) {
  if (response.kind() == Message::Kind::result) return response;
  Error error =
      make_error(ErrorCode::rpc_error, fmt::format("JSON-RPC error {}", response.error_code()),
                 Delivery::answered);
  error.http_status = http_status;
  error.rpc_code = response.error_code();
  error.rpc_message = response.error_message();
  error.rpc_data = std::string(response.error_data());
  return tl::unexpected(std::move(error));
}

}  // namespace mcphttp::rpc
