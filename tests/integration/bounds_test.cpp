// Bodies and streams around their limits. Those without end, and the memory they take, are in
// hostile/.
#include <string>

#include <catch2/catch.hpp>

#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

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
