#include "era_server.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace mcphttp::test {
namespace {

using Json = nlohmann::json;

constexpr std::string_view agreement =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
    R"("serverInfo":{"name":"s","version":"1"}})";
constexpr std::string_view discovery =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})";

// Null for a request without body.
Json body_of(const Request& request) {
  return request.body.empty() ? Json() : Json::parse(request.body, nullptr, false);
}

bool is_response(const Json& body) { return body.contains("result") || body.contains("error"); }

}  // namespace

EraServer::EraServer(Era era, ScriptedServer::Handler call)
    : era_(era),
      call_(std::move(call)),
      server_(
          [this](Connection& connection, const Request& request) { serve(connection, request); }) {}

void EraServer::serve(Connection& connection, const Request& request) const {
  const Json body = body_of(request);
  if (body.is_null()) return void(connection.write_response(405, {{"Allow", "POST"}}, ""));
  if (!body.contains("id") || is_response(body)) return accept_message(connection);
  const std::string method = method_of(request);
  if (method == "tools/call") return call_(connection, request);
  if (method == "initialize") return answer_json(connection, request, agreement);
  if (method == "server/discover") return answer_json(connection, request, discovery);
  answer_json(connection, request);
}

ClientOptions EraServer::options() const {
  ClientOptions options;
  options.url = server_.url();
  options.era = era_;
  options.on_warning = [](const Warning& warning) { note_seen(warning); };
  return options;
}

std::vector<Request> EraServer::received(const std::string& method) const {
  std::vector<Request> found;
  for (const Request& request : server_.requests()) {
    if (body_of(request).value("method", "") == method) found.push_back(request);
  }
  return found;
}

std::optional<Request> EraServer::wait_for_response(const std::string& id) const {
  std::optional<Request> found;
  eventually([&] {
    for (const Request& request : server_.requests()) {
      if (is_response(body_of(request)) && id_of(request) == id) found = request;
    }
    return found.has_value();
  });
  return found;
}

std::string progress_token_of(const Request& request) {
  const Json token =
      body_of(request).value(Json::json_pointer("/params/_meta/progressToken"), Json());
  return token.dump();
}

Result<ToolResult> call_tool(Client& client, Form form, const std::string& name,
                             CallOptions options) {
  if (form == Form::blocking) return client.call_tool(name, "", options);
  struct Outcome {
    std::optional<Result<ToolResult>> result;
    Gate done;
  };
  const auto outcome = std::make_shared<Outcome>();
  const Call call =
      client.start_tool(name, "", std::move(options), [outcome](Result<ToolResult> result) {
        outcome->result = std::move(result);
        outcome->done.open();
      });
  if (!outcome->done.wait()) throw std::runtime_error("the call does not end");
  return std::move(*outcome->result);
}

}  // namespace mcphttp::test
