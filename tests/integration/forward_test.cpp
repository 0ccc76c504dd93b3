// Transport::forward(): requests and responses that are passed on as they came.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <curl/curl.h>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

ForwardRequest request_of(std::string method, std::string body = {}) {
  ForwardRequest request;
  request.method = std::move(method);
  request.headers = {{"Content-Type", "application/json"},
                     {"Accept", "application/json, text/event-stream"},
                     {"MCP-Protocol-Version", "2025-11-25"}};
  request.body = std::move(body);
  return request;
}

std::string rest_of(Response& response) {
  std::string bytes;
  while (auto piece = response.read()) bytes += *piece;
  return bytes;
}

std::string value_of(const Response& response, std::string_view name) {
  const std::string* value = response.head().find(name);
  return value != nullptr ? *value : "none";
}

}  // namespace

TEST_CASE("any method passes with its headers and its body, and nothing is added") {
  struct Case {
    std::string method;
    std::string body;
    std::string length;
  };
  const auto sent =
      GENERATE(Case{"POST", "{}", "2"}, Case{"POST", "", "0"}, Case{"GET", "", "none"},
               Case{"GET", "odd", "3"}, Case{"DELETE", "", "none"}, Case{"OPTIONS", "", "none"},
               Case{"PUT", "", "0"}, Case{"X-ODD", "x", "1"});
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_response(200, {{"Content-Type", "text/plain"}}, "ok");
  });
  Transport transport = make_transport(server);
  ForwardRequest request;
  request.method = sent.method;
  request.headers = {{"X-One", "1"}, {"Connection", "X-Hop"}, {"X-Hop", "2"}};
  request.body = sent.body;
  auto response = transport.forward(request);
  REQUIRE(response);
  CHECK(response->kind() == ResponseKind::body);
  CHECK(rest_of(*response) == "ok");
  CHECK(response->end().reason == ExchangeEnd::Reason::answered);
  REQUIRE(server.requests().size() == 1);
  const Request got = server.requests()[0];
  CHECK(got.method == sent.method);
  CHECK(got.body == sent.body);
  CHECK(got.header("X-One") == "1");
  CHECK(got.header("Content-Length").value_or("none") == sent.length);
  CHECK(got.headers.size() == (sent.length == "none" ? 2 : 3));  // with Host
}

TEST_CASE("the answer to HEAD keeps its length and has no body") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_head(200, {{"Content-Type", "application/json"}, {"Content-Length", "1234"}});
  });
  Transport transport = make_transport(server);
  auto response = transport.forward(request_of("HEAD"));
  REQUIRE(response);
  CHECK(value_of(*response, "Content-Length") == "1234");
  CHECK(rest_of(*response).empty());
  CHECK(response->end().reason == ExchangeEnd::Reason::answered);
}

TEST_CASE("status and headers come as they are, but for those of the hop") {
  const int status = GENERATE(200, 202, 307, 401, 403, 404, 405, 503);
  ScriptedServer server([status](Connection& connection, const Request&) {
    connection.write_response(status,
                              {{"Content-Type", "text/plain"},
                               {"Location", "/elsewhere"},
                               {"WWW-Authenticate", "Bearer realm=\"x\""},
                               {"Mcp-Session-Id", "s"},
                               {"Connection", "keep-alive, X-Hop"},
                               {"Keep-Alive", "timeout=60"},
                               {"X-Hop", "1"},
                               {"Set-Cookie", "a"},
                               {"Set-Cookie", "b"}},
                              "as it came");
  });
  auto options = options_for(server);
  options.session_id = "ours";
  Transport transport = make_transport(options);
  auto response = transport.forward(request_of("POST", call_json(1)));
  REQUIRE(response);
  CHECK(response->head().status == status);
  CHECK(value_of(*response, "Content-Length") == "10");
  CHECK(value_of(*response, "Mcp-Session-Id") == "s");
  CHECK(value_of(*response, "Location") == "/elsewhere");
  CHECK(value_of(*response, "X-Hop") == "none");
  CHECK(value_of(*response, "Keep-Alive") == "none");
  CHECK(response->head().headers.size() == 7);
  CHECK(rest_of(*response) == "as it came");
  REQUIRE(server.requests().size() == 1);  // neither followed nor repeated
  CHECK_FALSE(server.requests()[0].header("Mcp-Session-Id"));
  CHECK(transport.session().id == "ours");
}

TEST_CASE("a JSON answer is byte for byte what the server sent") {
  const auto [status, text] = GENERATE(
      std::pair{200, std::string(R"( {"jsonrpc":"2.0", "id":1,"result":{ }} )")},
      std::pair{
          400, std::string(R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"\u00e4"}})")},
      std::pair{400, std::string(R"({"error":"invalid_token"})")},
      std::pair{200, std::string(R"([{"jsonrpc":"2.0","id":1,"result":{}}])")});
  ScriptedServer server([&, status = status, text = text](Connection& connection, const Request&) {
    connection.write_response(status, {{"Content-Type", "application/json"}}, text);
  });
  Transport transport = make_transport(server);
  auto response = transport.forward(request_of("POST", call_json(1)));
  REQUIRE(response);
  CHECK(response->kind() == ResponseKind::message);
  CHECK(response->head().status == status);
  if (!Message::parse(text)) {
    const auto message = response->message();
    REQUIRE_FALSE(message);
    CHECK(message.error().code == ErrorCode::malformed_message);
  }
  CHECK(rest_of(*response) == text);
}

TEST_CASE("a forwarded stream is live, ends with its response, and keeps blocks and comments") {
  Gate seen;
  std::atomic<bool> waited_in_vain{false};
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    connection.write_chunk("id: 1\n\n: alive\n\n");
    send_event(connection, progress_json("1", 1));
    waited_in_vain = !seen.wait();
    send_event(connection, result_json(id_of(request)));
    connection.peer_closed(guard);
  });
  Transport transport = make_transport(server);
  auto response = transport.forward(request_of("POST", call_json(1)));
  REQUIRE(response);
  REQUIRE(response->kind() == ResponseKind::stream);
  CHECK(response->request_id() == "1");
  CHECK(response->read() == "id: 1\n\n");
  CHECK(response->read() == ": alive\n\n");
  CHECK(response->read() == event(progress_json("1", 1)));
  seen.open();
  CHECK(response->read() == event(result_json("1")));
  CHECK_FALSE(response->read());
  CHECK(response->end().reason == ExchangeEnd::Reason::answered);
  CHECK_FALSE(waited_in_vain);
}

TEST_CASE("a forwarded stream that breaks off is neither resumed nor taken for whole") {
  const std::string method = GENERATE("POST", "GET");
  const bool orderly = GENERATE(false, true);
  ScriptedServer server([orderly](Connection& connection, const Request&) {
    begin_stream(connection);
    connection.write_chunk("id: 1\nretry: 1\ndata: x\n\n");
    if (orderly) connection.end_chunks();
    connection.close();
  });
  Transport transport = make_transport(server);
  auto response = transport.forward(request_of(method, method == "GET" ? "" : call_json(1)));
  REQUIRE(response);
  CHECK(rest_of(*response) == "id: 1\nretry: 1\ndata: x\n\n");
  CHECK(response->end().reason ==
        (orderly ? ExchangeEnd::Reason::unanswered : ExchangeEnd::Reason::cut));
  CHECK(server.requests().size() == 1);
}

TEST_CASE("a body of another type streams through, and what limits it has a name") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    const bool cut = request.header("X-Cut").has_value();
    connection.write_head(
        200, {{"Content-Type", "application/octet-stream"}, {"Transfer-Encoding", "chunked"}});
    for (int i = 0; i < 100; ++i) connection.write_chunk(std::string(1000, 'x'));
    if (cut) return connection.close();
    connection.end_chunks();
  });
  auto options = options_for(server);
  options.limits.max_queued_size = 10'000;
  SECTION("whole") {
    Transport transport = make_transport(options);
    auto response = transport.forward(request_of("GET"));
    REQUIRE(response);
    CHECK(rest_of(*response) == std::string(100'000, 'x'));
    CHECK(response->end().reason == ExchangeEnd::Reason::answered);
  }
  SECTION("cut") {
    Transport transport = make_transport(options);
    ForwardRequest request = request_of("GET");
    request.headers.push_back({"X-Cut", "1"});
    auto response = transport.forward(request);
    REQUIRE(response);
    const std::string rest = rest_of(*response);
    CHECK(rest == std::string(rest.size(), 'x'));
    CHECK(rest.size() > 50'000);
    // A newer libcurl drops what it holds back for a paused transfer that is cut.
    if (curl_version_info(CURLVERSION_NOW)->version_num < 0x080000) CHECK(rest.size() == 100'000);
    CHECK(response->end().reason == ExchangeEnd::Reason::cut);
  }
  SECTION("too long") {
    options.limits.max_stream_size = 50'000;
    Transport transport = make_transport(options);
    auto response = transport.forward(request_of("GET"));
    REQUIRE(response);
    CHECK(rest_of(*response).size() == 50'000);
    CHECK(response->end().reason == ExchangeEnd::Reason::limit);
    CHECK(response->end().error->code == ErrorCode::stream_too_large);
  }
  SECTION("collected") {
    Transport transport = make_transport(options);
    auto response = transport.forward(request_of("GET"));
    REQUIRE(response);
    CHECK(response->collect(99'999).outcome == Collected::Outcome::too_large);
    CHECK(response->collect(100'000).body == std::string(100'000, 'x'));
  }
}

TEST_CASE("the authorizer is asked once, and not again after a refusal") {
  class Token final : public Authorizer {
   public:
    void authorize(const std::string&, std::function<void(std::string)> done) override {
      done("Bearer fresh");
    }
    void refused(const AuthorizationRefusal&, std::function<void(bool)> done) override {
      done(true);
    }
  };
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_response(401, {{"WWW-Authenticate", "Bearer"}}, "no");
  });
  auto options = options_for(server);
  options.authorizer = std::make_shared<Token>();
  Transport transport = make_transport(options);
  ForwardRequest request = request_of("POST", call_json(1));
  request.headers.push_back({"Authorization", "Bearer theirs"});
  auto response = transport.forward(request);
  REQUIRE(response);
  CHECK(response->head().status == 401);
  CHECK(rest_of(*response) == "no");
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests()[0].header_count("Authorization") == 1);
  CHECK(server.requests()[0].header("Authorization") == "Bearer fresh");
}

TEST_CASE("a forwarded body is pushed to a handler") {
  class Bytes final : public ResponseHandler {
   public:
    Flow on_body(std::string&& bytes) override {
      body += bytes;
      return Flow::proceed;
    }
    void on_end(const ExchangeEnd& ended) override {
      reason = ended.reason;
      done.open();
    }
    std::string body;
    ExchangeEnd::Reason reason{};
    Gate done;
  };
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_response(404, {{"Content-Type", "text/html"}}, "<p>");
  });
  Transport transport = make_transport(server);
  auto bytes = std::make_shared<Bytes>();
  const Call call = transport.start_forward(request_of("POST", "not json"), bytes);
  REQUIRE(bytes->done.wait());
  CHECK(bytes->body == "<p>");
  CHECK(bytes->reason == ExchangeEnd::Reason::answered);
}
