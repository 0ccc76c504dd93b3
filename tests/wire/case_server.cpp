#include "wire/case_server.hpp"

#include <algorithm>
#include <utility>

namespace mcphttp::test::wire {
namespace {

// How long a client may take to close a connection that it wants no more.
constexpr Milliseconds closing_time{2000};

Json body_of(const Request& request) {
  Json body = Json::parse(request.body, nullptr, false);
  return body.is_object() ? body : Json::object();
}

std::string describe(const Request& request, const std::string& rpc) {
  return request.method + " " + request.target + (rpc.empty() ? "" : " " + rpc);
}

}  // namespace

std::string rpc_of(const Request& request) {
  const Json body = body_of(request);
  const auto method = body.find("method");
  return method != body.end() && method->is_string() ? method->get<std::string>() : std::string();
}

CaseServer::CaseServer(const Script& script, double time_scale, bool watch_closing)
    : script_(script),
      time_scale_(time_scale),
      watch_closing_(watch_closing),
      ids_(script),
      played_(script.replies.size(), false),
      other_(
          [](Connection& connection, const Request&) { connection.write_response(200, {}, ""); }),
      server_([this](Connection& connection, const Request& request) {
        handle(connection, request);
      }) {}

void CaseServer::enter(Stage stage) {
  const std::lock_guard lock(mutex_);
  stage_ = stage;
}

bool CaseServer::wait_for_requests(std::size_t count, std::chrono::milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] { return requests_.size() >= count; });
}

bool CaseServer::wait_for_first_end(std::chrono::milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(
      lock, within, [&] { return !requests_.empty() && requests_.front().ended_at.has_value(); });
}

bool CaseServer::wait_for_all_ends(std::chrono::milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] {
    return requests_.size() >= script_.replies.size() &&
           std::all_of(requests_.begin(), requests_.end(),
                       [](const SeenRequest& seen) { return seen.ended_at.has_value(); });
  });
}

std::vector<SeenRequest> CaseServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::vector<std::string> CaseServer::faults() const {
  std::vector<std::string> all = server_.faults();
  const std::lock_guard lock(mutex_);
  all.insert(all.end(), faults_.begin(), faults_.end());
  return all;
}

void CaseServer::handle(Connection& connection, const Request& request) {
  Stage stage{};
  {
    const std::lock_guard lock(mutex_);
    stage = stage_;
  }
  if (stage == Stage::playing) return play_next(connection, request);
  answer_plainly(connection, request, stage == Stage::setup && script_.setup == Setup::session);
}

void CaseServer::play_next(Connection& connection, const Request& request) {
  const std::string rpc = rpc_of(request);
  const Reply* reply = nullptr;
  std::size_t at = 0;
  {
    const std::lock_guard lock(mutex_);
    reply = choose(request, rpc);
    at = requests_.size();
    requests_.push_back({request, rpc, std::nullopt, false});
    if (reply == nullptr) {
      faults_.push_back("request " + std::to_string(at + 1) +
                        " is not scripted: " + describe(request, rpc));
    }
    changed_.notify_all();
  }
  if (reply == nullptr) {
    connection.close();
  } else {
    play_reply(*reply, connection, request, at);
  }
}

// Lock held. The next reply in order, if it answers such a request; one marked `parallel` may be
// taken before its turn.
const Reply* CaseServer::choose(const Request& request, const std::string& rpc) {
  bool in_order = true;
  for (std::size_t i = 0; i < script_.replies.size(); ++i) {
    if (played_[i]) continue;
    const Reply& reply = script_.replies[i];
    const bool fits = reply.request.method == request.method && reply.request.rpc == rpc;
    if (fits && (in_order || reply.parallel)) {
      played_[i] = true;
      return &reply;
    }
    in_order = in_order && reply.parallel;
  }
  return nullptr;
}

bool CaseServer::play_reply(const Reply& reply, Connection& connection, const Request& request,
                            std::size_t at) {
  TimePoint ended_at = std::chrono::steady_clock::now();
  const PlayContext context{port(), other_port(), time_scale_, &ids_, &ended_at};
  const bool finished = play(reply, connection, request, context);
  const auto time = std::chrono::duration_cast<Milliseconds>(closing_time * time_scale_);
  const bool closed = watch_closing_ && at == 0 && (!finished || connection.peer_closed(time));
  const std::lock_guard lock(mutex_);
  requests_[at].ended_at = ended_at;
  requests_[at].closed_by_client = closed;
  changed_.notify_all();
  return finished;
}

void CaseServer::answer_plainly(Connection& connection, const Request& request, bool in_session) {
  const Json body = body_of(request);
  if (request.method != "POST") {
    connection.write_response(405, {{"Allow", "POST"}}, "");
  } else if (!body.contains("id") || !body.contains("method")) {
    connection.write_response(202, {}, "");
  } else {
    const std::string rpc = rpc_of(request);
    std::vector<Header> headers{{"Content-Type", "application/json"}};
    if (in_session && rpc == "initialize") headers.push_back({"MCP-Session-Id", "s-1"});
    connection.write_response(200, headers,
                              R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":)" +
                                  handshake_result(rpc) + "}");
  }
}

std::string CaseServer::handshake_result(const std::string& rpc) const {
  const Json server = {{"name", "wire_cases"}, {"version", "1"}};
  if (rpc == "initialize") {
    return Json{{"protocolVersion", script_.config.negotiated_version.value_or("2025-11-25")},
                {"capabilities", Json::object()},
                {"serverInfo", server}}
        .dump();
  }
  if (rpc == "server/discover") {
    return Json{{"resultType", "complete"},
                {"supportedVersions",
                 Json::array({script_.config.negotiated_version.value_or("2026-07-28")})},
                {"capabilities", Json::object()},
                {"serverInfo", server}}
        .dump();
  }
  return R"({"resultType":"complete"})";
}

}  // namespace mcphttp::test::wire
