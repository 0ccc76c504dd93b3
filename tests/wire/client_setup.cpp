#include "wire/client_setup.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mcphttp::test::wire {
namespace {

// What only the exchange itself can show; Client keeps it to itself.
bool looks_at_the_exchange(const Json& expect) {
  constexpr std::array keys{"events", "events_total", "ids_in_order", "body_read_at_most"};
  return std::any_of(keys.begin(), keys.end(),
                     [&expect](const char* key) { return expect.contains(key); });
}

std::string modern_version(const Script& script) {
  return script.config.negotiated_version.value_or("2026-07-28");
}

Json handshake_params(const Script& script) {
  return {{"protocolVersion", script.config.negotiated_version.value_or("2025-11-25")},
          {"capabilities", Json::object()},
          {"clientInfo", {{"name", "wire_cases"}, {"version", "1"}}}};
}

// MCP 2026-07-28: every request says what it speaks.
Json metadata(const Script& script) {
  const std::string prefix = "io.modelcontextprotocol/";
  return {{prefix + "protocolVersion", modern_version(script)},
          {prefix + "clientInfo", {{"name", "wire_cases"}, {"version", "1"}}},
          {prefix + "clientCapabilities", Json::object()}};
}

Json envelope(const RequestPattern& pattern, Json params) {
  Json message = {{"jsonrpc", "2.0"}, {"method", pattern.rpc}, {"params", std::move(params)}};
  if (pattern.id) message["id"] = *pattern.id;
  return message;
}

}  // namespace

Milliseconds scaled(Milliseconds time, double time_scale) {
  return std::chrono::duration_cast<Milliseconds>(time * time_scale);
}

TransportOptions make_options(const Script& script, const std::string& url, double time_scale) {
  const Limits& limits = script.limits;
  TransportOptions options;
  options.url = url;
  options.limits.max_json_response_size = limits.json_bytes;
  options.limits.max_json_depth = limits.json_depth;
  options.limits.max_sse_event_size = limits.event_bytes;
  options.limits.max_event_id_size = limits.id_bytes;
  options.limits.max_error_response_size = limits.diag_bytes;
  if (script.config.queue_bytes) options.limits.max_queued_size = *script.config.queue_bytes;
  options.timeouts.headers = scaled(limits.header, time_scale);
  options.timeouts.idle = scaled(limits.idle, time_scale);
  options.timeouts.total = scaled(limits.total, time_scale);
  options.timeouts.diagnostic = scaled(limits.drain, time_scale);
  options.reconnection.initial_delay = scaled(limits.retry_default, time_scale);
  options.reconnection.max_delay =
      std::max(options.reconnection.max_delay, options.reconnection.initial_delay);
  options.reconnection.max_attempts = limits.max_reconnects;
  options.redirects = script.config.follow_redirects;
  options.max_redirects = script.config.max_redirects;
  const bool begins_session = script.replies.front().request.rpc == "initialize";
  if (script.setup == Setup::stateless) options.protocol_version = modern_version(script);
  if (script.setup == Setup::none && !begins_session) {
    options.protocol_version = script.config.negotiated_version.value_or("2025-11-25");
  }
  return options;
}

Json make_params(const Script& script, const RequestPattern& pattern) {
  Json params = Json::object();
  if (pattern.rpc == "initialize") params = handshake_params(script);
  if (pattern.rpc == "tools/call") params = {{"name", "test"}, {"arguments", Json::object()}};
  if (pattern.rpc == "resources/read") params = {{"uri", "test://resource"}};
  if (pattern.rpc == "prompts/get") params = {{"name", "test"}};
  if (pattern.rpc == "subscriptions/listen")
    params = {{"notifications", {{"toolsListChanged", true}}}};
  if (script.setup == Setup::stateless && pattern.id) params["_meta"] = metadata(script);
  if (pattern.body_bytes == 0) return params;
  params["padding"] = "";
  const std::size_t size = envelope(pattern, params).dump().size();
  params["padding"] = std::string(pattern.body_bytes - std::min(size, pattern.body_bytes), 'p');
  return params;
}

std::string make_message(const Script& script, const RequestPattern& pattern) {
  return envelope(pattern, make_params(script, pattern)).dump();
}

Json find_answer(const Script& script, const Message& request) {
  const Json id = Json::parse(request.id(), nullptr, false);
  const Json follow_ups = script.expect.value("follow_ups", Json::array());
  for (const Json& follow_up : follow_ups) {
    if (!follow_up.is_object() || !follow_up.contains("body")) continue;
    const Json& body = follow_up["body"];
    const bool answers = body.is_object() && (body.contains("result") || body.contains("error"));
    if (answers && body.value("id", id) == id) return body;
  }
  return nullptr;
}

std::string make_answer(const Script& script, const Message& request) {
  Json answer = {{"jsonrpc", "2.0"}, {"id", Json::parse(request.id(), nullptr, false)}};
  const Json wanted = find_answer(script, request);
  if (wanted.is_object() && wanted.contains("result")) {
    answer["result"] = wanted["result"];
  } else if (request.method() == "ping") {
    answer["result"] = Json::object();
  } else {
    answer["error"] = {{"code", -32601}, {"message", "Method not found"}};
  }
  return answer.dump();
}

bool needs_client(const Script& script) {
  if (script.config.auto_reinitialize) return true;
  if (looks_at_the_exchange(script.expect)) return false;
  return std::any_of(script.replies.begin() + 1, script.replies.end(), [](const Reply& reply) {
    const RequestPattern& request = reply.request;
    return request.method == "POST" &&
           (request.rpc.empty() || request.rpc == "notifications/cancelled");
  });
}

bool is_sent_by_harness(const Script& script, const Reply& reply) {
  constexpr std::array<std::string_view, 4> own{"", "initialize", "notifications/initialized",
                                                "notifications/cancelled"};
  const RequestPattern& first = script.replies.front().request;
  const RequestPattern& request = reply.request;
  if (request.method != "POST") return false;
  if (std::find(own.begin(), own.end(), request.rpc) != own.end()) return false;
  return request.rpc != first.rpc || request.id != first.id;
}

}  // namespace mcphttp::test::wire
