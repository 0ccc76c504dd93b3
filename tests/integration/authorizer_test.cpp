// Credentials that the application supplies while requests are under way.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

using SupplyHeader = std::function<void(std::string)>;
using Decide = std::function<void(bool)>;

// Supplies "Bearer token-N", where N counts the refreshes, unless a test says otherwise.
class TestAuthorizer final : public Authorizer {
 public:
  std::function<void(const SupplyHeader&)> on_authorize;
  std::function<void(const Decide&)> on_refused;

  void authorize(const std::string& url, SupplyHeader done) override {
    ++asked;
    {
      const std::lock_guard lock(mutex_);
      url_ = url;
    }
    if (on_authorize) return on_authorize(done);
    done("Bearer token-" + std::to_string(refreshes));
  }

  void refused(const AuthorizationRefusal& refusal, Decide done) override {
    {
      const std::lock_guard lock(mutex_);
      refusals_.push_back(refusal);
    }
    if (on_refused) return on_refused(done);
    ++refreshes;
    done(true);
  }

  std::string url() const {
    const std::lock_guard lock(mutex_);
    return url_;
  }
  std::vector<AuthorizationRefusal> refusals() const {
    const std::lock_guard lock(mutex_);
    return refusals_;
  }

  std::atomic<int> asked{0};
  std::atomic<int> refreshes{0};

 private:
  mutable std::mutex mutex_;
  std::string url_;
  std::vector<AuthorizationRefusal> refusals_;
};

constexpr std::string_view challenge =
    R"(Bearer realm="tools", resource_metadata="https://as.example/meta", error="invalid_token")";

void refuse(Connection& connection, int status = 401) {
  connection.write_response(status, {{"WWW-Authenticate", std::string(challenge)}}, "");
}

// Refuses everything but that Authorization.
ScriptedServer::Handler accepts_only(std::string authorization) {
  return
      [authorization = std::move(authorization)](Connection& connection, const Request& request) {
        if (request.header("Authorization") != authorization) return refuse(connection);
        answer_json(connection, request);
      };
}

Transport make_transport(const ScriptedServer& server, std::shared_ptr<Authorizer> authorizer) {
  auto options = options_for(server);
  options.authorizer = std::move(authorizer);
  return mcphttp::test::make_transport(std::move(options));
}

}  // namespace

TEST_CASE("the authorizer is asked before each request, for the endpoint") {
  const auto authorizer = std::make_shared<TestAuthorizer>();
  ScriptedServer server(accepts_only("Bearer token-0"));
  Transport transport = make_transport(server, authorizer);
  for (int i = 1; i <= 3; ++i) {
    REQUIRE(exchange(transport, call_json(i)));
    CHECK(authorizer->asked == i);
  }
  CHECK(authorizer->url() == server.url());
  CHECK(authorizer->refusals().empty());
  for (const Request& request : server.requests()) {
    CHECK(request.header_count("Authorization") == 1);
  }
}

TEST_CASE("a refused request is sent once more with what the refresh brought") {
  const int status = GENERATE(401, 403);
  const auto authorizer = std::make_shared<TestAuthorizer>();
  ScriptedServer server([status](Connection& connection, const Request& request) {
    if (request.header("Authorization") != "Bearer token-1") return refuse(connection, status);
    answer_json(connection, request);
  });
  Transport transport = make_transport(server, authorizer);
  REQUIRE(exchange(transport, call_json(1)));
  const auto requests = server.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].header("Authorization") == "Bearer token-0");
  CHECK(requests[1].header("Authorization") == "Bearer token-1");
  CHECK(requests[0].body == requests[1].body);

  const auto refusals = authorizer->refusals();
  REQUIRE(refusals.size() == 1);
  CHECK(refusals[0].url == server.url());
  CHECK(refusals[0].http_status == status);
  CHECK(refusals[0].www_authenticate == challenge);
  REQUIRE(refusals[0].challenges.size() == 1);
  CHECK(refusals[0].challenges[0].scheme == "bearer");
  CHECK(refusals[0].challenges[0].token68.empty());
  CHECK(refusals[0].challenges[0].parameters ==
        std::vector<std::pair<std::string, std::string>>{
            {"realm", "tools"},
            {"resource_metadata", "https://as.example/meta"},
            {"error", "invalid_token"}});
}

TEST_CASE("a request that is refused again is not sent a third time") {
  const auto authorizer = std::make_shared<TestAuthorizer>();
  ScriptedServer server(accepts_only("never"));
  Transport transport = make_transport(server, authorizer);
  const auto answer = exchange(transport, call_json(1));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::unauthorized);
  CHECK(answer.error().http_status == 401);
  CHECK(answer.error().www_authenticate == challenge);
  CHECK(authorizer->refusals().size() == 1);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a request is not repeated if no fresh credentials are to be had") {
  const auto authorizer = std::make_shared<TestAuthorizer>();
  authorizer->on_refused = [](const Decide& done) { done(false); };
  ScriptedServer server(accepts_only("never"));
  Transport transport = make_transport(server, authorizer);
  CHECK(exchange(transport, call_json(1)).error().code == ErrorCode::unauthorized);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("calls that are refused at the same time share one refresh") {
  constexpr std::size_t callers = 8;
  const auto authorizer = std::make_shared<TestAuthorizer>();
  Gate refused;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    if (request.header("Authorization") == "Bearer token-1")
      return answer_json(connection, request);
    refused.open();
    refused.wait_for(callers);
    refuse(connection);
  });
  Transport transport = make_transport(server, authorizer);
  std::atomic<std::size_t> good{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < callers; ++i) {
    threads.emplace_back([&, i] {
      if (exchange(transport, call_json(static_cast<int>(i)))) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == callers);
  CHECK(authorizer->refusals().size() == 1);
  CHECK(server.requests().size() == 2 * callers);
}

TEST_CASE(
    "the authorizer may answer later and from another thread, and only its first word counts") {
  std::vector<std::thread> threads;
  const auto authorizer = std::make_shared<TestAuthorizer>();
  authorizer->on_authorize = [&, raw = authorizer.get()](const SupplyHeader& done) {
    threads.emplace_back([done, header = "Bearer token-" + std::to_string(raw->refreshes)] {
      std::this_thread::sleep_for(10ms);
      done(header);
      done("Bearer second");
    });
  };
  authorizer->on_refused = [&, raw = authorizer.get()](const Decide& done) {
    threads.emplace_back([done, raw] {
      std::this_thread::sleep_for(10ms);
      ++raw->refreshes;
      done(true);
      done(false);
    });
  };
  ScriptedServer server(accepts_only("Bearer token-1"));
  {
    Transport transport = make_transport(server, authorizer);
    CHECK(exchange(transport, call_json(1)));
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(server.requests().size() == 2);
}

TEST_CASE("an authorizer that drops what it was asked supplies nothing and refreshes nothing") {
  const auto authorizer = std::make_shared<TestAuthorizer>();
  authorizer->on_authorize = [](const SupplyHeader&) {};
  authorizer->on_refused = [](const Decide&) {};
  ScriptedServer server(accepts_only("Bearer x"));
  Transport transport = make_transport(server, authorizer);
  CHECK(exchange(transport, call_json(1)).error().code == ErrorCode::unauthorized);
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests()[0].header_count("Authorization") == 0);
}

TEST_CASE("an authorizer that throws supplies nothing, and the transport goes on") {
  const auto authorizer = std::make_shared<TestAuthorizer>();
  authorizer->on_authorize = [](const SupplyHeader&) { throw 1; };
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  Transport transport = make_transport(server, authorizer);
  CHECK(exchange(transport, call_json(1)));
  CHECK(server.requests()[0].header_count("Authorization") == 0);
}

TEST_CASE("a header that would break its line is not sent") {
  const auto authorizer = std::make_shared<TestAuthorizer>();
  authorizer->on_authorize = [](const SupplyHeader& done) { done("Bearer a\r\nX-Evil: 1"); };
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  Transport transport = make_transport(server, authorizer);
  CHECK(exchange(transport, call_json(1)));
  CHECK(server.requests()[0].header_count("Authorization") == 0);
  CHECK(server.requests()[0].header_count("X-Evil") == 0);
}

TEST_CASE("a request that waits for its authorizer can be cancelled") {
  std::vector<SupplyHeader> kept;
  Gate asked;
  const auto authorizer = std::make_shared<TestAuthorizer>();
  authorizer->on_authorize = [&](const SupplyHeader& done) {
    kept.push_back(done);
    asked.open();
  };
  ScriptedServer server(accepts_only("Bearer x"));
  Transport transport = make_transport(server, authorizer);
  auto recorder = std::make_shared<Recorder>();
  Call call = transport.start_post(call_json(1), {}, recorder);
  REQUIRE(asked.wait());
  call.cancel();
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::cancelled);
  kept.at(0)("Bearer x");
  std::this_thread::sleep_for(20ms);
  CHECK(server.requests().empty());
  kept.clear();
}

TEST_CASE("an authorizer is refused where its credentials would cross the network in the open") {
  TransportOptions options;
  options.url = "http://192.0.2.1/mcp";
  options.authorizer = std::make_shared<TestAuthorizer>();
  const auto transport = Transport::create(options);
  REQUIRE_FALSE(transport);
  CHECK(transport.error().code == ErrorCode::invalid_argument);
  options.allow_bearer_over_http = true;
  CHECK(Transport::create(options));
}
