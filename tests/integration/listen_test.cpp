// Subscriptions to what a server may tell of its own accord, in both eras.
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "helpers.hpp"
#include "live_stream.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

const std::string tools_changed = "notifications/tools/list_changed";
const std::string resource_updated = "notifications/resources/updated";

std::string notification(const std::string& method, Json params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}.dump();
}

// As a modern server sends it.
std::string told(const std::string& id, const std::string& method, Json params = Json::object()) {
  params["_meta"]["io.modelcontextprotocol/subscriptionId"] = Json::parse(id);
  return notification(method, std::move(params));
}

std::string updated(const std::string& uri) {
  return notification(resource_updated, {{"uri", uri}});
}

std::string acknowledgement(const Request& request) {
  const Json body = Json::parse(request.body);
  return told(id_of(request), "notifications/subscriptions/acknowledged",
              {{"notifications", body["params"]["notifications"]}});
}

// A modern server that serves subscriptions/listen from `stream`.
ScriptedServer::Handler modern(LiveStream& stream) {
  return [&stream](Connection& connection, const Request& request) {
    if (method_of(request) == "subscriptions/listen")
      return stream.serve(connection, acknowledgement(request));
    answer_json(
        connection, request,
        R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}})");
  };
}

// Records what the callbacks of one subscription are told. Thread-safe; declare it before the
// client.
class Listener {
 public:
  SubscriptionOptions options() {
    SubscriptionOptions options;
    options.on_acknowledged = [this](const SubscriptionFilter& honoured) {
      const std::lock_guard lock(mutex_);
      honoured_ = honoured;
      acknowledged_.open();
    };
    options.on_notification = [this](const Message& message) {
      const std::lock_guard lock(mutex_);
      told_.emplace_back(message.method());
      notified_.open();
    };
    options.on_end = [this](const SubscriptionEnd& end) {
      const std::lock_guard lock(mutex_);
      end_ = end;
      ended_.open();
    };
    return options;
  }

  bool wait_acknowledged(std::size_t times = 1) const { return acknowledged_.wait_for(times); }
  bool wait_told(std::size_t times) const { return notified_.wait_for(times); }
  bool wait_ended() const { return ended_.wait(); }
  std::size_t times_told() const { return notified_.times_opened(); }
  std::size_t ends() const { return ended_.times_opened(); }
  SubscriptionFilter honoured() const {
    const std::lock_guard lock(mutex_);
    return honoured_;
  }
  std::vector<std::string> told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  SubscriptionEnd end() const {
    const std::lock_guard lock(mutex_);
    return end_.value_or(SubscriptionEnd{});
  }

 private:
  mutable std::mutex mutex_;
  SubscriptionFilter honoured_;
  std::vector<std::string> told_;
  std::optional<SubscriptionEnd> end_;
  Gate acknowledged_;
  Gate notified_;
  Gate ended_;
};

Client connect(const ScriptedServer& server, Era era,
               std::function<void(const Warning&)> on_warning = {}) {
  ClientOptions options;
  options.url = server.url();
  options.era = era;
  options.reconnection.initial_delay = 20ms;
  options.reconnection.max_delay = 50ms;
  options.on_warning = std::move(on_warning);
  return test::connect(std::move(options));
}

SubscriptionFilter tools() {
  SubscriptionFilter filter;
  filter.tools_list_changed = true;
  return filter;
}

SubscriptionFilter resources(std::vector<std::string> uris) {
  SubscriptionFilter filter;
  filter.resource_subscriptions = std::move(uris);
  return filter;
}

std::vector<Request> received(const ScriptedServer& server, const std::string& method) {
  std::vector<Request> found;
  for (const Request& request : server.requests()) {
    const bool is_it =
        request.body.empty() ? request.method == method : method_of(request) == method;
    if (is_it) found.push_back(request);
  }
  return found;
}

}  // namespace

// --- The modern era ------------------------------------------------------------------------------

TEST_CASE("a subscription tells what the server agreed to, and then each notification in order") {
  Listener listener;
  LiveStream stream;
  ScriptedServer server(modern(stream));
  Client client = connect(server, Era::modern);
  auto filter = tools();
  filter.resource_subscriptions = {"file:///a"};
  const Call call = client.subscribe(filter, listener.options());
  REQUIRE(listener.wait_acknowledged());
  CHECK(listener.honoured().tools_list_changed);
  CHECK_FALSE(listener.honoured().prompts_list_changed);
  CHECK(listener.honoured().resource_subscriptions == filter.resource_subscriptions);

  const std::string id = id_of(received(server, "subscriptions/listen").at(0));
  stream.send(told(id, tools_changed));
  stream.send(told(id, resource_updated, {{"uri", "file:///a"}}));
  stream.send(told(id, tools_changed));
  REQUIRE(listener.wait_told(3));
  CHECK(listener.told() ==
        std::vector<std::string>{tools_changed, resource_updated, tools_changed});
  CHECK(listener.ends() == 0);
}

TEST_CASE(
    "an end by result or by notifications/cancelled is the server's, and nothing is opened again") {
  const bool by_result = GENERATE(true, false);
  Listener listener;
  LiveStream stream;
  ScriptedServer server(modern(stream));
  Client client = connect(server, Era::modern);
  const Call call = client.subscribe(tools(), listener.options());
  REQUIRE(listener.wait_acknowledged());
  const std::string id = id_of(received(server, "subscriptions/listen").at(0));
  if (by_result) {
    stream.send(result_json(id, R"({"resultType":"complete"})"));
  } else {
    stream.send(notification("notifications/cancelled", {{"requestId", Json::parse(id)}}));
  }
  REQUIRE(listener.wait_ended());
  CHECK(listener.end().reason == SubscriptionEnd::Reason::closed_by_server);
  CHECK_FALSE(listener.end().error);
  CHECK(listener.times_told() == 0);
  CHECK(stream.wait_closed_by_client());
  CHECK(received(server, "subscriptions/listen").size() == 1);
}

TEST_CASE("a subscription that breaks is asked for anew, under an id of its own") {
  const bool by_reset = GENERATE(true, false);
  Listener listener;
  LiveStream stream;
  ScriptedServer server(modern(stream));
  Client client = connect(server, Era::modern);
  const Call call = client.subscribe(tools(), listener.options());
  constexpr std::size_t rounds = 3;
  for (std::size_t round = 1; round <= rounds; ++round) {
    REQUIRE(listener.wait_acknowledged(round));
    const auto requests = received(server, "subscriptions/listen");
    REQUIRE(requests.size() == round);
    stream.send(told(id_of(requests.back()), tools_changed));
    REQUIRE(listener.wait_told(round));
    if (round == rounds) break;
    if (by_reset) {
      stream.cut();
    } else {
      stream.end();  // without a result: the server is gone, not done
    }
  }
  const auto requests = received(server, "subscriptions/listen");
  CHECK(id_of(requests[0]) != id_of(requests[1]));
  CHECK(id_of(requests[1]) != id_of(requests[2]));
  for (const Request& request : requests) {
    CHECK(request.method == "POST");
    CHECK_FALSE(request.header("Last-Event-ID"));
    CHECK(Json::parse(request.body)["params"]["notifications"] == Json{{"toolsListChanged", true}});
  }
  CHECK(listener.ends() == 0);
}

TEST_CASE("what belongs to another subscription is skipped with a warning") {
  std::mutex mutex;
  std::vector<WarningKind> warnings;
  Listener listener;
  LiveStream stream;
  ScriptedServer server(modern(stream));
  Client client = connect(server, Era::modern, [&](const Warning& warning) {
    const std::lock_guard lock(mutex);
    warnings.push_back(warning.kind);
  });
  const Call call = client.subscribe(tools(), listener.options());
  REQUIRE(listener.wait_acknowledged());
  const std::string id = id_of(received(server, "subscriptions/listen").at(0));
  stream.send(told("\"other\"", tools_changed));
  stream.send(notification("notifications/cancelled", {{"requestId", "other"}}));
  stream.send(told(id, resource_updated));
  REQUIRE(listener.wait_told(1));
  CHECK(listener.told() == std::vector<std::string>{resource_updated});
  const std::lock_guard lock(mutex);
  CHECK(warnings == std::vector<WarningKind>(2, WarningKind::foreign_message));
}

TEST_CASE("dropping a subscription closes its stream, and sends nothing") {
  Listener listener;
  LiveStream stream;
  ScriptedServer server(modern(stream));
  Client client = connect(server, Era::modern);
  {
    const Call call = client.subscribe(tools(), listener.options());
    REQUIRE(listener.wait_acknowledged());
  }
  CHECK(listener.ends() == 1);
  CHECK(listener.end().reason == SubscriptionEnd::Reason::cancelled);
  CHECK(stream.wait_closed_by_client());
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a refused subscription ends with the refusal") {
  Listener listener;
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (method_of(request) == "server/discover")
      return answer_json(connection, request, R"({"supportedVersions":["2026-07-28"]})");
    connection.write_response(404, {{"Content-Type", "application/json"}},
                              R"({"jsonrpc":"2.0","id":)" + id_of(request) +
                                  R"(,"error":{"code":-32601,"message":"no"}})");
  });
  Client client = connect(server, Era::modern);
  const Call call = client.subscribe(tools(), listener.options());
  REQUIRE(listener.wait_ended());
  CHECK(listener.end().reason == SubscriptionEnd::Reason::failed);
  REQUIRE(listener.end().error);
  CHECK(listener.end().error->code == ErrorCode::rpc_error);
  CHECK(listener.end().error->rpc_code == -32601);
}

TEST_CASE("a subscription that is never acknowledged ends in time") {
  Listener listener;
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (method_of(request) == "server/discover")
      return answer_json(connection, request, R"({"supportedVersions":["2026-07-28"]})");
    begin_stream(connection);
    connection.peer_closed(guard);
  });
  Client client = connect(server, Era::modern);
  auto options = listener.options();
  options.timeouts.total = 300ms;
  const Call call = client.subscribe(tools(), std::move(options));
  REQUIRE(listener.wait_ended());
  CHECK(listener.end().error.value_or(Error{}).code == ErrorCode::timeout_total);
}

TEST_CASE("no limit of time ends an acknowledged subscription") {
  Listener listener;
  LiveStream stream;
  ScriptedServer server(modern(stream));
  Client client = connect(server, Era::modern);
  auto options = listener.options();
  options.timeouts.total = 400ms;
  options.timeouts.idle = 200ms;
  const Call call = client.subscribe(tools(), std::move(options));
  REQUIRE(listener.wait_acknowledged());
  std::this_thread::sleep_for(800ms);
  stream.send(told(id_of(received(server, "subscriptions/listen").at(0)), tools_changed));
  CHECK(listener.wait_told(1));
  CHECK(listener.ends() == 0);
}

// --- The legacy era ------------------------------------------------------------------------------

namespace {

constexpr std::string_view capable =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},)"
    R"("resources":{"subscribe":true}},"serverInfo":{"name":"legacy","version":"1"}})";

// A legacy server that serves GET from `stream`; with sessions named by `session` unless that is
// empty. Refuses to subscribe to "file:///secret".
class LegacyServer {
 public:
  explicit LegacyServer(LiveStream& stream, bool offers_stream = true)
      : server_([this, &stream, offers_stream](Connection& connection, const Request& request) {
          const std::string session = "s" + std::to_string(session_.load());
          const std::string method = request.body.empty() ? request.method : method_of(request);
          if (method == "initialize") {
            connection.write_response(
                200, {{"Content-Type", "application/json"}, {"MCP-Session-Id", session}},
                result_json(id_of(request), capable));
            return;
          }
          if (request.header("MCP-Session-Id") != session) return refuse(connection, 404);
          if (method == "GET" && offers_stream) return stream.serve(connection);
          if (method == "GET") return refuse(connection, 405);
          if (id_of(request) == "null") return accept_message(connection);
          if (request.body.find("file:///secret") == std::string::npos)
            return answer_json(connection, request);
          connection.write_response(200, {{"Content-Type", "application/json"}},
                                    R"({"jsonrpc":"2.0","id":)" + id_of(request) +
                                        R"(,"error":{"code":-32002,"message":"no"}})");
        }) {}

  const ScriptedServer& http() const { return server_; }
  void lose_session() { ++session_; }

 private:
  static void refuse(Connection& connection, int status) {
    connection.write_response(status, {}, "");
  }

  std::atomic<int> session_{1};
  ScriptedServer server_;
};

}  // namespace

TEST_CASE("on a legacy server a subscription takes its share of the stream of messages") {
  Listener listener;
  Listener other;
  LiveStream stream;
  LegacyServer server(stream);
  Client client = connect(server.http(), Era::legacy);
  CHECK(received(server.http(), "GET").empty());
  auto filter = resources({"file:///a", "file:///secret"});
  filter.tools_list_changed = true;
  filter.prompts_list_changed = true;
  const Call call = client.subscribe(filter, listener.options());
  REQUIRE(listener.wait_acknowledged());
  CHECK(listener.honoured().tools_list_changed);
  CHECK_FALSE(listener.honoured().prompts_list_changed);  // the server has none
  CHECK(listener.honoured().resource_subscriptions == std::vector<std::string>{"file:///a"});
  const Call second = client.subscribe(resources({"file:///b"}), other.options());
  REQUIRE(other.wait_acknowledged());

  stream.send(updated("file:///a"));
  stream.send(updated("file:///b"));
  stream.send(notification(tools_changed));
  REQUIRE(listener.wait_told(2));
  REQUIRE(other.wait_told(1));
  CHECK(listener.told() == std::vector<std::string>{resource_updated, tools_changed});
  CHECK(other.told() == std::vector<std::string>{resource_updated});
  CHECK(received(server.http(), "GET").size() == 1);
}

TEST_CASE("what only a dropped subscription wanted is unsubscribed from") {
  Listener listener;
  LiveStream stream;
  LegacyServer server(stream);
  Client client = connect(server.http(), Era::legacy);
  const Call stays = client.subscribe(resources({"file:///a"}), listener.options());
  {
    Listener dropped;
    const Call call = client.subscribe(resources({"file:///a", "file:///b"}), dropped.options());
    REQUIRE(dropped.wait_acknowledged());
  }
  REQUIRE(eventually([&] { return !received(server.http(), "resources/unsubscribe").empty(); }));
  const auto requests = received(server.http(), "resources/unsubscribe");
  REQUIRE(requests.size() == 1);
  CHECK(Json::parse(requests[0].body)["params"]["uri"] == "file:///b");
  stream.send(updated("file:///a"));
  CHECK(listener.wait_told(1));
}

TEST_CASE("a new session is told again what the application subscribed to") {
  Listener listener;
  LiveStream stream;
  LegacyServer server(stream);
  Client client = connect(server.http(), Era::legacy);
  const Call call = client.subscribe(resources({"file:///a"}), listener.options());
  REQUIRE(client.subscribe_resource("file:///c"));
  REQUIRE(listener.wait_acknowledged());
  server.lose_session();
  REQUIRE(client.ping());
  REQUIRE(listener.wait_acknowledged(2));
  REQUIRE(stream.wait_closed_by_client());
  CHECK(eventually([&] { return received(server.http(), "resources/subscribe").size() == 4; }));
  stream.send(updated("file:///a"));
  CHECK(listener.wait_told(1));
}

TEST_CASE("a subscription on a server that offers no stream of messages says so") {
  Listener listener;
  LiveStream stream;
  LegacyServer server(stream, false);
  Client client = connect(server.http(), Era::legacy);
  for (std::size_t times = 1; times <= 2; ++times) {
    Listener refused;
    const Call call = client.subscribe(tools(), refused.options());
    REQUIRE(refused.wait_ended());
    CHECK(refused.end().reason == SubscriptionEnd::Reason::failed);
    CHECK(refused.end().error.value_or(Error{}).http_status == 405);
    CHECK(received(server.http(), "GET").size() == times);
  }
}

TEST_CASE("a subscriber that does not keep up stops the stream, and loses nothing") {
  Gate go;
  std::atomic<std::size_t> seen{0};
  LiveStream stream;
  LegacyServer server(stream);
  ClientOptions options;
  options.url = server.http().url();
  options.era = Era::legacy;
  options.limits.max_queued_size = 4096;
  auto client = Client::connect(std::move(options));
  REQUIRE(client);
  SubscriptionOptions slow;
  slow.on_notification = [&](const Message&) {
    if (seen++ == 0) go.wait();
  };
  const Call call = client->subscribe(tools(), std::move(slow));
  constexpr std::size_t many = 300;
  for (std::size_t i = 0; i < many; ++i) stream.send(notification(tools_changed));
  go.open();
  CHECK(eventually([&] { return seen == many; }));
}
