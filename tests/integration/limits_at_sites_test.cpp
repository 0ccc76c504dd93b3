// The limits hold wherever the client reads an answer: each place that sends a request meets a
// server that does not stop.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "helpers.hpp"
#include "support/seen.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kibibyte = 1024;

// --- What does not stop --------------------------------------------------------------------------

enum class Attack { json, json_error, page, headers, event };

constexpr std::size_t json_limit = 64 * kibibyte;
constexpr std::size_t header_limit = 16 * kibibyte;
constexpr std::size_t event_limit = 32 * kibibyte;
constexpr std::size_t error_limit = 8 * kibibyte;

// Over a Unix socket no more is on the way than the send buffer, which the kernel doubles and fills
// by whole buffers; libcurl receives 64 KiB at a time, and as much is drained where the answer does
// not matter.
constexpr int send_buffer = 16 * 1024;
constexpr std::size_t on_the_way = 4 * send_buffer + 2 * 64 * kibibyte;

std::size_t limit_of(Attack attack) {
  switch (attack) {
    case Attack::json:
    case Attack::json_error:
      return json_limit;
    case Attack::page:
      return error_limit;
    case Attack::headers:
      return header_limit;
    case Attack::event:
      return event_limit;
  }
  return 0;
}

void attack_with(Attack attack, Connection& connection) {
  const std::string filling(4 * kibibyte, 'x');
  switch (attack) {
    case Attack::json:
      connection.write_head(200, {{"Content-Type", "application/json"}});
      connection.write(R"({"jsonrpc":"2.0","id":1,"result":")");
      return write_for_ever(connection, filling);
    case Attack::json_error:
      connection.write_head(500, {{"Content-Type", "application/json"}});
      connection.write(R"({"jsonrpc":"2.0","id":1,"error":")");
      return write_for_ever(connection, filling);
    case Attack::page:
      connection.write_head(500, {{"Content-Type", "text/html"}});
      return write_for_ever(connection, filling);
    case Attack::headers:
      connection.write(status_line(200));
      return write_for_ever(connection, "X-More: to come\r\n");
    case Attack::event:
      connection.write_head(200, {{"Content-Type", "text/event-stream"}});
      connection.write("data: ");
      return write_for_ever(connection, filling);
  }
}

// --- The server ----------------------------------------------------------------------------------

// "GET", "DELETE", the JSON-RPC method, or "answer".
std::string kind_of(const Request& request) {
  if (request.method != "POST") return request.method;
  const std::string method = method_of(request);
  return method.empty() ? "answer" : method;
}

void initialize(Connection& connection, const Request& request) {
  connection.write_response(
      200, {{"Content-Type", "application/json"}, {"MCP-Session-Id", "s-1"}},
      result_json(id_of(request), R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                  R"("serverInfo":{"name":"s","version":"1"}})"));
}

// Answers to tools/call that lead to the attacked request.

void answer_at_once(Connection& connection, const Request& request) {
  answer_json(connection, request);
}

void ask_first(Connection& connection, const Request& request) {
  begin_stream(connection);
  send_event(connection, R"({"jsonrpc":"2.0","id":7,"method":"ping"})");
  connection.pause(100ms);
  send_event(connection, result_json(id_of(request)));
  connection.end_chunks();
}

void break_off(Connection& connection, const Request& /*request*/) {
  begin_stream(connection);
  connection.write_chunk("id: 1\n" + event(progress_json("1", 1)));
  connection.close();
}

void forget_session(Connection& connection, const Request& /*request*/) {
  connection.write_response(404, {}, "");
}

void refuse(Connection& connection, const Request& /*request*/) {
  connection.write_response(401, {{"WWW-Authenticate", "Bearer"}}, "");
}

// A legacy server that attacks one request: the `turn`th of its kind, or, for a kind that is sent
// again by itself, any later one too.
class AttackingServer {
 public:
  AttackingServer(Attack attack, std::string kind, int turn, ScriptedServer::Handler first_call)
      : attack_(attack),
        kind_(std::move(kind)),
        turn_(turn),
        first_call_(std::move(first_call)),
        server_(
            [this](Connection& connection, const Request& request) { serve(connection, request); },
            {send_buffer, socket_path()}) {}

  static std::string socket_path() {
    return (std::filesystem::temp_directory_path() / ("sites-" + std::to_string(getpid())))
        .string();
  }

  int attacks() const { return attacks_; }
  // What could be written in one attack.
  std::size_t written() const { return written_; }
  bool wait_for_attack() const {
    return eventually([this] { return attacks_ > 0 && attacks_ == ended_; });
  }

 private:
  void serve(Connection& connection, const Request& request) {
    const std::string kind = kind_of(request);
    if (request.target == "/calm") return answer_json(connection, request);
    if (kind == kind_ && ++turns_ >= turn_) return attack(connection);
    if (kind == "initialize") return initialize(connection, request);
    if (kind == "server/discover") return refuse_with(connection, 404);
    if (kind == "tools/call" && ++calls_ == 1) return first_call_(connection, request);
    if (kind == "GET") return refuse_with(connection, 405);
    if (kind == "tools/call") return answer_json(connection, request);
    accept_message(connection);
  }

  static void refuse_with(Connection& connection, int status) {
    connection.write_response(status, {}, "");
  }

  void attack(Connection& connection) {
    ++attacks_;
    attack_with(attack_, connection);
    written_ = std::max<std::size_t>(written_, connection.bytes_written());
    connection.reset();
    ++ended_;
  }

  const Attack attack_;
  const std::string kind_;
  const int turn_;
  const ScriptedServer::Handler first_call_;
  std::atomic<int> calls_{0};
  std::atomic<int> turns_{0};
  std::atomic<int> attacks_{0};
  std::atomic<int> ended_{0};
  std::atomic<std::size_t> written_{0};
  ScriptedServer server_;  // last: its threads use all the others
};

// --- The client ----------------------------------------------------------------------------------

class Refresher final : public Authorizer {
 public:
  void authorize(const std::string& /*url*/, std::function<void(std::string)> done) override {
    done("Bearer t");
  }
  void refused(const AuthorizationRefusal& /*refusal*/, std::function<void(bool)> done) override {
    done(true);
  }
};

ClientOptions client_options(const std::string& target) {
  ClientOptions options;
  options.url = "http://localhost" + target;
  options.unix_socket_path = AttackingServer::socket_path();
  options.era = Era::legacy;
  options.limits.max_json_response_size = json_limit;
  options.limits.max_header_size = header_limit;
  options.limits.max_sse_event_size = event_limit;
  options.limits.max_error_response_size = error_limit;
  options.timeouts.diagnostic = 100ms;
  options.reconnection.initial_delay = 1ms;
  options.reconnection.max_attempts = 1;
  options.authorizer = std::make_shared<Refresher>();
  return options;
}

// What came of the use of a site; the client, so that it is not its destruction that closes.
struct Used {
  std::shared_ptr<void> client;
  std::optional<Error> error;
};

template <class Value>
std::optional<Error> error_of(const Result<Value>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

using Use = Result<void> (*)(Client& client);

Used use_client(const ClientOptions& options, const EventLoop& loop, Use use) {
  auto connected = Client::connect(options, loop);
  if (!connected) return {nullptr, connected.error()};
  auto client = std::make_shared<Client>(std::move(*connected));
  return {client, error_of(use(*client))};
}

Used connect(const ClientOptions& options, const EventLoop& loop) {
  return use_client(options, loop, [](Client&) { return Result<void>(); });
}

Used ask_for_era(const ClientOptions& options, const EventLoop& loop) {
  ClientOptions automatic = options;
  automatic.era = Era::automatic;
  return connect(automatic, loop);
}

Used call(const ClientOptions& options, const EventLoop& loop) {
  return use_client(options, loop, [](Client& client) -> Result<void> {
    auto called = client.call_tool("t", "");
    if (!called) return tl::unexpected(called.error());
    return {};
  });
}

Used notify(const ClientOptions& options, const EventLoop& loop) {
  return use_client(options, loop,
                    [](Client& client) { return client.notify("notifications/x", ""); });
}

Used close(const ClientOptions& options, const EventLoop& loop) {
  return use_client(options, loop, [](Client& client) { return client.close(); });
}

Used listen(const ClientOptions& options, const EventLoop& loop) {
  auto transport = std::make_shared<Transport>(make_transport(options, loop));
  auto response = transport->open_stream();
  if (!response) return {transport, response.error()};
  while (response->events()->next()) {
  }
  return {transport, response->events()->end().error};
}

// --- The sites -----------------------------------------------------------------------------------

constexpr auto no_error = std::nullopt;

// What the application is told, in the order of Attack.
using Codes = std::vector<std::optional<ErrorCode>>;

Codes where_an_answer_is_read() {
  return {ErrorCode::json_too_large, ErrorCode::json_too_large, ErrorCode::http_error,
          ErrorCode::headers_too_large, ErrorCode::event_too_large};
}

// Any 2xx accepts a message; what follows it does not matter.
Codes where_2xx_is_enough() {
  return {no_error, ErrorCode::json_too_large, ErrorCode::http_error, ErrorCode::headers_too_large,
          no_error};
}

// A GET asks for a stream: whatever else comes is but shown.
Codes where_a_stream_is_read() {
  return {ErrorCode::bad_content_type, ErrorCode::http_error, ErrorCode::http_error,
          ErrorCode::headers_too_large, ErrorCode::event_too_large};
}

// The answer may come as JSON too; a refusal only uses up an attempt, and what is told is the cut.
Codes where_a_stream_goes_on() {
  return {ErrorCode::json_too_large, ErrorCode::json_too_large,
          ErrorCode::stream_ended_without_response, ErrorCode::headers_too_large,
          ErrorCode::event_too_large};
}

// What the server makes of an answer to its own request is its own affair.
Codes where_nothing_matters() { return {no_error, no_error, no_error, no_error, no_error}; }

struct Site {
  std::string name;
  std::string attacked;  // kind_of() the request
  int turn;
  ScriptedServer::Handler first_call;  // how the first tools/call is answered
  Used (*use)(const ClientOptions&, const EventLoop&);
  Codes codes;
};

std::vector<Site> sites() {
  return {
      {"initialize", "initialize", 1, answer_at_once, connect, where_an_answer_is_read()},
      {"notifications/initialized", "notifications/initialized", 1, answer_at_once, connect,
       where_2xx_is_enough()},
      {"the question for the era", "server/discover", 1, answer_at_once, ask_for_era,
       where_an_answer_is_read()},
      {"initialize after that question", "initialize", 1, answer_at_once, ask_for_era,
       where_an_answer_is_read()},
      {"a request", "tools/call", 1, answer_at_once, call, where_an_answer_is_read()},
      {"a notification", "notifications/x", 1, answer_at_once, notify, where_2xx_is_enough()},
      {"an answer to the server", "answer", 1, ask_first, call, where_nothing_matters()},
      {"the stream of messages", "GET", 1, answer_at_once, listen, where_a_stream_is_read()},
      {"the end of a session", "DELETE", 1, answer_at_once, close, where_2xx_is_enough()},
      {"the resumption of a stream", "GET", 1, break_off, call, where_a_stream_goes_on()},
      {"initialize in place of a lost session", "initialize", 2, forget_session, call,
       where_an_answer_is_read()},
      {"notifications/initialized in place of a lost session", "notifications/initialized", 2,
       forget_session, call, where_2xx_is_enough()},
      {"a request with fresh credentials", "tools/call", 2, refuse, call,
       where_an_answer_is_read()},
  };
}

}  // namespace

TEST_CASE("wherever a server does not stop, it is left at the limit") {
  const auto site = GENERATE(from_range(sites()));
  const auto attack =
      GENERATE(Attack::json, Attack::json_error, Attack::page, Attack::headers, Attack::event);
  INFO(site.name << ", attack " << static_cast<int>(attack));
  AttackingServer server(attack, site.attacked, site.turn, site.first_call);
  const EventLoop loop;
  Transport calm = make_transport(client_options("/calm"), loop);
  start_loop_thread(calm);

  const Used used = site.use(client_options("/mcp"), loop);
  const auto expected = site.codes[static_cast<std::size_t>(attack)];
  if (used.error) note_seen(*used.error);
  INFO((used.error ? used.error->to_string() : "no error"));
  CHECK(used.error.has_value() == expected.has_value());
  if (used.error && expected) CHECK(used.error->code == *expected);
  if (used.error && expected == ErrorCode::http_error) {
    CHECK(used.error->diagnostic.text.size() == error_limit);
    CHECK(used.error->diagnostic.truncated);
  }
  CHECK(server.wait_for_attack());
  // No limit is followed by another attempt.
  if (expected && group(*expected) == ErrorGroup::limit) CHECK(server.attacks() == 1);
  CHECK(server.written() <= limit_of(attack) + on_the_way);
}

TEST_CASE("a page without end is a sign of the legacy era, a JSON error without end is none") {
  const int status = GENERATE(400, 404, 405, 406, 415);
  const bool is_json = GENERATE(false, true);
  CAPTURE(status, is_json);
  const std::string type = is_json ? "application/json" : "text/html";
  ScriptedServer server([&](Connection& connection, const Request& request) {
    const std::string kind = kind_of(request);
    if (kind == "initialize") return initialize(connection, request);
    if (kind != "server/discover") return accept_message(connection);
    connection.write_head(status, {{"Content-Type", type}});
    connection.write(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":")");
    write_for_ever(connection, std::string(4 * kibibyte, 'x'));
  });
  ClientOptions options = client_options("/mcp");
  options.url = server.url();
  options.unix_socket_path.clear();
  options.authorizer.reset();
  options.era = Era::automatic;
  const auto client = Client::connect(options);
  const auto requests = server.requests();
  const auto handshakes = std::count_if(requests.begin(), requests.end(), [](const Request& r) {
    return kind_of(r) == "initialize";
  });
  CHECK(client.has_value() != is_json);
  if (!client) CHECK(client.error().code == ErrorCode::json_too_large);
  CHECK(handshakes == (is_json ? 0 : 1));
}
