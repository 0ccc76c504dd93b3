#include "flaky_server.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

namespace mcphttp::test {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr std::uint64_t calls_per_restart = 400;

std::string result_of(std::uint64_t number) {
  return R"({"content":[{"type":"text","text":")" + std::to_string(number) + R"("}]})";
}

ServerOptions forgetful() {
  ServerOptions options;
  options.keep_requests = false;
  return options;
}

}  // namespace

FlakyServer::FlakyServer(std::uint64_t seed)
    : dice_(seed),
      server_(
          [this](Connection& connection, const Request& request) { serve(connection, request); },
          forgetful()) {}

FlakyServer::Counts FlakyServer::counts() const {
  const std::lock_guard lock(mutex_);
  return {carried_out_, carried_out_again_, session_ - 1, resumptions_};
}

std::string FlakyServer::to_string(const Place& place) {
  std::ostringstream text;
  text << place.id << ' ' << place.number << ' ' << place.next << ' ' << place.last;
  return text.str();
}

FlakyServer::Place FlakyServer::to_place(const std::string& event_id) {
  Place place;
  std::istringstream(event_id) >> place.id >> place.number >> place.next >> place.last;
  return place;
}

void FlakyServer::serve(Connection& connection, const Request& request) {
  const Json body = request.body.empty() ? Json::object() : Json::parse(request.body);
  const std::string method = body.value("method", "");
  if (method == "initialize") return initialize(connection, request);
  if (request.header("MCP-Session-Id") != session_id())
    return void(connection.write_response(404, {}, ""));
  if (request.method == "GET") {
    const auto last = request.header("Last-Event-ID");
    return last ? resume(connection, to_place(*last)) : send_messages(connection);
  }
  if (request.method == "DELETE") return void(connection.write_response(200, {}, ""));
  if (method.empty() || !body.contains("id")) return accept_message(connection);
  if (method == "tools/call")
    return call(connection, request, body["params"]["arguments"]["number"].get<std::uint64_t>());
  answer_json(connection, request);
}

void FlakyServer::initialize(Connection& connection, const Request& request) {
  if (session_ > 1 && dice_.one_in(10)) return break_off(connection);
  connection.write_response(
      200, {{"Content-Type", "application/json"}, {"MCP-Session-Id", session_id()}},
      result_json(id_of(request), R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                  R"("serverInfo":{"name":"flaky","version":"1"}})"));
}

void FlakyServer::note(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (seen_.size() <= number) seen_.resize(2 * number + 1);
  ++carried_out_;
  carried_out_again_ += seen_[number] ? 1 : 0;
  seen_[number] = true;
}

void FlakyServer::call(Connection& connection, const Request& request, std::uint64_t number) {
  note(number);
  if (dice_.one_in(calls_per_restart)) ++session_;
  switch (dice_.roll(12)) {
    case 0:
      return break_off(connection);
    case 1:
      begin_stream(connection);
      return break_off(connection);
    case 2:
      connection.write("HTTP/1.1 200 OK\r\nContent-Ty");
      return break_off(connection);
    case 3:
      connection.write_head(200, {{"Content-Type", "application/json"}, {"Content-Length", "99"}});
      connection.write(R"({"jsonrpc":"2.0","id":)");
      return break_off(connection);
    case 4:
      if (!stall(connection)) return;
      return answer_json(connection, request, result_of(number));
    case 5:
      return void(connection.write_response(503, {{"Content-Type", "text/plain"}}, "busy"));
    case 6:
    case 7:
      return answer_json(connection, request, result_of(number));
    case 8:
      return answer_events(connection, request, result_of(number));
    default:
      begin_stream(connection);
      return go_on(connection, {id_of(request), number, 0, static_cast<int>(dice_.roll(8))});
  }
}

void FlakyServer::resume(Connection& connection, Place place) {
  ++resumptions_;
  if (dice_.one_in(10)) return break_off(connection);
  if (!begin_stream(connection)) return;
  if (dice_.one_in(2)) place.next = std::max(0, place.next - 2);  // more than was asked for
  ++place.next;
  go_on(connection, std::move(place));
}

void FlakyServer::go_on(Connection& connection, Place place) {
  const std::uint64_t session = session_;
  for (; place.next <= place.last; ++place.next) {
    if (session != session_) return break_off(connection);
    if (dice_.one_in(20) && !stall(connection)) return;
    if (dice_.one_in(12)) {
      connection.write_chunk("id: lost\ndata: {\"jsonrpc\":");
      return break_off(connection);
    }
    if (!send_step(connection, place, progress_json(place.id, place.next))) return;
    if (dice_.one_in(8)) return break_off(connection);
    if (!connection.pause(dice_.up_to(5ms))) return;
  }
  send_step(connection, place, result_json(place.id, result_of(place.number)));
  connection.end_chunks();
}

bool FlakyServer::send_step(Connection& connection, const Place& place, const std::string& data) {
  return connection.write_chunk("id: " + to_string(place) + "\nretry: " +
                                std::to_string(5 + dice_.roll(30)) + "\ndata: " + data + "\n\n");
}

// The stream of the server's own messages.
void FlakyServer::send_messages(Connection& connection) {
  const std::uint64_t session = session_;
  if (!begin_stream(connection)) return;
  while (session == session_ && !dice_.one_in(50)) {
    const std::string message = dice_.one_in(3) ? R"({"jsonrpc":"2.0","id":"p","method":"ping"})"
                                                : std::string(notification_json);
    if (!connection.write_chunk(event(message)) || !connection.pause(dice_.up_to(100ms))) return;
  }
  break_off(connection);
}

void FlakyServer::break_off(Connection& connection) {
  if (dice_.one_in(2)) {
    connection.reset();
  } else {
    connection.close();
  }
}

// Often for longer than the client waits. False if it is gone.
bool FlakyServer::stall(const Connection& connection) {
  return connection.pause(dice_.up_to(1500ms));
}

}  // namespace mcphttp::test
