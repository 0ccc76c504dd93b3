#include "policy.hpp"

#include <algorithm>
#include <utility>

#include "audit.hpp"

namespace gateway {
namespace {

using mcphttp::Message;
using mcphttp::RelayOptions;
using mcphttp::Verdict;

bool is_denied(const Json& tool, const Tools& denied) {
  return tool.is_object() && tool.contains("name") && tool["name"].is_string() &&
         denied.count(tool["name"]) == 1;
}

// Every other member stays as it is, those of later revisions included.
Verdict without(const Tools& denied, const Message& message) {
  auto json = parse_unambiguous(message.json());
  if (!json) return Verdict::stop("a listing that can be read in two ways");
  Json& result = (*json)["result"];
  if (!result.is_object() || !result.contains("tools") || !result["tools"].is_array()) {
    return Verdict::pass();
  }
  auto& tools = result["tools"].get_ref<Json::array_t&>();
  const auto dropped = std::erase_if(tools, [&](const Json& t) { return is_denied(t, denied); });
  return dropped == 0 ? Verdict::pass() : Verdict::replace(json->dump());
}

}  // namespace

Verdict Inspection::on_message(const Message* message, bool /*last*/) {
  if (message == nullptr) return Verdict::pass();
  seen_.push_back(summary(*message));
  const bool may_list = message->kind() == Message::Kind::result && !denied_->empty();
  return may_list ? without(*denied_, *message) : Verdict::pass();
}

Policy::Policy(Tools denied, Tools held, RelayOptions listings)
    : denied_(std::make_shared<const Tools>(std::move(denied))),
      held_(std::move(held)),
      listings_(std::move(listings)) {}

std::optional<mcphttp::Error> Policy::refuses(const Call& call) const {
  if (call.tool.empty() || denied_->count(call.tool) == 0) return std::nullopt;
  // The same as for a tool that does not exist (MCP 2025-11-25, Tools, Error Handling).
  return refusal(mcphttp::ErrorCode::stopped_by_inspector, invalid_params,
                 "Unknown tool: " + call.tool);
}

RelayOptions Policy::relaying(const Call& call, bool is_get,
                              std::shared_ptr<Inspection>& inspection) const {
  const bool lists = call.method == "tools/list";
  const bool judges = !denied_->empty() && (lists || is_get);
  inspection = std::make_shared<Inspection>(judges ? denied_ : std::make_shared<const Tools>());
  RelayOptions options = listings_;
  options.inspector = inspection;
  // Servers say no-transform with every event stream, to keep compression away.
  options.heed_no_transform = false;
  options.streams = judges && lists ? RelayOptions::Streams::whole : RelayOptions::Streams::live;
  if (!judges) options.uninspected = RelayOptions::Uninspected::pass;  // only the audit looks
  return options;
}

}  // namespace gateway
