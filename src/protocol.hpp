// What differs between the revisions of MCP. One table, no I/O.
#pragma once

#include <span>
#include <string_view>

namespace mcphttp::protocol {

struct Revision {
  std::string_view name;
  // Stateless: metadata with every request, mirrored into headers; no handshake, no session, no GET
  // (since 2026-07-28).
  bool is_modern;
  // MCP-Protocol-Version goes with every request after the handshake (since 2025-06-18, Protocol
  // Version Header).
  bool has_version_header;
  // A broken stream can be taken up again with Last-Event-ID (Resumability and Redelivery).
  bool has_resumption;
  // Several messages may come in one array (2025-03-26 only).
  bool has_batches;
};

// The revision that a modern request speaks, and the one that a handshake proposes.
inline constexpr std::string_view newest_modern = "2026-07-28";
inline constexpr std::string_view newest_with_handshake = "2025-11-25";

// All that this library speaks, the newest first.
std::span<const Revision> revisions() noexcept;

// Whether a modern server may answer `method` by asking for input (MCP 2026-07-28, Multi Round-Trip
// Requests, Supported Requests).
bool may_ask_for_input(std::string_view method) noexcept;

// The revision of that name; nullptr if this library does not speak it.
const Revision* find(std::string_view name) noexcept;

}  // namespace mcphttp::protocol
