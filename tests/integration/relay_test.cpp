// Relays: live, past an inspector, with a slow downstream, over TCP and over a Unix socket.
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <mcphttp/relay.hpp>
#include <mcphttp/sse_parser.hpp>

#include "helpers.hpp"
#include "support/memory.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mebibyte = std::size_t{1024} * 1024;

enum class Socket { tcp, unix_domain };

// An upstream server, and a transport to it over either kind of socket.
class Upstream {
 public:
  explicit Upstream(Socket socket, ScriptedServer::Handler handler)
      : path_("/tmp/mcphttp_relay_" + std::to_string(::getpid())),
        server_(std::move(handler), server_options(socket, path_)) {
    options.url = server_.url();
    if (socket != Socket::unix_domain) return;
    options.url = "http://localhost:1/mcp";  // nobody listens there
    options.unix_socket_path = path_;
  }

  Result<Response> forward(std::string body, const Timeouts& timeouts = {}) {
    if (!transport_) transport_ = make_transport(options);
    ForwardRequest request;
    request.headers = {{"Content-Type", "application/json"},
                       {"Accept", "application/json, text/event-stream"}};
    request.body = std::move(body);
    request.timeouts = timeouts;
    return transport_->forward(std::move(request));
  }
  const ScriptedServer& server() const { return server_; }

  TransportOptions options;

 private:
  static ServerOptions server_options(Socket socket, const std::string& path) {
    ServerOptions options;
    if (socket == Socket::unix_domain) options.unix_socket_path = path;
    return options;
  }

  const std::string path_;
  ScriptedServer server_;
  std::optional<Transport> transport_;
};

Socket any_socket() { return GENERATE(Socket::tcp, Socket::unix_domain); }

Relay relay_of(Upstream& upstream, RelayOptions options = {}) {
  auto response = upstream.forward(call_json(1));
  REQUIRE(response);
  return Relay(std::move(*response), std::move(options));
}

std::string rest_of(Relay& relay) {
  std::string bytes;
  while (auto more = relay.next()) bytes += *more;
  return bytes;
}

// What a parser makes of a stream, as text.
class Transcript final : public SseSink {
 public:
  static std::string of(std::string_view stream) {
    SseParserOptions options;
    options.comments = true;
    SseParser parser(options);
    Transcript sink;
    CHECK(parser.feed(stream, sink).status == SseParser::Status::ok);
    return sink.text_;
  }
  Flow on_event(const SseEvent& event) override { return note("event", event); }
  Flow on_block(const SseEvent& block) override { return note("block", block); }
  Flow on_comment(std::string_view text) override {
    text_.append(":").append(text).append("\n");
    return Flow::proceed;
  }

 private:
  Flow note(const char* what, const SseEvent& event) {
    text_.append(what).append(" ").append(event.type).append(" '").append(event.data);
    text_.append(event.has_id ? "' id " : "' under ").append(event.last_event_id);
    if (event.retry) text_.append(" retry ").append(std::to_string(*event.retry));
    text_.append("\n");
    return Flow::proceed;
  }
  std::string text_;
};

// Drops a tool from a listing; sees what passes.
class DropTool final : public Inspector {
 public:
  Verdict on_message(const Message* message, bool last) override {
    lasts += last ? 1 : 0;
    if (message == nullptr || message->kind() != Message::Kind::result) return Verdict::pass();
    std::string json(message->json());
    const std::size_t at = json.find(R"({"name":"denied"},)");
    if (at == std::string::npos) return Verdict::pass();
    return Verdict::replace(json.erase(at, 18));
  }
  int lasts = 0;
};

const std::string listing = R"({"tools":[{"name":"denied"},{"name":"allowed"}]})";
const std::string allowed = R"({"tools":[{"name":"allowed"}]})";

}  // namespace

TEST_CASE("an event is seen downstream before the upstream's answer exists") {
  Gate seen;
  std::atomic<bool> waited_in_vain{false};
  Upstream upstream(any_socket(), [&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    waited_in_vain = !seen.wait();
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  const bool inspected = GENERATE(false, true);
  RelayOptions options;
  if (inspected) options.inspector = std::make_shared<DropTool>();
  Relay relay = relay_of(upstream, options);
  CHECK(relay.head().status == 200);
  CHECK(relay.next() == event(progress_json("1", 1)));
  seen.open();
  CHECK(rest_of(relay) == event(result_json("1")));
  CHECK(relay.ending() == RelayEnding::clean);
  CHECK(relay.error() == nullptr);
  CHECK(relay.upstream_end().reason == ExchangeEnd::Reason::answered);
  CHECK_FALSE(waited_in_vain);
}

TEST_CASE("what is relayed parses to what upstream sent") {
  const std::string stream =
      ": hello\r\n\r\nid: 1\r\nretry: 10\r\n\r\ndata: a\rdata:  b\rdata\r\r"
      "event: other\nid\ndata: {\"x\": 1}\n\n:\n\nunknown: x\ndata: " +
      progress_json("1", 1) + "\n\n: " + std::string(5000, 'c') +
      "\nid: 2\ndata:" + result_json("1") + "\n\n";
  Upstream upstream(any_socket(), [&](Connection& connection, const Request&) {
    begin_stream(connection);
    for (std::size_t at = 0; at < stream.size(); at += 37) {
      connection.write_chunk(std::string_view(stream).substr(at, 37));
    }
    connection.end_chunks();
  });
  Relay relay = relay_of(upstream);
  CHECK(Transcript::of(rest_of(relay)) == Transcript::of(stream));
  CHECK(relay.ending() == RelayEnding::clean);
}

TEST_CASE("a JSON answer is byte for byte the same, its head but for the hop too") {
  const std::string text = R"( {"jsonrpc":"2.0", "id":1, "result":{"a" : 1.50}} )";
  Upstream upstream(any_socket(), [&](Connection& connection, const Request&) {
    connection.write_response(
        200, {{"Content-Type", "application/json"}, {"ETag", "\"x\""}, {"Connection", "close"}},
        text);
    connection.close();
  });
  Relay relay = relay_of(upstream);
  CHECK(*relay.head().find("Content-Length") == std::to_string(text.size()));
  CHECK(*relay.head().find("ETag") == "\"x\"");
  CHECK(relay.head().find("Connection") == nullptr);
  CHECK(rest_of(relay) == text);
}

TEST_CASE("a denied tool is gone from a listing in either shape") {
  const bool as_stream = GENERATE(false, true);
  Upstream upstream(any_socket(), [&](Connection& connection, const Request& request) {
    if (as_stream) return answer_events(connection, request, listing);
    answer_json(connection, request, listing);
  });
  const auto inspector = std::make_shared<DropTool>();
  RelayOptions options;
  options.inspector = inspector;
  options.streams = GENERATE(RelayOptions::Streams::live, RelayOptions::Streams::whole);
  Relay relay = relay_of(upstream, options);
  const std::string* length = relay.head().find("Content-Length");
  const bool sized = !as_stream || options.streams == RelayOptions::Streams::whole;
  const std::string body = rest_of(relay);
  CHECK(body == (as_stream ? event(result_json("1", allowed)) : result_json("1", allowed)));
  REQUIRE((length != nullptr) == sized);
  if (sized) CHECK(*length == std::to_string(body.size()));
  CHECK(inspector->lasts == 1);
}

TEST_CASE("a Content-Type carries nothing past an inspector, and answers without a body pass") {
  const std::string secret = result_json("1", R"({"x":"secret"})");
  const std::vector<Header> doubtful =
      GENERATE(std::vector<Header>{}, std::vector<Header>{{"Content-Type", "application/json-seq"}},
               std::vector<Header>{{"Content-Type", "text/plain, application/json"}},
               std::vector<Header>{{"Content-Type", "text/plain"}, {"Content-Type", "text/html"}},
               std::vector<Header>{{"Content-Type", "application/json"}, {"Content-Type", "a/b"}});
  const std::string body = GENERATE_COPY(std::string(), secret);
  const bool is_json = !doubtful.empty() && doubtful.front().value == "application/json";
  Upstream upstream(any_socket(), [&](Connection& connection, const Request&) {
    connection.write_response(is_json ? 200 : 202, doubtful, body);
  });
  RelayOptions options;
  options.inspector = std::make_shared<DropTool>();
  Relay relay = relay_of(upstream, options);
  const int status = relay.head().status;
  const std::string bytes = rest_of(relay);
  CHECK(bytes.find("secret") == std::string::npos);
  if (body.empty() && !is_json) {
    CHECK(status == 202);
    CHECK(relay.error() == nullptr);
  } else {
    CHECK(status == 502);
    REQUIRE(relay.error() != nullptr);
    CHECK(relay.error()->code == ErrorCode::not_inspectable);
  }
  CHECK(relay.ending() == RelayEnding::clean);
}

TEST_CASE("a stream that is not whole in time is refused, or relayed live from its beginning") {
  Gate gate;
  Upstream upstream(any_socket(), [&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    gate.wait();
    send_event(connection, result_json(id_of(request), listing));
    connection.end_chunks();
  });
  RelayOptions options;
  options.inspector = std::make_shared<DropTool>();
  options.streams = RelayOptions::Streams::whole;
  options.whole_within = 50ms;
  SECTION("refused") {
    Relay relay = relay_of(upstream, options);
    CHECK(relay.head().status == 502);
    CHECK(rest_of(relay).find("not whole after whole_within (50 ms)") != std::string::npos);
    CHECK(relay.upstream_end().reason == ExchangeEnd::Reason::cancelled);
    gate.open();
  }
  SECTION("passed") {
    options.uninspected = RelayOptions::Uninspected::pass;
    Relay relay = relay_of(upstream, options);
    CHECK(relay.head().status == 200);
    CHECK(relay.next() == event(progress_json("1", 1)));
    gate.open();
    CHECK(rest_of(relay) == event(result_json("1", listing)));
  }
}

TEST_CASE("an event over the limit ends a relayed stream with its name") {
  Upstream upstream(any_socket(), [&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    send_event(connection, std::string(2000, 'x'));
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  upstream.options.limits.max_sse_event_size = 1000;
  Relay relay = relay_of(upstream);
  CHECK(relay.head().status == 200);
  const std::string bytes = rest_of(relay);
  CHECK(bytes.find(progress_json("1", 1)) != std::string::npos);
  CHECK(bytes.find(R"("id":1,"error":{"code":-32603,"message":"event_too_large: )") !=
        std::string::npos);
  CHECK(relay.ending() == RelayEnding::clean);
  REQUIRE(relay.error() != nullptr);
  CHECK(relay.error()->code == ErrorCode::event_too_large);
}

TEST_CASE("a stream that breaks off upstream is broken off downstream") {
  Upstream upstream(any_socket(), [&](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    connection.close();
  });
  Relay relay = relay_of(upstream);
  relay.head();
  CHECK(rest_of(relay) == event(progress_json("1", 1)));
  CHECK(relay.ending() == RelayEnding::abort);
  CHECK(relay.upstream_end().reason == ExchangeEnd::Reason::cut);
}

TEST_CASE("a downstream that has gone lets go of the upstream") {
  Gate gone;
  Upstream upstream(any_socket(), [&](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    if (connection.peer_closed(guard)) gone.open();
  });
  const auto inspector = std::make_shared<DropTool>();
  {
    RelayOptions options;
    options.inspector = inspector;
    Relay relay = relay_of(upstream, options);
    CHECK(relay.next() == event(progress_json("1", 1)));
  }
  CHECK(inspector->lasts == 1);
  CHECK(gone.wait());
}

// --- Memory

TEST_CASE("comments count toward the queue, so a slow downstream stops the upstream") {
  constexpr std::size_t total = 64 * mebibyte;
  const std::string comment = ":" + std::string(1000, 'c') + "\n";
  std::atomic<std::size_t> taken{0};
  Upstream upstream(any_socket(), [&](Connection& connection, const Request&) {
    begin_stream(connection);
    std::string block;
    while (block.size() < 64 * 1024) block += comment;
    while (taken < total && connection.write_chunk(block)) taken += block.size();
  });
  upstream.options.limits.max_queued_size = 64 * 1024;
  Relay relay = relay_of(upstream);
  REQUIRE(relay.next() == comment + "\n");
  std::size_t before = 0;
  // It stands still: the queue and the kernel's buffers are full.
  REQUIRE(eventually([&] {
    const std::size_t now = taken;
    std::this_thread::sleep_for(200ms);
    return now != 0 && std::exchange(before, now) == taken;
  }));
  CHECK(taken < total / 2);
}

TEST_CASE("a long stream is relayed with flat memory") {
  constexpr std::size_t total = 64 * mebibyte;
  const std::string message = progress_json("1", 1);
  const std::string one = "id: 7\ndata: " + message + "\n\n: alive\n\n";
  Upstream upstream(any_socket(), [&](Connection& connection, const Request& request) {
    begin_stream(connection);
    std::string block;
    while (block.size() < 64 * 1024) block += one;
    for (std::size_t sent = 0; sent < total; sent += block.size()) {
      if (!connection.write_chunk(block)) return;
    }
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  // The same id again and again must not make a forwarded event a replay.
  Relay relay = relay_of(upstream);
  relay.head();
  REQUIRE(relay.next());
  const bool measured = reset_peak_rss();
  const std::size_t before = current_rss_bytes();
  std::size_t received = 0;
  while (auto bytes = relay.next()) received += bytes->size();
  CHECK(received > total - mebibyte);
  CHECK(relay.ending() == RelayEnding::clean);
  if (measured && !built_with_sanitizers()) CHECK(peak_rss_bytes() < before + 8 * mebibyte);
}

// --- Time

TEST_CASE("a slow stream that goes on is never cut: only headers and silence are timed") {
  constexpr auto gap = 150ms;
  Upstream upstream(any_socket(), [&](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 0; i < 8; ++i) {
      connection.pause(gap);
      connection.write_chunk(": alive\n\n");
    }
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  Timeouts timeouts;
  timeouts.headers = 600ms;  // half of what the stream takes
  timeouts.idle = 1000ms;
  auto response = upstream.forward(call_json(1), timeouts);
  REQUIRE(response);
  Relay relay(std::move(*response));
  CHECK(rest_of(relay).find("result") != std::string::npos);
  CHECK(relay.ending() == RelayEnding::clean);
  CHECK(relay.upstream_end().figures.ended >= 8 * gap);
}

TEST_CASE("silence beyond the idle time ends a relayed stream with its name") {
  Upstream upstream(any_socket(), [&](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    connection.peer_closed(guard);
  });
  Timeouts timeouts;
  timeouts.idle = 100ms;
  auto response = upstream.forward(call_json(1), timeouts);
  REQUIRE(response);
  Relay relay(std::move(*response));
  relay.head();
  CHECK(rest_of(relay).find("timeout_idle") != std::string::npos);
  CHECK(relay.ending() == RelayEnding::clean);
}

TEST_CASE("headers that never come are a 504 of the gateway's own") {
  Upstream upstream(any_socket(),
                    [&](Connection& connection, const Request&) { connection.peer_closed(guard); });
  Timeouts timeouts;
  timeouts.headers = 100ms;
  const auto response = upstream.forward(call_json(1), timeouts);
  REQUIRE_FALSE(response);
  const ErrorAnswer answer = error_answer(response.error(), "1");
  CHECK(answer.head.status == 504);
  CHECK(answer.body.find("timeout_header") != std::string::npos);
}
