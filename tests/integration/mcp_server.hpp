// An MCP server of a few scripted methods, and a client of it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "helpers.hpp"

namespace mcphttp::test {

using Json = nlohmann::json;

inline constexpr std::string_view initialize_result =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},)"
    R"("serverInfo":{"name":"scripted","version":"1.2"},"instructions":"be kind"})";

// An MCP server: the handshake, and beside it the methods given.
inline ScriptedServer::Handler mcp_server(Methods methods) {
  return dispatch(std::move(methods), [](Connection& connection, const Request& request) {
    if (method_of(request) == "initialize")
      return answer_json(connection, request, initialize_result);
    connection.write_response(200, {{"Content-Type", "application/json"}},
                              R"({"jsonrpc":"2.0","id":)" + id_of(request) +
                                  R"(,"error":{"code":-32601,"message":"no such method"}})");
  });
}

inline ClientOptions client_options(const ScriptedServer& server) {
  ClientOptions options;
  options.url = server.url();
  options.era = Era::legacy;  // the requests are counted: no question about the era before them
  options.client_info = {"tester", "3.1"};
  return options;
}

inline Client connect(const ScriptedServer& server) { return connect(client_options(server)); }

inline Json body_of(const Request& request) { return Json::parse(request.body); }

}  // namespace mcphttp::test
