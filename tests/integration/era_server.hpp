// For what both eras promise alike: a server of either, and a call made in either form.
#pragma once

#include <string>
#include <vector>

#include <mcphttp/client.hpp>

#include "helpers.hpp"

namespace mcphttp::test {

// Answers everything but tools/call by itself: the handshake or the discovery, notifications and
// responses with 202, GET with 405, every other request with {}.
class EraServer {
 public:
  EraServer(Era era, ScriptedServer::Handler call);

  // To connect with, without another look at the era.
  ClientOptions options() const;
  const ScriptedServer& http() const { return server_; }
  // By JSON-RPC method.
  std::vector<Request> received(const std::string& method) const;
  // The client's response to the request of that raw id; nothing if it does not come in time.
  std::optional<Request> wait_for_response(const std::string& id) const;

 private:
  void serve(Connection& connection, const Request& request) const;

  const Era era_;
  const ScriptedServer::Handler call_;
  ScriptedServer server_;  // last: its threads use the others
};

// The raw progress token of a request; "null" if it has none.
std::string progress_token_of(const Request& request);

enum class Form { blocking, asynchronous };

// Calls a tool in that form, and waits for what it comes to. Throws std::runtime_error if that does
// not come in time.
Result<ToolResult> call_tool(Client& client, Form form, const std::string& name,
                             CallOptions options = {});

}  // namespace mcphttp::test
