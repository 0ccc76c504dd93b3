// Proxies: tinyproxy on the way to a scripted server, and a scripted one that shows what it is
// told.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "helpers.hpp"
#include "peers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

void answer(Connection& connection, const Request& request) { answer_json(connection, request); }

TransportOptions through(const std::string& proxy, const std::string& url) {
  TransportOptions options;
  options.url = url;
  options.ca_file = certificates().file("ca.pem");
  options.proxy = proxy;
  return options;
}

Error failure_of(const TransportOptions& options) {
  Transport transport = make_transport(options);
  auto message = exchange(transport, call_json(1));
  return message ? Error() : message.error();
}

// A variable of the environment, as long as the object lives.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const std::string name_;
};

class CountingAuthorizer final : public Authorizer {
 public:
  std::atomic<int> refusals{0};
  void authorize(const std::string& /*url*/, std::function<void(std::string)> done) override {
    done("Bearer hush");
  }
  void refused(const AuthorizationRefusal& /*refusal*/, std::function<void(bool)> done) override {
    ++refusals;
    done(true);
  }
};

}  // namespace

// --- On the way

TEST_CASE("https goes through a proxy in a tunnel, of which the proxy sees the host alone") {
  ScriptedServer server(answer);
  const Nginx front(server);
  const Tinyproxy proxy;
  auto options = through(proxy.url(), front.open_url());
  options.bearer_token = "hush";
  options.headers = {{"X-Extra", "1"}};
  Transport transport = make_transport(options);
  for (int i = 0; i < 3; ++i) REQUIRE(exchange(transport, call_json(i)));
  for (const Request& request : server.requests()) {
    CHECK(request.header("Authorization") == "Bearer hush");
    CHECK(request.header("X-Extra") == "1");
  }
  CHECK(proxy.log().find("CONNECT 127.0.0.1:") != std::string::npos);
  CHECK(proxy.log().find("/mcp") == std::string::npos);
}

TEST_CASE("events arrive through a proxy while the server is still silent") {
  const bool encrypted = GENERATE(false, true);
  CAPTURE(encrypted);
  Gate seen;
  std::atomic<bool> waited_in_vain{false};
  ScriptedServer server(answers_after(progress_json("1", 1), seen, waited_in_vain));
  const Nginx front(server);
  const Tinyproxy proxy;
  Transport transport =
      make_transport(through(proxy.url(), encrypted ? front.open_url() : server.url()));
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->events()->next());
  seen.open();
  auto last = response->events()->next();
  REQUIRE(last);
  CHECK(last->is_response());
  CHECK_FALSE(waited_in_vain);
  CHECK(proxy.log().find(encrypted ? "CONNECT 127.0.0.1:" : "POST http://127.0.0.1:") !=
        std::string::npos);
}

// --- Credentials

TEST_CASE("credentials of the endpoint are not for the proxy, nor those of the proxy for it") {
  const bool encrypted = GENERATE(false, true);
  CAPTURE(encrypted);
  ScriptedServer server(answer);
  const Nginx front(server);
  const Tinyproxy proxy("BasicAuth someone secret\n");
  const std::string url = encrypted ? front.open_url() : server.url();
  Transport transport = make_transport(through(proxy.url("someone:secret"), url));
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(server.requests().at(0).header_count("Proxy-Authorization") == 0);
  CHECK(server.requests()[0].header_count("Authorization") == 0);
}

TEST_CASE("a proxy that is asked for a tunnel is told nothing that is meant for the endpoint") {
  const int status = GENERATE(401, 403, 407, 502);
  CAPTURE(status);
  ScriptedServer proxy([status](Connection& connection, const Request&) {
    connection.write_response(status, {{"WWW-Authenticate", "Bearer"}}, "");
  });
  auto options = through("http://someone:secret@127.0.0.1:" + std::to_string(proxy.port()),
                         "https://tools.example/mcp");
  const auto authorizer = std::make_shared<CountingAuthorizer>();
  options.authorizer = authorizer;
  options.session_id = "s-1";
  options.protocol_version = "2025-11-25";
  options.headers = {{"X-Api-Key", "hush"}, {"Cookie", "hush"}};
  const Error error = failure_of(options);
  CHECK(error.code == ErrorCode::proxy_failed);
  CHECK(error.delivery == Delivery::not_sent);
  CHECK(error.to_string().find(std::to_string(status)) != std::string::npos);
  CHECK(error.to_string().find("secret") == std::string::npos);
  CHECK(authorizer->refusals == 0);

  const auto requests = proxy.requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].method == "CONNECT");
  CHECK(requests[0].target == "tools.example:443");
  CHECK(requests[0].header("Proxy-Authorization") == "Basic c29tZW9uZTpzZWNyZXQ=");
  const std::set<std::string> allowed{"Host", "Proxy-Authorization", "Proxy-Connection",
                                      "User-Agent"};
  for (const Header& header : requests[0].headers) {
    CAPTURE(header.name);
    CHECK(allowed.count(header.name) == 1);
  }
}

// --- Refusals

TEST_CASE("a proxy that refuses the tunnel is proxy_failed, and nothing has been sent") {
  struct Case {
    std::string settings;
    std::string status;
  };
  const auto refusal =
      GENERATE(Case{"ConnectPort 1\n", "403"}, Case{"BasicAuth someone secret\n", "407"},
               Case{"Deny 127.0.0.1\n", "403"});
  INFO(refusal.settings);
  ScriptedServer server(answer);
  const Nginx front(server);
  const Tinyproxy proxy(refusal.settings);
  auto options = through(proxy.url(), front.open_url());
  const Error error = failure_of(options);
  CHECK(error.code == ErrorCode::proxy_failed);
  CHECK(error.delivery == Delivery::not_sent);
  CHECK(error.to_string().find(refusal.status) != std::string::npos);
  CHECK(is_retryable(error));
  CHECK(server.requests().empty());
}

TEST_CASE("what a proxy answers in place of a server without TLS is an answer like any other") {
  ScriptedServer server(answer);
  const Tinyproxy proxy("BasicAuth someone secret\n");
  const Error error = failure_of(through(proxy.url(), server.url()));
  CHECK(error.code == ErrorCode::http_error);
  CHECK(error.http_status == 407);
  CHECK_FALSE(error.diagnostic.text.empty());
  CHECK(server.requests().empty());
}

TEST_CASE("a proxy that is not there is proxy_failed") {
  const std::string scheme = GENERATE(as<std::string>(), "http", "https");
  CAPTURE(scheme);
  const std::string proxy = "http://127.0.0.1:" + std::to_string(free_port());
  const Error error = failure_of(through(proxy, scheme + "://127.0.0.1:1/mcp"));
  CHECK(error.code == ErrorCode::proxy_failed);
  CHECK(error.delivery == Delivery::not_sent);
}

TEST_CASE("a server that is not there is the proxy's to report") {
  const Tinyproxy proxy;
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  const Error tunnel = failure_of(through(proxy.url(), "https://" + address + "/mcp"));
  CHECK(tunnel.code == ErrorCode::proxy_failed);
  CHECK(tunnel.delivery == Delivery::not_sent);
  const Error plain = failure_of(through(proxy.url(), "http://" + address + "/mcp"));
  CHECK(plain.code == ErrorCode::http_error);
  CHECK(plain.http_status == 500);
}

// --- Choice

TEST_CASE("the environment names a proxy only to those who ask it") {
  const bool asks = GENERATE(false, true);
  CAPTURE(asks);
  ScriptedServer server(answer);
  ScriptedServer proxy(answer);
  const Variable variable("http_proxy", "http://127.0.0.1:" + std::to_string(proxy.port()));
  auto options = options_for(server);
  options.proxy_from_environment = asks;
  Transport transport = make_transport(options);
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(server.requests().size() == (asks ? 0 : 1));
  REQUIRE(proxy.requests().size() == (asks ? 1 : 0));
  if (asks) CHECK(proxy.requests()[0].target == server.url());
}

TEST_CASE("the environment does not lead past a proxy that was set") {
  const std::string name = GENERATE(as<std::string>(), "NO_PROXY", "no_proxy");
  CAPTURE(name);
  ScriptedServer server(answer);
  const Variable variable(name, "*");
  const std::string nobody = "http://127.0.0.1:" + std::to_string(free_port());
  CHECK(failure_of(through(nobody, server.url())).code == ErrorCode::proxy_failed);
  CHECK(server.requests().empty());
}

TEST_CASE("a proxy of the environment that cannot be used is not shown") {
  const std::string proxy =
      GENERATE(as<std::string>(), "http://user:hush@h:99999999", "ftp://user:hush@h");
  const Variable variable("http_proxy", proxy);
  TransportOptions options;
  options.url = "http://127.0.0.1:1/mcp";
  options.proxy_from_environment = true;
  const Error error = failure_of(options);
  CHECK(error.to_string().find("hush") == std::string::npos);
  CHECK(error.delivery == Delivery::not_sent);
}
