#include "subscription.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace mcphttp;

namespace {

Message message(const std::string& method, const std::string& params) {
  auto parsed =
      Message::parse(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}");
  REQUIRE(parsed);
  return std::move(*parsed);
}

bool same(const SubscriptionFilter& a, const SubscriptionFilter& b) {
  return a.tools_list_changed == b.tools_list_changed &&
         a.prompts_list_changed == b.prompts_list_changed &&
         a.resources_list_changed == b.resources_list_changed &&
         a.resource_subscriptions == b.resource_subscriptions;
}

const SubscriptionFilter everything{true, true, true, {"file:///a", "x:\"b\""}};

}  // namespace

TEST_CASE("params name what is wanted and nothing else") {
  CHECK(subscription::make_params({}) == R"({"notifications":{}})");
  CHECK(subscription::make_params({false, true, false, {}}) ==
        R"({"notifications":{"promptsListChanged":true}})");
  CHECK(subscription::make_params(everything) ==
        R"({"notifications":{"toolsListChanged":true,"promptsListChanged":true,)"
        R"("resourcesListChanged":true,"resourceSubscriptions":["file:///a","x:\"b\""]}})");
}

TEST_CASE("an acknowledgement is read as it is made") {
  auto made = Message::parse(subscription::make_acknowledgement(everything));
  REQUIRE(made);
  CHECK(subscription::is_acknowledgement(*made));
  CHECK(same(subscription::read_acknowledgement(*made), everything));
}

TEST_CASE("what an acknowledgement does not grant in so many words is not granted") {
  const std::string method = "notifications/subscriptions/acknowledged";
  for (const std::string params :
       {"{}", R"({"notifications":null})", R"({"notifications":{"toolsListChanged":false}})",
        R"({"notifications":{"toolsListChanged":1,"resourceSubscriptions":"a"}})", "[]"}) {
    CAPTURE(params);
    CHECK(same(subscription::read_acknowledgement(message(method, params)), {}));
  }
}

TEST_CASE("a notification belongs to the subscription it names, or to the only one there is") {
  struct Case {
    std::string params;
    bool ours;
  };
  const std::string key = R"("io.modelcontextprotocol/subscriptionId":)";
  for (const Case& c : std::vector<Case>{{"{\"_meta\":{" + key + "7}}", true},
                                         {"{\"_meta\":{" + key + "\"7\"}}", false},
                                         {"{\"_meta\":{" + key + "8}}", false},
                                         {"{\"_meta\":{}}", true},
                                         {"{}", true}}) {
    CAPTURE(c.params);
    CHECK(subscription::belongs_to(message("notifications/tools/list_changed", c.params), "7") ==
          c.ours);
  }
}

TEST_CASE("only notifications/cancelled of that very request ends it") {
  CHECK(subscription::ends(message("notifications/cancelled", R"({"requestId":7})"), "7"));
  CHECK_FALSE(subscription::ends(message("notifications/cancelled", R"({"requestId":"7"})"), "7"));
  CHECK_FALSE(subscription::ends(message("notifications/cancelled", "{}"), "7"));
  CHECK_FALSE(subscription::ends(message("notifications/progress", R"({"requestId":7})"), "7"));
}

TEST_CASE(
    "a legacy server offers what its capabilities promise, and all that is wanted if they are "
    "unknown") {
  CHECK(same(subscription::offered(everything, ""), everything));
  CHECK(same(subscription::offered(everything, "{}"), {}));
  CHECK(same(subscription::offered(everything, R"({"tools":{"listChanged":true},"prompts":{}})"),
             {true, false, false, {}}));
  CHECK(same(subscription::offered(everything, R"({"resources":{"listChanged":true}})"),
             {false, false, true, {}}));
  CHECK(same(subscription::offered(everything, R"({"resources":{"subscribe":true}})"),
             {false, false, false, everything.resource_subscriptions}));
  CHECK(same(subscription::offered({}, R"({"tools":{"listChanged":true}})"), {}));
}

TEST_CASE("a filter covers the kinds it names, and updates of its resources") {
  const SubscriptionFilter filter{true, false, false, {"file:///a"}};
  const auto covers = [&filter](const std::string& method, const std::string& params = "{}") {
    return subscription::covers(filter, message(method, params));
  };
  CHECK(covers("notifications/tools/list_changed"));
  CHECK_FALSE(covers("notifications/prompts/list_changed"));
  CHECK_FALSE(covers("notifications/message"));
  CHECK(covers("notifications/resources/updated", R"({"uri":"file:\/\/\/a"})"));
  CHECK_FALSE(covers("notifications/resources/updated", R"({"uri":"file:///b"})"));
  CHECK_FALSE(covers("notifications/resources/updated"));
}
