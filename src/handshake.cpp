#include "handshake.hpp"

#include <utility>

#include "json.hpp"
#include "make_error.hpp"
#include "protocol.hpp"
#include "types.hpp"

namespace mcphttp::handshake {
namespace {

Error refused(ErrorCode code, std::string detail) {
  return make_error(code, std::move(detail), Delivery::answered);
}

}  // namespace

std::string make_client_info(const Implementation& implementation) {
  std::string out = R"({"name":)";
  json::append_quoted(out, implementation.name);
  out += R"(,"version":)";
  json::append_quoted(out, implementation.version);
  return out.append("}");
}

std::string make_params(const ClientOptions& options) {
  std::string out = R"({"protocolVersion":)";
  json::append_quoted(out, protocol::newest_with_handshake);
  out.append(R"(,"capabilities":)").append(options.capabilities).append(R"(,"clientInfo":)");
  return out.append(make_client_info(options.client_info)).append("}");
}

Result<ServerInfo> read_result(const Message& answer) {
  const json::Value result(answer.result());
  ServerInfo info;
  info.protocol_version = text_member(result, "protocolVersion");
  if (info.protocol_version.empty()) {
    return tl::unexpected(
        refused(ErrorCode::malformed_message, "the answer to initialize has no protocolVersion"));
  }
  const protocol::Revision* revision = protocol::find(info.protocol_version);
  if (revision == nullptr || revision->is_modern) {
    return tl::unexpected(
        refused(ErrorCode::unsupported_version,
                "the server's protocol revision is none of 2025-11-25, 2025-06-18, 2025-03-26"));
  }
  const json::Value implementation = result.find("serverInfo").value_or(json::Value());
  info.implementation = {text_member(implementation, "name"),
                         text_member(implementation, "version")};
  info.capabilities = object_member(result, "capabilities");
  info.instructions = text_member(result, "instructions");
  return info;
}

ServerInfo read_discovery(const Message& answer, std::string_view protocol_version) {
  const json::Value result(answer.result());
  const json::Value meta = result.find("_meta").value_or(json::Value());
  const json::Value implementation =
      meta.find("io.modelcontextprotocol/serverInfo").value_or(json::Value());
  ServerInfo info;
  info.implementation = {text_member(implementation, "name"),
                         text_member(implementation, "version")};
  info.protocol_version = protocol_version;
  info.capabilities = object_member(result, "capabilities");
  info.instructions = text_member(result, "instructions");
  return info;
}

}  // namespace mcphttp::handshake
