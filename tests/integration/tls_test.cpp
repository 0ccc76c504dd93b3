// TLS, with nginx in front of the scripted server.
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

TransportOptions options_of(const std::string& url, const std::string& authority = "ca.pem") {
  TransportOptions options;
  options.url = url;
  if (!authority.empty()) options.ca_file = certificates().file(authority);
  return options;
}

void answer(Connection& connection, const Request& request) { answer_json(connection, request); }

}  // namespace

TEST_CASE("calls over TLS to a server of a trusted authority use one connection") {
  ScriptedServer server(answer);
  const Nginx front(server);
  Transport transport = make_transport(options_of(front.open_url()));
  for (int i = 0; i < 50; ++i) REQUIRE(exchange(transport, call_json(i)));
  std::set<std::string> connections;
  for (const Request& request : server.requests()) {
    connections.insert(request.header("X-Connection").value_or(""));
  }
  CHECK(connections.size() == 1);
}

TEST_CASE("events arrive through TLS while the server is still silent") {
  Gate seen;
  std::atomic<bool> waited_in_vain{false};
  ScriptedServer server(answers_after(progress_json("1", 1), seen, waited_in_vain));
  const Nginx front(server);
  Transport transport = make_transport(options_of(front.open_url()));
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->events()->next());
  seen.open();
  auto last = response->events()->next();
  REQUIRE(last);
  CHECK(last->is_response());
  CHECK_FALSE(waited_in_vain);
}

TEST_CASE("a server of another authority is refused before anything is sent") {
  ScriptedServer server(answer);
  const Nginx front(server);
  const auto authority = GENERATE(as<std::string>(), "other-ca.pem", "");
  INFO(authority);
  auto options = options_of(front.open_url(), authority);
  options.bearer_token = "secret";
  Transport transport = make_transport(options);
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::tls_failed);
  CHECK(message.error().delivery == Delivery::not_sent);
  CHECK(message.error().to_string().find("certificate") != std::string::npos);
  CHECK(server.requests().empty());
}

TEST_CASE("a TLS failure is no sign of an era") {
  ScriptedServer server(answer);
  const Nginx front(server);
  ClientOptions options;
  options.url = front.open_url();
  options.ca_file = certificates().file("other-ca.pem");
  options.era_cache = std::make_shared<EraCache>();
  const auto client = Client::connect(options);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::tls_failed);
  CHECK(server.requests().empty());
  CHECK(options.era_cache->entries().empty());
}

TEST_CASE("a certificate for another name is refused") {
  ScriptedServer server(answer);
  const Nginx front(server);
  std::string url = front.open_url();
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  Transport transport = make_transport(options_of(url));
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::tls_failed);
  CHECK(server.requests().empty());
}

TEST_CASE("a client certificate opens a server that asks for one") {
  ScriptedServer server(answer);
  const Nginx front(server);
  auto options = options_of(front.guarded_url());
  {
    Transport transport = make_transport(options);
    auto message = exchange(transport, call_json(1));
    REQUIRE_FALSE(message);
    CHECK(message.error().code == ErrorCode::http_error);
    CHECK(server.requests().empty());
  }
  options.client_certificate = certificates().file("client.pem");
  options.client_key = certificates().file("client.key");
  Transport transport = make_transport(options);
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(server.requests().at(0).header("X-Client") == "CN=client");
}

TEST_CASE("a certificate file that cannot be read is tls_failed") {
  ScriptedServer server(answer);
  const Nginx front(server);
  auto options = options_of(front.open_url());
  SECTION("authority") { options.ca_file = "/nonexistent.pem"; }
  SECTION("client") { options.client_certificate = "/nonexistent.pem"; }
  Transport transport = make_transport(options);
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::tls_failed);
  CHECK(message.error().delivery == Delivery::not_sent);
}
