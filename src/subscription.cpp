#include "subscription.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "json.hpp"
#include "rpc.hpp"
#include "types.hpp"

namespace mcphttp::subscription {
namespace {

constexpr std::string_view acknowledged = "notifications/subscriptions/acknowledged";

struct Kind {
  std::string_view method;
  std::string_view name;        // in a filter
  std::string_view capability;  // of servers of the legacy era
  bool SubscriptionFilter::*wanted;
};
constexpr std::array<Kind, 3> kinds{{
    {"notifications/tools/list_changed", "toolsListChanged", "tools",
     &SubscriptionFilter::tools_list_changed},
    {"notifications/prompts/list_changed", "promptsListChanged", "prompts",
     &SubscriptionFilter::prompts_list_changed},
    {"notifications/resources/list_changed", "resourcesListChanged", "resources",
     &SubscriptionFilter::resources_list_changed},
}};

bool promises(json::Value capabilities, std::string_view capability, std::string_view what) {
  const auto declared = capabilities.find(capability);
  const auto promise = declared ? declared->find(what) : std::nullopt;
  return promise && promise->as_bool().value_or(false);
}

}  // namespace

std::string make_params(const SubscriptionFilter& filter) {
  std::string out = R"({"notifications":{)";
  const char* separator = "";
  for (const Kind& kind : kinds) {
    if (!(filter.*kind.wanted)) continue;
    out.append(separator).append("\"").append(kind.name).append("\":true");
    separator = ",";
  }
  if (!filter.resource_subscriptions.empty()) {
    out.append(separator).append(R"("resourceSubscriptions":[)");
    separator = "";
    for (const std::string& uri : filter.resource_subscriptions) {
      json::append_quoted(out.append(separator), uri);
      separator = ",";
    }
    out += ']';
  }
  return out.append("}}");
}

std::string make_acknowledgement(const SubscriptionFilter& honoured) {
  return rpc::make_notification(acknowledged, make_params(honoured));
}

bool is_acknowledgement(const Message& message) {
  return message.kind() == Message::Kind::notification && message.method() == acknowledged;
}

SubscriptionFilter read_acknowledgement(const Message& acknowledgement) {
  const json::Value honoured =
      json::Value(acknowledgement.params()).find("notifications").value_or(json::Value());
  SubscriptionFilter filter;
  for (const Kind& kind : kinds) {
    const auto flag = honoured.find(kind.name);
    filter.*kind.wanted = flag && flag->as_bool().value_or(false);
  }
  if (const auto uris = honoured.find("resourceSubscriptions")) {
    uris->for_each_element([&filter](json::Value uri) {
      if (auto text = uri.as_string()) filter.resource_subscriptions.push_back(std::move(*text));
    });
  }
  return filter;
}

bool belongs_to(const Message& notification, std::string_view id) {
  const auto meta = json::Value(notification.params()).find("_meta");
  const auto named = meta ? meta->find("io.modelcontextprotocol/subscriptionId") : std::nullopt;
  return !named || named->raw() == id;
}

bool ends(const Message& notification, std::string_view id) {
  if (notification.method() != "notifications/cancelled") return false;
  const auto cancelled = json::Value(notification.params()).find("requestId");
  return cancelled && cancelled->raw() == id;
}

SubscriptionFilter offered(SubscriptionFilter wanted, std::string_view capabilities) {
  if (capabilities.empty()) return wanted;
  const json::Value declared(capabilities);
  for (const Kind& kind : kinds) {
    if (!promises(declared, kind.capability, "listChanged")) wanted.*kind.wanted = false;
  }
  if (!promises(declared, "resources", "subscribe")) wanted.resource_subscriptions.clear();
  return wanted;
}

bool covers(const SubscriptionFilter& filter, const Message& notification) {
  const std::string_view method = notification.method();
  if (method == "notifications/resources/updated") {
    const auto& uris = filter.resource_subscriptions;
    return std::find(uris.begin(), uris.end(),
                     text_member(json::Value(notification.params()), "uri")) != uris.end();
  }
  return std::any_of(kinds.begin(), kinds.end(), [&](const Kind& kind) {
    return kind.method == method && filter.*kind.wanted;
  });
}

}  // namespace mcphttp::subscription
