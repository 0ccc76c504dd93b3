// The handshake of revisions up to 2025-11-25: initialize, then notifications/initialized (MCP
// 2025-11-25, Lifecycle).
#pragma once

#include <string>

#include <mcphttp/client.hpp>
#include <mcphttp/message.hpp>

namespace mcphttp::handshake {

// {"name":...,"version":...}
std::string make_client_info(const Implementation& implementation);

// The params of `initialize`.
std::string make_params(const ClientOptions& options);

// What the server's result says. Fails with unsupported_version if it names a revision that this
// library does not speak, with malformed_message if it names none.
Result<ServerInfo> read_result(const Message& answer);

// What a modern server's answer to server/discover says.
ServerInfo read_discovery(const Message& answer, std::string_view protocol_version);

}  // namespace mcphttp::handshake
