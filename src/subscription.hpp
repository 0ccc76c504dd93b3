// What subscriptions/listen says: its params, its acknowledgement, its end (MCP 2026-07-28,
// Subscriptions). Pure.
#pragma once

#include <string>
#include <string_view>

#include <mcphttp/message.hpp>
#include <mcphttp/types.hpp>

namespace mcphttp::subscription {

// {"notifications":{...}}
std::string make_params(const SubscriptionFilter& filter);

// The acknowledgement of a subscription that this library keeps by itself.
std::string make_acknowledgement(const SubscriptionFilter& honoured);
bool is_acknowledgement(const Message& message);
// What an acknowledgement says that the server will tell.
SubscriptionFilter read_acknowledgement(const Message& acknowledgement);

// False if the notification names another subscription than `id`, a raw token. One that names none
// can only mean this one.
bool belongs_to(const Message& notification, std::string_view id);
// True if the server ends the request `id`, a raw token (MCP 2026-07-28, Cancellation).
bool ends(const Message& notification, std::string_view id);

// What of `wanted` a server of the legacy era offers, by the capabilities it declared: a raw JSON
// object, or empty if they are not known, when all may be.
SubscriptionFilter offered(SubscriptionFilter wanted, std::string_view capabilities);
// True if `notification` is one that `filter` asks for.
bool covers(const SubscriptionFilter& filter, const Message& notification);

}  // namespace mcphttp::subscription
