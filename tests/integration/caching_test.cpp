// What a client keeps of a modern server's results, and what it does not.
#include <atomic>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "helpers.hpp"
#include "live_stream.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

const std::string fresh = R"("resultType":"complete","ttlMs":60000,"cacheScope":)";

// Lists two pages of tools, "v1" or what `version` says; reads and answers all else alike.
class Server {
 public:
  explicit Server(std::string scope = "private")
      : scope_('"' + scope + '"'), server_([this](Connection& connection, const Request& request) {
          serve(connection, request);
        }) {}

  const ScriptedServer& http() const { return server_; }
  std::size_t count(const std::string& method) const {
    std::size_t found = 0;
    for (const Request& request : server_.requests()) found += method_of(request) == method;
    return found;
  }
  void set_version(int version) { version_ = version; }
  LiveStream& stream() { return stream_; }

 private:
  void serve(Connection& connection, const Request& request) {
    const std::string method = method_of(request);
    const Json params = Json::parse(request.body)["params"];
    const std::string version = "v" + std::to_string(version_.load());
    if (method == "subscriptions/listen") {
      return stream_.serve(
          connection, R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",)"
                      R"("params":{"notifications":{"toolsListChanged":true}}})");
    }
    if (method == "server/discover") {
      return answer_json(
          connection, request,
          "{" + fresh + scope_ + R"(,"supportedVersions":["2026-07-28"],"capabilities":{}})");
    }
    if (method == "tools/call") {
      begin_stream(connection);
      send_event(connection, R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
      send_event(connection, result_json(id_of(request), R"({"content":[]})"));
      connection.write(last_chunk);
      return;
    }
    const std::string cursor = params.value("cursor", "");
    if (!cursor.empty() && cursor != version) {
      connection.write_response(400, {{"Content-Type", "application/json"}},
                                R"({"jsonrpc":"2.0","id":)" + id_of(request) +
                                    R"(,"error":{"code":-32602,"message":"no such cursor"}})");
      return;
    }
    const std::string ttl = cursor.empty() ? fresh + scope_ : R"("resultType":"complete")";
    answer_json(connection, request,
                "{" + ttl + R"(,"contents":[],"tools":[{"name":")" + version + cursor + R"("}])" +
                    (cursor.empty() ? R"(,"nextCursor":")" + version + "\"}" : "}"));
  }

  const std::string scope_;
  std::atomic<int> version_{1};
  LiveStream stream_;
  ScriptedServer server_;
};

ClientOptions options_with(const Server& server, std::shared_ptr<ResultCache> cache) {
  ClientOptions options;
  options.url = server.http().url();
  options.era = Era::modern;
  options.result_cache = std::move(cache);
  return options;
}

std::string names(const Result<std::vector<Tool>>& tools) {
  if (!tools) return std::string(to_string(tools.error().code));
  std::string out;
  for (const Tool& tool : *tools) out.append(tool.name).append(" ");
  return out;
}

}  // namespace

TEST_CASE("a page that is fresh is not asked for again; one that may not be kept is") {
  Server server;
  Client client = connect(options_with(server, std::make_shared<ResultCache>()));
  for (int i = 0; i < 3; ++i) CHECK(names(client.list_tools()) == "v1 v1v1 ");
  CHECK(server.count("tools/list") == 4);  // the first page once, the second each time
  for (int i = 0; i < 3; ++i) REQUIRE(client.read_resource("file:///a"));
  REQUIRE(client.read_resource("file:///b"));
  CHECK(server.count("resources/read") == 2);
}

TEST_CASE("without a cache, and by ping, the server is asked each time") {
  Server server;
  const bool has_cache = GENERATE(true, false);
  Client client =
      connect(options_with(server, has_cache ? std::make_shared<ResultCache>() : nullptr));
  REQUIRE(client.ping());
  REQUIRE(client.ping());
  CHECK(server.count("server/discover") == 3);
  if (has_cache) return;
  REQUIRE(client.read_resource("file:///a"));
  REQUIRE(client.read_resource("file:///a"));
  CHECK(server.count("resources/read") == 2);
}

TEST_CASE("an asynchronous call is answered from the cache too, as calls are: later, and once") {
  Server server;
  Client client = connect(options_with(server, std::make_shared<ResultCache>()));
  for (int i = 0; i < 2; ++i) {
    Gate done;
    std::atomic<bool> ok{false};
    const Call call = client.start_request("resources/read", R"({"uri":"a"})", {},
                                           [&](const Result<Message>& answer) {
                                             ok = answer.has_value();
                                             done.open();
                                           });
    REQUIRE(done.wait());
    CHECK(ok);
    CHECK(done.times_opened() == 1);
  }
  CHECK(server.count("resources/read") == 1);
}

TEST_CASE(
    "clients that share a cache share what is public, and what is private with the same token") {
  const bool is_public = GENERATE(true, false);
  Server server(is_public ? "public" : "private");
  auto cache = std::make_shared<ResultCache>();
  const auto read_with = [&](const std::string& token) {
    auto options = options_with(server, cache);
    options.bearer_token = token;
    Client client = connect(options);
    REQUIRE(client.read_resource("file:///a"));
  };
  read_with("one");
  read_with("one");
  CHECK(server.count("resources/read") == 1);
  CHECK(server.count("server/discover") == 1);
  read_with("two");
  CHECK(server.count("resources/read") == (is_public ? 1 : 2));
}

TEST_CASE("other headers of a call make another request of it") {
  Server server;
  Client client = connect(options_with(server, std::make_shared<ResultCache>()));
  CallOptions options;
  options.headers = {{"X-Tenant", "a"}};
  REQUIRE(client.read_resource("file:///a", options));
  REQUIRE(client.read_resource("file:///a", options));
  options.headers = {{"X-Tenant", "b"}};
  REQUIRE(client.read_resource("file:///a", options));
  CHECK(server.count("resources/read") == 2);
}

TEST_CASE("a list that has changed is read anew, wherever the news came") {
  const bool on_call = GENERATE(true, false);
  Server server;
  Gate told;
  auto cache = std::make_shared<ResultCache>();
  Client client = connect(options_with(server, cache));
  SubscriptionOptions subscribed;
  subscribed.on_notification = [&](const Message&) { told.open(); };
  SubscriptionFilter filter;
  filter.tools_list_changed = true;
  const Call call = client.subscribe(filter, std::move(subscribed));
  REQUIRE(client.list_tools());
  server.set_version(2);
  if (on_call) {
    REQUIRE(client.call_tool("t", ""));
  } else {
    server.stream().send(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    REQUIRE(told.wait());
  }
  CHECK(names(client.list_tools()) == "v2 v2v2 ");
}

TEST_CASE("a cursor that is no longer valid has the list read anew from its beginning") {
  Server server;
  Client client = connect(options_with(server, std::make_shared<ResultCache>()));
  REQUIRE(client.list_tools());
  server.set_version(2);
  CHECK(names(client.list_tools()) == "v2 v2v2 ");
  CHECK(server.count("tools/list") == 5);  // 2, then the refused cursor, then 2
}

TEST_CASE("members of meta reach the server in _meta") {
  Server server;
  Client client = connect(options_with(server, nullptr));
  CallOptions options;
  options.meta = R"({"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})";
  REQUIRE(client.read_resource("file:///a", options));
  const Json meta = Json::parse(server.http().requests().back().body)["params"]["_meta"];
  CHECK(meta["traceparent"] == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  CHECK(meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28");
  options.meta = "[]";
  const auto refused = client.read_resource("file:///a", options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
}
