// How a Client finds out what to speak with its server, and what it learns of it on the way.
#include <utility>

#include "client_state.hpp"
#include "era.hpp"
#include "handshake.hpp"
#include "make_error.hpp"
#include "protocol.hpp"
#include "response_state.hpp"
#include "rpc.hpp"
#include "types.hpp"

namespace mcphttp {
namespace {

// A server that does not answer the question is not waited for as long as for a tool.
constexpr std::chrono::milliseconds probe_time = std::chrono::seconds(10);

// Nor is the stream of a server that may be older still.
constexpr std::chrono::milliseconds older_transport_time = std::chrono::seconds(5);

Error incompatible() {
  Error error = usage_error(ErrorCode::unsupported_version,
                            "the server speaks no protocol revision that this library speaks");
  error.delivery = Delivery::answered;
  return error;
}

// How a server of 2024-11-05 refuses the POST of a newer client (MCP 2025-11-25, Transports,
// Backwards Compatibility).
bool may_be_http_with_sse(const Error& error) {
  return error.code == ErrorCode::http_error &&
         (error.http_status == 400 || error.http_status == 404 || error.http_status == 405);
}

Error only_http_with_sse(const Error& refusal) {
  Error error =
      make_error(ErrorCode::unsupported_version,
                 "the server speaks only the HTTP+SSE transport of 2024-11-05", Delivery::answered);
  error.http_status = refusal.http_status;
  error.cause = std::make_shared<const Error>(refusal);
  return error;
}

bool is_refusal(const Error& error) {
  return error.code == ErrorCode::http_error || error.code == ErrorCode::rpc_error ||
         error.code == ErrorCode::unsupported_version;
}

}  // namespace

Result<void> Client::State::choose_era() {
  if (options.era == Era::legacy) return shake_hands();
  if (options.era == Era::modern) return probe(false);
  const bool known_as_legacy =
      options.era_cache != nullptr && options.era_cache->find(options.url) == Era::legacy;
  if (known_as_legacy) {
    auto connected = shake_hands();
    if (connected || !is_refusal(connected.error())) return connected;
    options.era_cache->store(options.url, Era::automatic);
  }
  auto connected = probe(true);
  if (connected && options.era_cache != nullptr) {
    options.era_cache->store(options.url, is_modern_ ? Era::modern : Era::legacy);
  }
  return connected;
}

Result<void> Client::State::probe(bool may_fall_back) {
  CallOptions call;
  call.timeouts.total = probe_time;
  is_modern_ = true;
  transport_->endpoint->session.set({{}, std::string(protocol::newest_modern)});
  for (bool asked_again = false;; asked_again = true) {
    auto answer = request("server/discover", {}, call, true);
    const ProbeVerdict verdict = judge_probe(answer);
    if (verdict.kind == ProbeVerdict::Kind::modern) {
      server = handshake::read_discovery(*answer, verdict.version);
      return {};
    }
    if (verdict.kind == ProbeVerdict::Kind::ask_again && !asked_again) continue;
    is_modern_ = false;
    transport_->endpoint->session.set({});
    if (verdict.kind == ProbeVerdict::Kind::legacy && may_fall_back) return shake_hands();
    if (answer || verdict.kind == ProbeVerdict::Kind::incompatible)
      return tl::unexpected(incompatible());
    Error error = std::move(answer.error());
    if (group(error.code) == ErrorGroup::timeout)
      error.detail += " while asking for the era (Era::legacy does not ask)";
    return tl::unexpected(std::move(error));
  }
}

Result<void> Client::State::shake_hands() {
  auto answer = request("initialize", handshake::make_params(options), {});
  if (!answer) {
    if (may_be_http_with_sse(answer.error()) && is_http_with_sse())
      return tl::unexpected(only_http_with_sse(answer.error()));
    return tl::unexpected(std::move(answer.error()));
  }
  auto info = handshake::read_result(*answer);
  if (!info) return tl::unexpected(std::move(info.error()));
  server = std::move(*info);
  return notify("notifications/initialized", {}, {});
}

// Such a server opens its stream by telling where to send messages (MCP 2024-11-05, HTTP with SSE).
bool Client::State::is_http_with_sse() {
  StreamOptions stream;
  stream.send.timeouts.headers = older_transport_time;
  stream.send.timeouts.total = older_transport_time;
  auto response = transport_->send(transport_->prepare_stream(stream), {});
  EventStream* events = response ? response->events() : nullptr;
  const auto first = events != nullptr ? events->next() : std::nullopt;
  return first && first->type() == "endpoint";
}

// One page after the other, for what a call must mirror; in the loop context.
void Client::State::refresh_tools(const std::string& cursor, std::size_t pages,
                                  std::function<void(Result<void>)> done) {
  const std::string params =
      cursor.empty() ? std::string() : rpc::make_text_params("cursor", cursor);
  NextRequest next = make_request(next_id_++, "tools/list", params);
  send_inside(std::move(next.json), false,
              [self = shared_from_this(), pages, done = std::move(done)](Result<Message> page) {
                if (!page) return done(tl::unexpected(std::move(page.error())));
                const json::Value result(page->result());
                if (const auto tools = result.find("tools")) {
                  tools->for_each_element([&self](json::Value definition) {
                    auto headers =
                        find_tool_headers(definition.find("inputSchema").value_or(json::Value()));
                    if (!headers) return;
                    self->tool_headers_.remember(text_member(definition, "name"),
                                                 std::move(*headers));
                  });
                }
                const std::string more = text_member(result, "nextCursor");
                if (more.empty() || pages >= self->options.limits.max_list_pages) return done({});
                self->refresh_tools(more, pages + 1, done);
              });
}

}  // namespace mcphttp
