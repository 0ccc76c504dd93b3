// Servers that never stop sending: what a client reads and keeps of them. The client runs in a
// process of its own (bounded_client).
#include <algorithm>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "helpers.hpp"
#include "support/child_process.hpp"
#include "support/memory.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t mebibyte = 1024 * kibibyte;
// The most that libcurl hands out at a time.
constexpr std::size_t one_write = 64 * kibibyte;

void serve_without_end(Connection& connection, const Request& request) {
  const std::string filling(64 * kibibyte, 'x');
  if (request.target == "/json") {
    connection.write_head(200, {{"Content-Type", "application/json"}});
    connection.write(R"({"jsonrpc":"2.0","id":1,"result":")");
    return write_for_ever(connection, filling);
  }
  if (request.target == "/json-error") {
    connection.write_head(500, {{"Content-Type", "application/json"}});
    connection.write(R"({"jsonrpc":"2.0","id":1,"error":")");
    return write_for_ever(connection, filling);
  }
  if (request.target == "/line") {
    connection.write_head(200, {{"Content-Type", "text/event-stream"}});
    connection.write("data: ");
    return write_for_ever(connection, filling);
  }
  if (request.target == "/lines") {
    connection.write_head(200, {{"Content-Type", "text/event-stream"}});
    return write_for_ever(connection, "data: x\n");
  }
  if (request.target == "/page") {
    connection.write_head(500, {{"Content-Type", "text/html"}});
    return write_for_ever(connection, filling);
  }
  if (request.target == "/head") {
    connection.write("HTTP/1.1 200 OK\r\n");
    return write_for_ever(connection, "X-More: to come\r\n");
  }
  answer_json(connection, request);
}

std::string client_program() {
  return std::filesystem::path(self_executable()).replace_filename("bounded_client").string();
}

}  // namespace

TEST_CASE("a server that never stops is left at the limit, and the client is as good as before") {
  struct Case {
    std::string what;
    std::string code;
    std::string detail;
    std::size_t limit;
    std::size_t kept;
  };
  const auto endless = GENERATE(
      Case{"json", "json_too_large", "max_json_response_size (1048576 bytes)", mebibyte, 0},
      Case{"json-error", "json_too_large", "max_json_response_size (1048576 bytes)", mebibyte, 0},
      Case{"line", "event_too_large", "max_sse_event_size (1048576 bytes)", mebibyte, 0},
      Case{"lines", "event_too_large", "max_sse_event_size (1048576 bytes)", 8 * mebibyte, 0},
      Case{"page", "http_error", "HTTP 500", 64 * kibibyte, 64 * kibibyte},
      Case{"head", "headers_too_large", "max_header_size (65536 bytes)", 64 * kibibyte, 0});
  INFO(endless.what);
  ScriptedServer server(serve_without_end);
  const ChildResult child = run_child(client_program(), {server.url(""), endless.what});
  INFO(child.errors);
  REQUIRE(child.succeeded());
  const auto report = nlohmann::json::parse(child.output);
  INFO(report.dump());
  CHECK(report["code"] == endless.code);
  CHECK(report["detail"].get<std::string>().find(endless.detail) != std::string::npos);
  CHECK(report["received"] <= endless.limit + one_write);
  if (endless.kept != 0) {
    CHECK(report["kept"] == endless.kept);
    CHECK(report["truncated"] == true);
  }
  CHECK(report["usable"] == true);
  if (!built_with_sanitizers()) {
    CHECK(report["measured"] == true);
    CHECK(report["growth"] < std::min(endless.limit, mebibyte) + 2 * mebibyte);
  }
}

TEST_CASE("a Content-Length over the limit is refused before any of the body is read") {
  ScriptedServer server([](Connection& connection, const Request&) {
    connection.write_head(
        200, {{"Content-Type", "application/json"}, {"Content-Length", "1000000000000"}});
    connection.peer_closed(guard);
  });
  Transport transport = make_transport(server);
  const auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::json_too_large);
  CHECK(eventually([&] { return server.connections_open() == 0; }));
}

TEST_CASE("a JSON body as long as the limit passes, and one byte more does not") {
  const std::size_t over = GENERATE(0U, 1U);
  const bool in_small_pieces = GENERATE(false, true);
  constexpr std::size_t limit = 20'000;
  ScriptedServer server([over, in_small_pieces](Connection& connection, const Request& request) {
    const std::string empty = result_json(id_of(request), "\"\"");
    const std::string body =
        result_json(id_of(request), "\"" + std::string(limit + over - empty.size(), 'x') + "\"");
    connection.write_head(200,
                          {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}});
    const std::size_t piece = in_small_pieces ? 7 : body.size();
    for (std::size_t at = 0; at < body.size(); at += piece) {
      if (!connection.write_chunk(std::string_view(body).substr(at, piece))) return;
    }
    connection.end_chunks();
  });
  auto options = options_for(server);
  options.limits.max_json_response_size = limit;
  Transport transport = make_transport(options);
  const auto message = exchange(transport, call_json(1));
  if (over == 0) {
    REQUIRE(message);
    CHECK(message->json().size() == limit);
  } else {
    REQUIRE_FALSE(message);
    CHECK(message.error().code == ErrorCode::json_too_large);
  }
}

TEST_CASE("max_stream_size bounds the whole event stream") {
  ScriptedServer server([](Connection& connection, const Request&) {
    begin_stream(connection);
    write_for_ever(connection, chunk(event(progress_json("1", 1))));
  });
  auto options = options_for(server);
  options.limits.max_stream_size = 100'000;
  Transport transport = make_transport(options);
  const auto response = transport.post(call_json(1));
  REQUIRE(response);
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(2), {}, recorder);
  REQUIRE(recorder->wait_end());
  CHECK(recorder->error() == ErrorCode::stream_too_large);
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::limit);
  CHECK(recorder->events().size() == 100'000 / event(progress_json("1", 1)).size());
}
