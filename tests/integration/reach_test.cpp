// Other ways to a server than any address and a TCP connection: Unix sockets, and a local address
// to send from.
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "helpers.hpp"
#include "peers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

void answer(Connection& connection, const Request& request) { answer_json(connection, request); }

// A scripted server that listens on a Unix socket as well.
class UnixServer {
 public:
  explicit UnixServer(ScriptedServer::Handler handler) : server_(std::move(handler), on(path())) {}

  std::string path() const { return folder_.file("socket"); }
  const ScriptedServer& http() const { return server_; }
  TransportOptions options() const {
    TransportOptions options;
    options.url = "http://tools.example/mcp";
    options.unix_socket_path = path();
    return options;
  }

 private:
  static ServerOptions on(const std::string& path) {
    ServerOptions options;
    options.unix_socket_path = path;
    return options;
  }

  Folder folder_;
  ScriptedServer server_;
};

Error failure_of(const TransportOptions& options, const std::string& json = call_json(1)) {
  Transport transport = make_transport(options);
  auto message = exchange(transport, json);
  return message ? Error() : message.error();
}

}  // namespace

// --- Unix sockets

TEST_CASE("calls over a Unix socket to nginx use one connection and name the URL's host") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    if (id_of(request) == "2") return answer_events(connection, request);
    answer_json(connection, request);
  });
  const Nginx front(server);
  TransportOptions options;
  options.url = "http://tools.example/mcp?x=1";
  options.unix_socket_path = front.unix_socket();
  options.headers = {{"X-Extra", "1"}};
  options.bearer_token = "hush";  // which a Unix socket does not take out of the host
  Transport transport = make_transport(options);
  SendOptions send;
  send.headers = {{"X-More", "2"}};
  for (int i = 1; i < 4; ++i) REQUIRE(exchange(transport, call_json(i), send));
  std::set<std::string> connections;
  for (const Request& request : server.requests()) {
    connections.insert(request.header("X-Connection").value_or(""));
    CHECK(request.target == "/mcp?x=1");
    CHECK(request.header("X-Extra") == "1");
    CHECK(request.header("X-More") == "2");
    CHECK(request.header("Authorization") == "Bearer hush");
  }
  CHECK(connections.size() == 1);
}

TEST_CASE("the Host of the URL is sent over a Unix socket") {
  UnixServer server(answer);
  Transport transport = make_transport(server.options());
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(server.http().requests().at(0).header("Host") == "tools.example");
}

TEST_CASE("events arrive over a Unix socket while the server is still silent") {
  Gate seen;
  UnixServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    seen.wait();
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  Transport transport = make_transport(server.options());
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->events()->next());
  CHECK(seen.times_opened() == 0);
  seen.open();
  auto last = response->events()->next();
  REQUIRE(last);
  CHECK(last->is_response());
}

TEST_CASE("limits and judgements are the same over a Unix socket") {
  struct Case {
    std::string name;
    int status;
    std::string type;
    std::string body;
    ErrorCode code;
  };
  const std::string large(2000, 'x');
  const auto reply = GENERATE_COPY(
      Case{"JSON", 200, "application/json", "\"" + large + "\"", ErrorCode::json_too_large},
      Case{"event", 200, "text/event-stream", "data: " + large, ErrorCode::event_too_large},
      Case{"type", 200, "text/html", "<p>", ErrorCode::bad_content_type},
      Case{"error page", 500, "text/plain", large, ErrorCode::http_error},
      Case{"cut event", 200, "text/event-stream", "data: {",
           ErrorCode::stream_ended_without_response});
  INFO(reply.name);
  UnixServer server([reply](Connection& connection, const Request&) {
    connection.write_response(reply.status, {{"Content-Type", reply.type}}, reply.body);
  });
  auto options = server.options();
  options.limits.max_json_response_size = 1000;
  options.limits.max_sse_event_size = 1000;
  options.limits.max_error_response_size = 1000;
  const Error error = failure_of(options);
  CHECK(error.code == reply.code);
  CHECK(error.diagnostic.text.size() <= 1000);
}

TEST_CASE("a session is kept over a Unix socket, lost there, and its streams taken up again") {
  UnixServer server([](Connection& connection, const Request& request) {
    if (request.method == "GET") {
      begin_stream(connection);
      send_event(connection, result_json("2"));
      connection.end_chunks();
    } else if (id_of(request) == "1") {
      connection.write_response(
          200, {{"Content-Type", "application/json"}, {"MCP-Session-Id", "s-1"}},
          result_json("1", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
    } else if (id_of(request) == "2") {
      begin_stream(connection);
      connection.write_chunk("id: e-1\nretry: 20\ndata: \n\n");
      connection.close();
    } else {
      connection.write_response(404, {}, "");
    }
  });
  Transport transport = make_transport(server.options());
  REQUIRE(exchange(transport, R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})"));
  CHECK(exchange(transport, call_json(2)));
  CHECK(exchange(transport, call_json(3)).error().code == ErrorCode::session_expired);
  const auto requests = server.http().requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[2].header("Last-Event-ID") == "e-1");
  for (std::size_t i = 1; i < 4; ++i) CHECK(requests[i].header("MCP-Session-Id") == "s-1");
}

TEST_CASE("times hold over a Unix socket") {
  UnixServer server([](Connection& connection, const Request&) { connection.peer_closed(guard); });
  auto options = server.options();
  options.timeouts.headers = 100ms;
  CHECK(failure_of(options).code == ErrorCode::timeout_header);
}

TEST_CASE("a Unix socket that nobody listens on is connect_failed") {
  const Folder folder;
  std::string path = folder.file("socket");
  SECTION("there is none") {}
  SECTION("it is a file") { folder.write("socket", ""); }
  SECTION("its server is gone") { listen_unix(path); }
  TransportOptions options;
  options.url = "http://tools.example/mcp";
  options.unix_socket_path = path;
  const Error error = failure_of(options);
  CHECK(error.code == ErrorCode::connect_failed);
  CHECK(error.detail.find(path) != std::string::npos);
  CHECK(error.delivery == Delivery::not_sent);
}

TEST_CASE("a path that no Unix socket can have is refused") {
  TransportOptions options;
  options.url = "http://tools.example/mcp";
  options.unix_socket_path = "/" + std::string(107, 'x');
  const auto transport = Transport::create(options);
  REQUIRE_FALSE(transport);
  CHECK(transport.error().code == ErrorCode::invalid_argument);
  CHECK(transport.error().detail.find("unix_socket_path") != std::string::npos);
  options.unix_socket_path.pop_back();
  CHECK(failure_of(options).code == ErrorCode::connect_failed);
}

// --- The local address

TEST_CASE("a connection is opened from the address or interface that was asked for") {
  struct Case {
    std::string bound;
    std::string seen;
  };
  const auto local = GENERATE(Case{"", "127.0.0.1"}, Case{"127.0.0.2", "127.0.0.2"},
                              Case{"host!127.0.0.3", "127.0.0.3"}, Case{"lo", "127.0.0.1"},
                              Case{"if!lo", "127.0.0.1"});
  INFO(local.bound);
  ScriptedServer server(answer);
  const Nginx front(server);
  TransportOptions options;
  options.url = front.open_url();
  options.ca_file = certificates().file("ca.pem");
  options.bind_interface = local.bound;
  Transport transport = make_transport(options);
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(server.requests().at(0).header("X-Address") == local.seen);
}

TEST_CASE("an interface or address that this host does not have is connect_failed") {
  ScriptedServer server(answer);
  auto options = options_for(server);
  options.bind_interface = GENERATE(as<std::string>(), "if!nosuch0", "198.51.100.7");
  CAPTURE(options.bind_interface);
  const Error error = failure_of(options);
  CHECK(error.code == ErrorCode::connect_failed);
  CHECK(error.delivery == Delivery::not_sent);
  CHECK(server.requests().empty());
}
