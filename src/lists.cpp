// How a Client reads what a server lists, and keeps what it may of that.
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client_state.hpp"
#include "make_error.hpp"
#include "response_state.hpp"
#include "rpc.hpp"
#include "text.hpp"
#include "types.hpp"

namespace mcphttp {
namespace {

tl::unexpected<Error> too_large(std::string detail) {
  return tl::unexpected(
      make_error(ErrorCode::list_too_large, std::move(detail), Delivery::answered));
}

}  // namespace

// --- Results that may be kept --------------------------------------------------------------------

std::optional<CacheKey> Client::State::cache_key(std::string_view method, std::string_view params,
                                                 const CallOptions& call) const {
  if (!options.result_cache || !is_modern_ || !ResultStore::may_keep(method, params))
    return std::nullopt;
  CacheKey key{options.url, std::string(method), std::string(params), std::nullopt};
  if (options.authorizer != nullptr) return key;
  key.authorization = options.bearer_token;
  for (const auto* headers : {&options.headers, &call.headers}) {
    for (const Header& header : *headers)
      key.authorization->append("\n").append(header.name).append(":").append(header.value);
  }
  return key;
}

Client::State::Fetched Client::State::fetch(std::string_view method, std::string_view params,
                                            const CallOptions& call, bool idempotent) {
  if (transport_->loop->refuses_blocking()) return {tl::unexpected(wrong_thread()), false};
  const auto key = cache_key(method, params, call);
  if (auto kept = find_kept(key)) return {std::move(*kept), true};
  return {ask(method, params, call, idempotent, key), false};
}

std::optional<Message> Client::State::find_kept(const std::optional<CacheKey>& key) const {
  if (!key || closed_) return std::nullopt;
  return options.result_cache->store_->find(*key, std::chrono::steady_clock::now());
}

void Client::State::keep(const std::optional<CacheKey>& key, const Result<Message>& answer,
                         std::int64_t id, std::uint64_t epoch) const {
  if (!key || !answer || answer->id() != std::to_string(id)) return;
  options.result_cache->store_->store(*key, *answer, std::chrono::steady_clock::now(), epoch);
}

std::uint64_t Client::State::cache_epoch() const {
  return options.result_cache ? options.result_cache->store_->epoch() : 0;
}

// --- Lists ---------------------------------------------------------------------------------------

Result<void> Client::State::list(std::string_view method, std::string_view member,
                                 const CallOptions& call, const std::function<void()>& begin,
                                 const std::function<void(json::Value)>& visit) {
  bool any_kept = false;
  begin();
  auto listed = list_pages(method, member, call, visit, any_kept);
  // A cursor that the server no longer takes (MCP 2026-07-28, Caching, Interaction with
  // Pagination).
  if (listed || !any_kept || listed.error().code != ErrorCode::rpc_error) return listed;
  options.result_cache->store_->drop(options.url, method);
  begin();
  return list_pages(method, member, call, visit, any_kept);
}

Result<void> Client::State::list_pages(std::string_view method, std::string_view member,
                                       const CallOptions& call,
                                       const std::function<void(json::Value)>& visit,
                                       bool& any_kept) {
  const ResponseLimits& limits = options.limits;
  std::set<std::string> cursors;
  std::string params;
  std::size_t size = 0;
  for (std::size_t pages = 1;; ++pages) {
    if (pages > limits.max_list_pages) {
      return too_large(fmt::format("max_list_pages ({}) exceeded", limits.max_list_pages));
    }
    auto [page, was_kept] = fetch(method, params, call, true);
    any_kept = any_kept || was_kept;
    if (!page) return tl::unexpected(std::move(page.error()));
    const json::Value result(page->result());
    if (auto checked = rpc::check_result_object(result); !checked) return checked;
    const json::Value elements = result.find(member).value_or(json::Value());
    size += result.raw().size();
    elements.for_each_element([&size](json::Value /*element*/) { size += element_holder; });
    if (size > limits.max_list_size) {
      return too_large(fmt::format("max_list_size ({} bytes) exceeded", limits.max_list_size));
    }
    elements.for_each_element(visit);
    const auto next = result.find("nextCursor");
    const auto cursor = next ? next->as_string() : std::nullopt;
    if (!cursor) return {};
    if (!cursors.insert(*cursor).second) return too_large("a cursor came twice");
    params = rpc::make_text_params("cursor", *cursor);
  }
}

std::optional<Tool> Client::State::take_tool(json::Value definition) {
  Tool tool = to_tool(definition);
  if (tool.name.empty()) return leave_out(tool, "it has no name");
  if (!is_modern_) return tool;
  auto headers = find_tool_headers(definition.find("inputSchema").value_or(json::Value()));
  if (!headers) return leave_out(tool, headers.error().detail);
  tool_headers_.remember(tool.name, std::move(*headers));
  return tool;
}

std::nullopt_t Client::State::leave_out(const Tool& tool, std::string_view why) const {
  if (!options.on_warning) return std::nullopt;
  const std::string name = tool.name.empty() ? "(nameless)" : text::escape_printable(tool.name, 64);
  options.on_warning({WarningKind::invalid_tool, fmt::format("tool {} left out: {}", name, why)});
  return std::nullopt;
}

}  // namespace mcphttp
