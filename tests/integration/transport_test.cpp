// One message and its answer: what goes out, what comes back, sessions and redirects.
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <mcphttp/version.hpp>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

void answer_any(Connection& connection, const Request& request) {
  if (id_of(request) == "null") return accept_message(connection);
  answer_json(connection, request, R"({"protocolVersion":"2025-11-25"})");
}

const std::string initialize_json = R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})";

// A server that gives `session` with its answer to initialize.
ScriptedServer::Handler with_session(const std::string& session) {
  return [session](Connection& connection, const Request& request) {
    if (method_of(request) != "initialize") return answer_any(connection, request);
    connection.write_response(200,
                              {{"Content-Type", "application/json"}, {"MCP-Session-Id", session}},
                              result_json(id_of(request), R"({"protocolVersion":"2025-11-25"})"));
  };
}

}  // namespace

// --- What goes out

TEST_CASE("a request carries the headers that MCP asks for and none that libcurl would add") {
  ScriptedServer server(answer_any);
  auto options = options_for(server);
  options.headers = {{"X-Always", "a"}, {"X-Empty", ""}};
  options.bearer_token = "secret";
  Transport transport = make_transport(options);
  SendOptions send;
  send.headers = {{"X-Once", "b"}};
  REQUIRE(exchange(transport, call_json(1), send));

  const Request request = server.requests().at(0);
  CHECK(request.method == "POST");
  CHECK(request.target == "/mcp");
  CHECK(request.version == "HTTP/1.1");
  CHECK(request.body == call_json(1));
  CHECK(request.header("Content-Type") == "application/json");
  CHECK(request.header("Accept") == "application/json, text/event-stream");
  CHECK(request.header("Content-Length") == std::to_string(call_json(1).size()));
  CHECK(request.header("User-Agent") == "mcphttp/" MCPHTTP_VERSION_STRING);
  CHECK(request.header("Authorization") == "Bearer secret");
  CHECK(request.header("X-Always") == "a");
  CHECK(request.header("X-Empty") == "");
  CHECK(request.header("X-Once") == "b");
  for (const char* name : {"Expect", "Accept-Encoding", "MCP-Session-Id", "MCP-Protocol-Version",
                           "Transfer-Encoding", "Cookie"}) {
    INFO(name);
    CHECK(request.header_count(name) == 0);
  }
  for (const Header& header : request.headers) CHECK(request.header_count(header.name) == 1);
  CHECK(server.faults().empty());
}

TEST_CASE("a body of two megabytes is sent at once and byte for byte") {
  ScriptedServer server(answer_any);
  Transport transport = make_transport(server);
  const std::string json = call_json(1, "{\"a\":\"" + std::string(2'000'000, 'x') + "\"}");
  const auto begun = Clock::now();
  REQUIRE(exchange(transport, json));
  CHECK(server.requests().at(0).body == json);
  CHECK(server.requests().at(0).header_count("Expect") == 0);
  // libcurl waits a second for 100 Continue where it is let.
  CHECK(server.requests().at(0).received_at - begun < 900ms);
}

TEST_CASE("the user agent can be chosen") {
  ScriptedServer server(answer_any);
  auto options = options_for(server);
  options.user_agent = "agent/7";
  Transport transport = make_transport(options);
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(server.requests().at(0).header("User-Agent") == "agent/7");
}

TEST_CASE("a header of a call stands in for the one of the options") {
  ScriptedServer server(answers("{}"));
  auto options = options_for(server);
  options.headers = {{"X-Tenant", "all"}, {"X-Ten", "10"}, {"X-Empty", ""}};
  Transport transport = make_transport(options);
  SendOptions send;
  send.headers = {{"x-tenant", "one"}, {"x-tenant", "two"}, {"X-Empty", "no"}};
  CHECK(exchange(transport, call_json(1), send));
  std::vector<std::string> values;
  const Request request = server.requests().at(0);
  for (const auto& [name, value] : request.headers) {
    if (name.size() > 2 && name[1] == '-') values.push_back(value);
  }
  CHECK(values == std::vector<std::string>{"10", "one", "two", "no"});
}

TEST_CASE("a message that is none of JSON-RPC is refused and nothing is sent") {
  ScriptedServer server(answer_any);
  Transport transport = make_transport(server);
  const auto json = GENERATE(as<std::string>(), "", "{", "[]", "{}", R"({"jsonrpc":"2.0"})",
                             R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
  INFO(json);

  auto response = transport.post(json);
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::invalid_argument);
  CHECK(response.error().delivery == Delivery::not_sent);

  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(json, {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::invalid_argument);
  CHECK(server.connections_accepted() == 0);
}

TEST_CASE("headers of a call are checked before anything is sent") {
  ScriptedServer server(answer_any);
  Transport transport = make_transport(server);
  const auto header =
      GENERATE(Header{"X-A", "line\r\nX-B: c"}, Header{"X A", "b"}, Header{"Accept", "text/html"},
               Header{"mcp-session-id", "stolen"}, Header{"Content-Length", "1"});
  INFO(header.name);
  SendOptions send;
  send.headers = {header};
  auto response = transport.post(call_json(1), send);
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::invalid_argument);
  CHECK(server.connections_accepted() == 0);
}

// --- What comes back

TEST_CASE("a JSON answer is handed out as its message") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    answer_json(connection, request, R"({"a":1})");
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(7));
  REQUIRE(response);
  CHECK(response->kind() == ResponseKind::message);
  CHECK(response->head().status == 200);
  CHECK(*response->head().find("content-type") == "application/json");
  CHECK(response->events() == nullptr);
  auto message = response->message();
  REQUIRE(message);
  CHECK(message->json() == result_json("7", R"({"a":1})"));
  CHECK(message->result() == R"({"a":1})");
  CHECK(response->message().error().code == ErrorCode::invalid_argument);
}

TEST_CASE("the message of an event stream can be had without looking at its events") {
  ScriptedServer server(answers_after(progress_json("1", 1)));
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(7));
  REQUIRE(response);
  CHECK(response->kind() == ResponseKind::stream);
  auto message = response->message();
  REQUIRE(message);
  CHECK(message->id() == "7");
}

TEST_CASE("a notification is accepted with any 2xx, whatever stands in the body") {
  const int status = GENERATE(200, 202, 204);
  ScriptedServer server([status](Connection& connection, const Request&) {
    if (status == 204) {
      connection.write_head(204);
    } else {
      connection.write_response(status, {{"Content-Type", "text/plain"}}, "thank you");
    }
  });
  Transport transport = make_transport(server);
  for (int i = 0; i < 3; ++i) {
    auto response = transport.post(std::string(notification_json));
    REQUIRE(response);
    CHECK(response->kind() == ResponseKind::accepted);
    CHECK(response->message().error().code == ErrorCode::invalid_argument);
  }
  CHECK(server.connections_accepted() == 1);
}

TEST_CASE("a request answered 202 ends at once without a response") {
  ScriptedServer server([](Connection& connection, const Request&) { accept_message(connection); });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::stream_ended_without_response);
  CHECK(response.error().http_status == 202);
}

TEST_CASE("an asynchronous JSON answer comes as head, message and end") {
  ScriptedServer server(answer_any);
  Transport transport = make_transport(server);
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(7), {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(recorder->wait_headers());
  REQUIRE(recorder->message());
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::answered);
  CHECK(recorder->end()->figures.bytes_sent == call_json(7).size());
  CHECK(recorder->end()->figures.bytes_received == recorder->message()->size());
  CHECK_FALSE(recorder->end()->figures.connection_reused);
  CHECK_FALSE(recorder->misused());
}

TEST_CASE("a refusal is an error that says what the server said") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_response(503, {{"Content-Type", "text/plain"}, {"Retry-After", "7"}},
                              "come back\x01later");
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE_FALSE(response);
  const Error& error = response.error();
  CHECK(error.code == ErrorCode::http_error);
  CHECK(error.http_status == 503);
  CHECK(error.delivery == Delivery::answered);
  CHECK(error.retry_after == 7s);
  CHECK(error.content_type == "text/plain");
  CHECK(error.diagnostic.text == "come back\\x01later");
  CHECK_FALSE(error.diagnostic.truncated);
  CHECK(error.detail.find("come back") == std::string::npos);
}

TEST_CASE("a JSON-RPC error is the answer at any status") {
  const int status = GENERATE(200, 400, 404, 500);
  ScriptedServer server([status](Connection& connection, const Request& request) {
    connection.write_response(status, {{"Content-Type", "application/json"}},
                              R"({"jsonrpc":"2.0","id":)" + id_of(request) +
                                  R"(,"error":{"code":-32602,"message":"no such tool"}})");
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->head().status == status);
  auto message = response->message();
  REQUIRE(message);
  CHECK(message->error_code() == -32602);
}

TEST_CASE("a challenge makes the refusal unauthorized, and the challenge is kept") {
  const int status = GENERATE(401, 403);
  ScriptedServer server([status](Connection& connection, const Request&) {
    connection.write_response(status, {{"WWW-Authenticate", "Bearer realm=\"x\""}}, "");
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::unauthorized);
  CHECK(response.error().http_status == status);
  CHECK(response.error().www_authenticate == "Bearer realm=\"x\"");
}

TEST_CASE("a coding that nobody asked for is refused, and hides no status") {
  const int status = GENERATE(200, 404);
  const auto header =
      GENERATE(Header{"Content-Encoding", "gzip"}, Header{"Transfer-Encoding", "gzip, chunked"});
  ScriptedServer server([status, header](Connection& connection, const Request&) {
    connection.write_head(status, {{"Content-Type", "application/json"}, header});
    connection.close();
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE_FALSE(response);
  CHECK(response.error().code ==
        (status == 200 ? ErrorCode::bad_content_encoding : ErrorCode::http_error));
  CHECK(response.error().http_status == status);
}

TEST_CASE("a header line that libcurl does not take is headers_too_large, whatever the limit") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_response(200, {{"X-Long", std::string(200'000, 'x')}}, "{}");
  });
  auto options = options_for(server);
  options.limits.max_header_size = std::size_t{1} << 20;
  Transport transport = make_transport(options);
  const auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::headers_too_large);
  CHECK(message.error().detail.find("100 KiB") != std::string::npos);
}

TEST_CASE("a body cut short of its Content-Length is no answer") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_head(200, {{"Content-Type", "application/json"}, {"Content-Length", "500"}});
    connection.write(R"({"jsonrpc":)");
    connection.close();
  });
  Transport transport = make_transport(server);
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::body_truncated);
  CHECK(message.error().delivery == Delivery::unknown);
}

TEST_CASE("warnings of a blocking call come on the calling thread") {
  ScriptedServer server(answers_after("{broken"));
  auto options = options_for(server);
  std::vector<std::thread::id> threads;
  std::vector<WarningKind> kinds;
  options.on_warning = [&](const Warning& warning) {
    threads.push_back(std::this_thread::get_id());
    note_seen(warning);
    kinds.push_back(warning.kind);
  };
  Transport transport = make_transport(options);
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(threads == std::vector{std::this_thread::get_id()});
  CHECK(kinds == std::vector{WarningKind::malformed_event});
}

TEST_CASE("the endpoint can be a Unix socket, where a bearer token crosses no network") {
  const std::string path = "/tmp/mcphttp-test-" + std::to_string(getpid()) + ".sock";
  ServerOptions at;
  at.unix_socket_path = path;
  ScriptedServer server(answer_any, at);
  TransportOptions options;
  options.url = "http://tools.example/mcp";
  options.unix_socket_path = path;
  options.bearer_token = "secret";
  Transport transport = make_transport(options);
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(server.requests().at(0).header("Host") == "tools.example");
}

TEST_CASE("a bearer token is refused over http to a host that is not loopback, unless allowed") {
  TransportOptions options;
  options.url = "http://192.0.2.1/mcp";
  options.bearer_token = "secret";
  const auto refused = Transport::create(options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().to_string().find("secret") == std::string::npos);
  options.allow_bearer_over_http = true;
  CHECK(Transport::create(options));
  options.allow_bearer_over_http = false;
  options.url = "https://192.0.2.1/mcp";
  CHECK(Transport::create(options));
}

TEST_CASE("a host that refuses connections is connect_failed, and nothing was sent") {
  TransportOptions options;
  {
    const Socket unused = listen_loopback(AF_INET, 0);
    options.url = "http://127.0.0.1:" + std::to_string(local_port(unused)) + "/mcp";
  }
  Transport transport = make_transport(options);
  auto response = transport.post(call_json(1));
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::connect_failed);
  CHECK(response.error().delivery == Delivery::not_sent);
}

// --- Sessions

TEST_CASE("session id and revision come from initialize and are sent from then on") {
  ScriptedServer server(with_session("abc-123"));
  Transport transport = make_transport(server);
  CHECK(transport.session().id.empty());
  REQUIRE(exchange(transport, initialize_json));
  CHECK(transport.session().id == "abc-123");
  CHECK(transport.session().protocol_version == "2025-11-25");
  REQUIRE(transport.post(std::string(notification_json)));
  REQUIRE(exchange(transport, call_json(2)));
  const auto requests = server.requests();
  CHECK(requests.at(0).header_count("MCP-Session-Id") == 0);
  CHECK(requests.at(0).header_count("MCP-Protocol-Version") == 0);
  for (std::size_t i : {1U, 2U}) {
    CHECK(requests.at(i).header("MCP-Session-Id") == "abc-123");
    CHECK(requests.at(i).header("MCP-Protocol-Version") == "2025-11-25");
  }
}

TEST_CASE("a session id that cannot be sent back is refused") {
  const auto id = GENERATE(as<std::string>(), "two words", "t\xC3\xA4g", std::string(1025, 'x'));
  ScriptedServer server(with_session(id));
  Transport transport = make_transport(server);
  auto message = exchange(transport, initialize_json);
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::bad_session_id);
  CHECK(transport.session().id.empty());
}

TEST_CASE("404 to a request of a session is its end, whatever the body") {
  ScriptedServer server([answer = with_session("s")](Connection& connection,
                                                     const Request& request) {
    if (request.header_count("MCP-Session-Id") == 0) return answer(connection, request);
    connection.write_response(404, {{"Content-Type", "application/json"}},
                              R"({"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":""}})");
  });
  Transport transport = make_transport(server);
  REQUIRE(exchange(transport, initialize_json));
  auto message = exchange(transport, call_json(2));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::session_expired);
  CHECK(transport.session().id.empty());
  CHECK(exchange(transport, call_json(3)));
}

// --- Redirects

TEST_CASE("307 and 308 inside the origin are followed with method, body and headers") {
  const int status = GENERATE(307, 308);
  ScriptedServer server([status](Connection& connection, const Request& request) {
    if (request.target == "/moved/mcp") return answer_json(connection, request);
    connection.write_response(status, {{"Location", "/moved/mcp"}}, "over there");
  });
  auto options = options_for(server);
  options.bearer_token = "secret";
  Transport transport = make_transport(options);
  REQUIRE(exchange(transport, call_json(1)));
  const auto requests = server.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[1].method == "POST");
  CHECK(requests[1].target == "/moved/mcp");
  CHECK(requests[1].body == requests[0].body);
  CHECK(requests[1].header("Authorization") == "Bearer secret");
  CHECK(server.connections_accepted() == 1);
}

TEST_CASE("any other redirect is refused with its location, and nothing follows it") {
  ScriptedServer other(answer_any);
  struct Case {
    std::string name;
    int status;
    std::string location;
    Redirects redirects;
  };
  const auto redirect =
      GENERATE_REF(Case{"another port", 307, other.url(), Redirects::same_origin},
                   Case{"another host", 308, other.localhost_url(), Redirects::same_origin},
                   Case{"302", 302, "/moved", Redirects::same_origin},
                   Case{"303", 303, "/moved", Redirects::same_origin},
                   Case{"301 elsewhere", 301, other.url(), Redirects::same_origin},
                   Case{"no location", 307, "", Redirects::same_origin},
                   Case{"another scheme", 307, "ftp://127.0.0.1/mcp", Redirects::same_origin},
                   Case{"switched off", 307, "/moved", Redirects::none});
  INFO(redirect.name);
  ScriptedServer server([redirect](Connection& connection, const Request&) {
    std::vector<Header> headers;
    if (!redirect.location.empty()) headers.push_back({"Location", redirect.location});
    connection.write_response(redirect.status, headers, "");
  });
  auto options = options_for(server);
  options.redirects = redirect.redirects;
  options.bearer_token = "secret";
  Transport transport = make_transport(options);
  auto response = transport.post(call_json(1));
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::redirect_refused);
  CHECK(response.error().location == redirect.location);
  CHECK(response.error().http_status == redirect.status);
  CHECK(server.requests().size() == 1);
  CHECK(other.connections_accepted() == 0);
}

TEST_CASE("no more than max_redirects are followed") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    connection.write_response(307, {{"Location", request.target + "x"}}, "");
  });
  auto options = options_for(server);
  options.max_redirects = GENERATE(0, 3);
  Transport transport = make_transport(options);
  auto response = transport.post(call_json(1));
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::redirect_refused);
  CHECK(response.error().detail.find("max_redirects") != std::string::npos);
  CHECK(server.requests().size() == static_cast<std::size_t>(options.max_redirects) + 1);
}

TEST_CASE("a host name without an address is resolve_failed, and nothing was sent") {
  TransportOptions options;
  options.url = "http://" + std::string(64, 'x') + ".invalid/mcp";  // longer than a label can be
  Transport transport = make_transport(options);
  const auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::resolve_failed);
  CHECK(message.error().delivery == Delivery::not_sent);
}

TEST_CASE("a JSON body that answers another request is id_mismatch") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_response(200, {{"Content-Type", "application/json"}}, result_json("2"));
  });
  Transport transport = make_transport(server);
  CHECK(code_of(exchange(transport, call_json(1))) == ErrorCode::id_mismatch);
}

TEST_CASE("a stream of server messages that is refused later is reported, and given up") {
  std::atomic<int> times{0};
  ScriptedServer server([&](Connection& connection, const Request&) {
    if (times++ > 0) return static_cast<void>(connection.write_response(410, {}, ""));
    begin_stream(connection);
    connection.end_chunks();
  });
  auto options = options_for(server);
  std::vector<WarningKind> kinds;
  options.on_warning = [&](const Warning& warning) {
    note_seen(warning);
    kinds.push_back(warning.kind);
  };
  options.reconnection = {1ms, 2ms, 5};
  Transport transport = make_transport(options);
  const auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_stream({}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::http_error);
  CHECK(kinds == std::vector{WarningKind::stream_not_reopened});
}
