#include "result_cache.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace mcphttp;
using namespace std::chrono_literals;

namespace {

const ResultStore::Time start{};

Message result(const std::string& members) {
  auto parsed = Message::parse(R"({"jsonrpc":"2.0","id":1,"result":{)" + members + "}}");
  REQUIRE(parsed);
  return std::move(*parsed);
}

Message notification(const std::string& method, const std::string& params = "{}") {
  auto parsed =
      Message::parse(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}");
  REQUIRE(parsed);
  return std::move(*parsed);
}

CacheKey key(const std::string& method = "tools/list", const std::string& params = "",
             const std::string& authorization = "me", const std::string& url = "http://a/mcp") {
  return {url, method, params, authorization};
}

const std::string fresh = R"("ttlMs":1000,"cacheScope":"private")";
const std::string open = R"("ttlMs":1000,"cacheScope":"public")";

void store(ResultStore& cache, const CacheKey& where, const std::string& members) {
  cache.store(where, result(members), start, cache.epoch());
}

}  // namespace

TEST_CASE("a result is fresh for as long as its server says, counted from its arrival") {
  ResultStore cache(4096);
  store(cache, key(), fresh);
  CHECK(cache.find(key(), start));
  CHECK(cache.find(key(), start + 999ms));
  CHECK_FALSE(cache.find(key(), start + 1000ms));
  CHECK(cache.size() == 0);  // what is stale is forgotten
}

TEST_CASE("a kept message is the one that came, byte for byte") {
  ResultStore cache(4096);
  store(cache, key(), fresh + R"(, "tools" :[ ])");
  const auto kept = cache.find(key(), start);
  REQUIRE(kept);
  CHECK(kept->json() == result(fresh + R"(, "tools" :[ ])").json());
}

TEST_CASE("without a positive whole ttlMs nothing is kept") {
  for (const std::string ttl : {"", R"("ttlMs":0)", R"("ttlMs":-5)", R"("ttlMs":"9")",
                                R"("ttlMs":1.5)", R"("ttlMs":null)"}) {
    ResultStore cache(4096);
    store(cache, key(), ttl);
    CAPTURE(ttl);
    CHECK(cache.size() == 0);
  }
}

TEST_CASE("a day is the longest that anything is kept") {
  ResultStore cache(4096);
  store(cache, key(), R"("ttlMs":9223372036854775807)");
  CHECK(cache.find(key(), start + 23h));
  CHECK_FALSE(cache.find(key(), start + 24h));
}

TEST_CASE("a result answers only the very request that brought it") {
  ResultStore cache(4096);
  store(cache, key("resources/read", R"({"uri":"a"})"), fresh);
  CHECK(cache.find(key("resources/read", R"({"uri":"a"})"), start));
  CHECK_FALSE(cache.find(key("resources/read", R"({"uri":"b"})"), start));
  CHECK_FALSE(cache.find(key("resources/list", R"({"uri":"a"})"), start));
  CHECK_FALSE(cache.find(key("resources/read", R"({"uri":"a"})", "me", "http://b/mcp"), start));
}

TEST_CASE("private results serve the same credentials, public ones all") {
  ResultStore cache(4096);
  CacheKey unknown = key();
  unknown.authorization.reset();
  store(cache, key(), fresh);
  CHECK_FALSE(cache.find(key("tools/list", "", "you"), start));
  CHECK_FALSE(cache.find(unknown, start));
  store(cache, key("prompts/list"), open);
  unknown.method = "prompts/list";
  CHECK(cache.find(key("prompts/list", "", "you"), start));
  CHECK(cache.find(unknown, start));
}

TEST_CASE("a scope that is absent or unknown is private") {
  for (const std::string scope : {"", R"(,"cacheScope":"shared")", R"(,"cacheScope":1)"}) {
    ResultStore cache(4096);
    store(cache, key(), R"("ttlMs":1000)" + scope);
    CAPTURE(scope);
    CHECK(cache.find(key(), start));
    CHECK_FALSE(cache.find(key("tools/list", "", "you"), start));
  }
}

TEST_CASE("without known credentials only public results are kept") {
  ResultStore cache(4096);
  CacheKey unknown = key();
  unknown.authorization.reset();
  store(cache, unknown, fresh);
  CHECK(cache.size() == 0);
  store(cache, unknown, open);
  CHECK(cache.find(unknown, start));
}

TEST_CASE(
    "only lists, resources/read and server/discover may be kept, and no later round of them") {
  for (const std::string method :
       {"server/discover", "tools/list", "prompts/list", "resources/list",
        "resources/templates/list", "resources/read"}) {
    CAPTURE(method);
    CHECK(ResultStore::may_keep(method, ""));
    CHECK(ResultStore::may_keep(method, R"({"cursor":"a"})"));
    CHECK_FALSE(ResultStore::may_keep(method, R"({"inputResponses":{}})"));
    CHECK_FALSE(ResultStore::may_keep(method, R"({"requestState":"s"})"));
  }
  CHECK_FALSE(ResultStore::may_keep("tools/call", ""));
  CHECK_FALSE(ResultStore::may_keep("completion/complete", ""));
}

TEST_CASE("a result that asks for input is not kept") {
  ResultStore cache(4096);
  store(cache, key(), fresh + R"(,"resultType":"input_required")");
  CHECK(cache.size() == 0);
}

TEST_CASE("what has changed is dropped, at its URL only") {
  struct Case {
    std::string notification;
    std::string params;
    std::vector<std::string> dropped;
  };
  const std::vector<std::string> methods = {"tools/list", "prompts/list", "resources/list",
                                            "resources/templates/list", "resources/read"};
  for (const Case& c :
       std::vector<Case>{{"notifications/tools/list_changed", "{}", {"tools/list"}},
                         {"notifications/prompts/list_changed", "{}", {"prompts/list"}},
                         {"notifications/resources/list_changed",
                          "{}",
                          {"resources/list", "resources/templates/list"}},
                         {"notifications/resources/updated", R"({"uri":"a"})", {"resources/read"}},
                         {"notifications/resources/updated", R"({"uri":"b"})", {}},
                         {"notifications/message", "{}", {}}}) {
    ResultStore cache(64 * 1024);
    const std::string params = R"({"uri":"a"})";
    for (const std::string& method : methods) store(cache, key(method, params), fresh);
    cache.note("http://elsewhere/mcp", notification(c.notification, c.params));
    cache.note("http://a/mcp", notification(c.notification, c.params));
    CAPTURE(c.notification, c.params);
    for (const std::string& method : methods) {
      const bool dropped = std::count(c.dropped.begin(), c.dropped.end(), method) != 0;
      CHECK(cache.find(key(method, params), start).has_value() != dropped);
    }
  }
}

TEST_CASE("what was asked for before a change is not kept after it") {
  ResultStore cache(4096);
  const std::uint64_t before = cache.epoch();
  cache.note("http://a/mcp", notification("notifications/tools/list_changed"));
  cache.store(key(), result(fresh), start, before);
  CHECK(cache.size() == 0);
}

TEST_CASE("the bound holds: what came first goes first, and what is larger is not taken") {
  ResultStore cache(4096);
  for (int i = 0; i < 100; ++i) {
    store(cache, key("resources/read", std::to_string(i)), fresh);
    CHECK(cache.size() <= 4096);
  }
  CHECK(cache.find(key("resources/read", "99"), start));
  CHECK_FALSE(cache.find(key("resources/read", "0"), start));
  const std::size_t size = cache.size();
  store(cache, key(), fresh + R"(,"x":")" + std::string(5000, 'x') + '"');
  CHECK(cache.size() == size);
  store(cache, key("resources/read", "99"), fresh);  // in place of the old one
  CHECK(cache.size() == size);
  cache.clear();
  CHECK(cache.size() == 0);
}

TEST_CASE("0 keeps nothing") {
  ResultCache cache(0);
  CHECK(cache.size() == 0);
  ResultStore state(0);
  store(state, key(), fresh);
  CHECK(state.size() == 0);
}
