// What the gateway passes on, and what it does not: every shape of answer, every ending.
#include <sys/socket.h>

#include <atomic>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "era_server.hpp"
#include "gateway_process.hpp"
#include "helpers.hpp"
#include "support/raw_client.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

const std::string call = tool_call_json(1, "t");
const std::string spaced = R"( {"jsonrpc":"2.0", "id":1, "result":{"a" : 1.50, "b":"\u0041"}} )";

void answer_progress_then_result(Connection& connection, const Request& request,
                                 const std::function<void()>& between) {
  begin_stream(connection);
  send_event(connection, progress_json("1", 1));
  between();
  send_event(connection, result_json(id_of(request)));
  connection.end_chunks();
}

std::string field(const Response& response, const char* name) {
  const std::string* value = response.head().find(name);
  return value == nullptr ? "" : *value;
}

RawClient raw_client(const GatewayProcess& gateway) {
  return RawClient(connect_loopback(AF_INET, gateway.port()));
}

// The status of the first answer to these bytes; 0 if there is none.
int status_of(const GatewayProcess& gateway, const std::string& bytes) {
  RawClient client = raw_client(gateway);
  client.send(bytes);
  const std::string answer = client.read(12).bytes;
  return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
}

}  // namespace

TEST_CASE("A client sees an event before the upstream's answer exists") {
  Gate seen;
  std::atomic<bool> waited_in_vain{false};
  const TemporaryFolder folder;
  ServerOptions server_options;
  server_options.unix_socket_path = folder.file("socket");
  ScriptedServer server(
      [&](Connection& connection, const Request& request) {
        answer_progress_then_result(connection, request, [&] { waited_in_vain = !seen.wait(); });
      },
      server_options);
  const bool by_unix_socket = GENERATE(false, true);
  const GatewayProcess gateway =
      by_unix_socket
          ? GatewayProcess("http://localhost:1/mcp", {"--unix-socket", folder.file("socket")})
          : GatewayProcess(server.url());
  Downstream client(gateway.url());
  auto response = client.send(call);
  REQUIRE(response);
  CHECK(response->read() == event(progress_json("1", 1)));
  seen.open();
  CHECK(rest_of(*response) == event(result_json("1")));
  CHECK(response->end().reason == ExchangeEnd::Reason::answered);
  CHECK_FALSE(waited_in_vain);
}

TEST_CASE("All progress and logging of a call arrives, in order") {
  const Era era = GENERATE(Era::legacy, Era::modern);
  EraServer server(era, [](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 1; i <= 5; ++i) {
      send_event(connection, progress_json(progress_token_of(request), i));
      send_event(connection, R"({"jsonrpc":"2.0","method":"notifications/message",)"
                             R"("params":{"level":"info","data":"step"}})");
    }
    send_event(connection, result_json(id_of(request), R"({"content":[]})"));
    connection.end_chunks();
  });
  const GatewayProcess gateway(server.http().url());
  ClientOptions options = server.options();
  options.url = gateway.url();
  Client client = mcphttp::test::connect(std::move(options));
  std::vector<double> steps;
  std::size_t logged = 0;
  CallOptions with_hooks;
  with_hooks.on_progress = [&](const Progress& progress) { steps.push_back(progress.progress); };
  with_hooks.on_notification = [&](const Message&) { ++logged; };
  CHECK(client.call_tool("t", "{}", with_hooks));
  CHECK(steps == std::vector<double>{1, 2, 3, 4, 5});
  CHECK(logged == 5);
}

TEST_CASE("A JSON answer is byte for byte the one without the gateway") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_response(200, {{"Content-Type", "application/json"}, {"ETag", "\"x\""}},
                              spaced);
  });
  const GatewayProcess gateway(server.url());
  std::vector<std::string> bodies;
  for (const std::string& url : {server.url(), gateway.url()}) {
    Downstream client(url);
    auto response = client.send(call, "POST", {{"X-Mine", "yes"}});
    REQUIRE(response);
    CHECK(field(*response, "ETag") == "\"x\"");
    bodies.push_back(rest_of(*response));
  }
  CHECK(bodies[0] == spaced);
  CHECK(bodies[1] == spaced);
  const Request forwarded = server.requests().back();
  CHECK(forwarded.header("X-Mine") == "yes");
  CHECK_FALSE(forwarded.header("REMOTE_ADDR"));
}

TEST_CASE("Nothing is compressed, for whoever asks for it") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    const char* type = request.method == "GET" ? "text/event-stream; charset=utf-8"
                                               : "application/json; charset=utf-8";
    connection.write_response(200, {{"Content-Type", type}},
                              request.method == "GET" ? event(progress_json("1", 1)) : spaced);
  });
  const GatewayProcess gateway(server.url());
  RawClient client = raw_client(gateway);
  client.send(raw_post(call, "Accept-Encoding: gzip, br\r\nConnection: close\r\n"));
  CHECK_THAT(client.read_all().bytes, Catch::EndsWith("\r\n\r\n" + spaced));
  RawClient reader = raw_client(gateway);
  reader.send(
      "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
      "Connection: close\r\n\r\n");
  CHECK_THAT(reader.read_all().bytes, Catch::Contains(event(progress_json("1", 1))));
  for (const Request& request : server.requests()) CHECK_FALSE(request.header("Accept-Encoding"));
}

TEST_CASE("Refusals and acceptances of upstream pass as they are") {
  const int status = GENERATE(202, 204, 400, 401, 404, 500);
  CAPTURE(status);
  const std::string body = status < 300 ? "" : "<html>no</html>";
  ScriptedServer server([&](Connection& connection, const Request&) {
    std::vector<Header> headers{{"WWW-Authenticate", "Bearer"}};
    if (!body.empty()) headers.push_back({"Content-Type", "text/html"});
    if (status == 204) {
      connection.write_head(status, headers);
    } else {
      connection.write_response(status, headers, body);
    }
  });
  const GatewayProcess gateway(server.url());
  Downstream client(gateway.url());
  auto response = client.send(GENERATE(std::string(notification_json), tool_call_json(1, "t")));
  REQUIRE(response);
  CHECK(response->head().status == status);
  CHECK(field(*response, "WWW-Authenticate") == "Bearer");
  CHECK(rest_of(*response) == body);
}

TEST_CASE("A session is opened, used and ended through the gateway") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (request.method == "DELETE") return accept_message(connection);
    connection.write_response(200, {{"Content-Type", "application/json"}, {"MCP-Session-Id", "s1"}},
                              result_json(id_of(request)));
  });
  const GatewayProcess gateway(server.url());
  Downstream client(gateway.url());
  auto response = client.send(call);
  REQUIRE(response);
  CHECK(field(*response, "MCP-Session-Id") == "s1");
  rest_of(*response);
  REQUIRE(client.send("", "DELETE", {{"MCP-Session-Id", "s1"}}));
  CHECK(server.requests().back().method == "DELETE");
  CHECK(server.requests().back().header("MCP-Session-Id") == "s1");
}

// --- Endings

TEST_CASE("An event over the limit ends the stream with an error that names it") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    answer_progress_then_result(connection, request,
                                [&] { send_event(connection, std::string(2000, 'x')); });
  });
  const GatewayProcess gateway(server.url(), {"--max-message", "1000"});
  Downstream client(gateway.url());
  auto response = client.send(call);
  REQUIRE(response);
  const std::string bytes = rest_of(*response);
  CHECK_THAT(bytes, Catch::StartsWith(event(progress_json("1", 1))));
  CHECK_THAT(bytes, Catch::Contains(R"("id":1,"error":{"code":-32603,"message":"event_too_large)"));
  CHECK(response->end().reason == ExchangeEnd::Reason::answered);
  CHECK(gateway.wait_for_line({{"event", "end"}, {"upstream", "limit"}}).is_object());
}

TEST_CASE("A stream that breaks off upstream does not look complete") {
  ScriptedServer server([](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    connection.close();
  });
  const GatewayProcess gateway(server.url());
  Downstream client(gateway.url());
  auto response = client.send(call);
  REQUIRE(response);
  CHECK(rest_of(*response) == event(progress_json("1", 1)));
  CHECK(response->end().reason == ExchangeEnd::Reason::cut);
  CHECK(gateway.wait_for_line({{"event", "end"}, {"downstream", "aborted"}, {"upstream", "cut"}})
            .is_object());
}

TEST_CASE("A client that leaves during silence lets go of the upstream") {
  Gate let_go;
  ScriptedServer server([&](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    if (connection.peer_closed(guard)) let_go.open();
  });
  const GatewayProcess gateway(server.url());
  {
    Downstream client(gateway.url());
    auto response = client.send("", "GET");
    REQUIRE(response);
    CHECK(response->read() == event(progress_json("1", 1)));
  }
  CHECK(let_go.wait());
  CHECK(gateway.wait_for_line({{"event", "end"}, {"downstream", "gone"}}).is_object());
}

TEST_CASE("No upstream at all is a 502 of the gateway's own, with the id") {
  const GatewayProcess gateway("http://127.0.0.1:1/mcp");
  Downstream client(gateway.url());
  auto response = client.send(tool_call_json(7, "t"));
  REQUIRE(response);
  CHECK(response->head().status == 502);
  CHECK_THAT(rest_of(*response),
             Catch::Contains(R"("id":7,"error")") && Catch::Contains("connect_failed"));
}

TEST_CASE("At a signal calls may end, streams are ended, and the exit is in order") {
  Gate may_end;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    if (request.method == "GET") {
      begin_stream(connection);
      send_event(connection, progress_json("1", 1));
      connection.peer_closed(guard);
      return may_end.open();
    }
    answer_progress_then_result(connection, request, [&] { may_end.wait(); });
  });
  GatewayProcess gateway(server.url(), {"--grace", "20"});
  Downstream client(gateway.url());
  auto stream = client.send("", "GET");
  auto answer = client.send(call);
  REQUIRE(stream);
  REQUIRE(answer);
  CHECK(stream->read());
  CHECK(answer->read());
  CHECK(gateway.stop().succeeded());
  CHECK(rest_of(*answer) == event(result_json("1")));
  rest_of(*stream);
  CHECK(stream->end().reason == ExchangeEnd::Reason::cut);
}

// --- Requests

TEST_CASE("Streams of GET leave connections for calls") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (request.method != "GET") return answer_json(connection, request);
    begin_stream(connection);
    connection.peer_closed(guard);
  });
  const GatewayProcess gateway(server.url(), {"--connections", "4"});
  Downstream client(gateway.url());
  const auto first = client.send("", "GET");
  const auto second = client.send("", "GET");
  const auto third = client.send("", "GET");
  REQUIRE(third);
  CHECK(second->head().status == 200);
  CHECK(third->head().status == 503);
  const auto answer = client.send(call);
  REQUIRE(answer);
  CHECK(answer->head().status == 200);
}

TEST_CASE("Hosts and origins that were not allowed reach nothing") {
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  const GatewayProcess gateway(
      server.url(), {"--allow-host", "gate.example", "--allow-origin", "https://app.example"});
  struct Row {
    const char* host;
    const char* origin;
    int status;
  };
  const auto row = GENERATE(values<Row>({
      {"localhost", nullptr, 200},
      {"127.0.0.1:1", "http://localhost:5173", 200},
      {"[::1]:80", "http://[::1]", 200},
      {"gate.example:8080", "https://app.example", 200},
      {"gate.example", "https://gate.example", 200},
      {"evil.example", nullptr, 403},
      {"localhost", "http://evil.example", 403},
      {"localhost", "https://app.example:1", 403},
      {"localhost", "null", 403},
      {"localhost.evil.example", nullptr, 403},
  }));
  CAPTURE(row.host, row.origin == nullptr ? "" : row.origin);
  std::string head = std::string("POST /mcp HTTP/1.1\r\nHost: ") + row.host + "\r\n";
  if (row.origin != nullptr) head += std::string("Origin: ") + row.origin + "\r\n";
  head += "Content-Type: application/json\r\nContent-Length: " + std::to_string(call.size());
  CHECK(status_of(gateway, head + "\r\n\r\n" + call) == row.status);
  CHECK(server.requests().size() == (row.status == 200 ? 1 : 0));
}

TEST_CASE("What cannot be carried is refused, and its body is no second request") {
  ScriptedServer server(
      [](Connection& connection, const Request& request) { answer_json(connection, request); });
  const GatewayProcess gateway(server.url(), {"--max-request", "100"});
  const std::string start = " HTTP/1.1\r\nHost: localhost\r\n";
  const std::string hidden = "GET /mcp" + start + "\r\n";
  const std::string sized =
      "Content-Length: " + std::to_string(hidden.size()) + "\r\n\r\n" + hidden;
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n40\r\n" + std::string(64, ' ') +
                              "\r\n40\r\n" + std::string(64, ' ') + "\r\n0\r\n\r\n";
  const std::string json = "Content-Type: application/json\r\n";
  struct Row {
    std::string bytes;
    int status;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {"PUT /mcp" + start + sized, 405},
      {"OPTIONS /mcp" + start + "\r\n", 405},
      {"HEAD /mcp" + start + "\r\n", 405},
      {"POST /other" + start + json + sized, 404},
      {"GET /mcp?a=b" + start + "\r\n", 404},
      {"GET /mcp" + start + sized, 400},
      {"DELETE /mcp" + start + chunked, 400},
      {"POST /mcp" + start + json + "Transfer-Encoding: chunked\r\n" + sized, 400},
      {"POST /mcp" + start + json + "Host: localhost\r\n" + sized, 400},
      {"POST /mcp" + start + json + "\r\n", 400},
      {"POST /mcp" + start + json + "Content-Encoding: gzip\r\n" + sized, 415},
      {"POST /mcp" + start + "Content-Type: multipart/form-data; boundary=x\r\n" + sized, 415},
      {"GET /mcp" + start + "Range: bytes=0-1,3-4\r\n\r\n", 415},
      {"POST /mcp" + start + json + chunked, 413},
      {raw_post(std::string(101, ' ')), 413},
      {raw_post("[" + call + "]"), 400},
      {raw_post("{"), 400},
  }));
  CAPTURE(row.bytes);
  CHECK(status_of(gateway, row.bytes) == row.status);
  CHECK(server.requests().empty());
  for (const Json& line : gateway.audit()) CHECK(line["request"] == 1);
}
