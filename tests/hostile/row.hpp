// One row of the table: a server that means no good, the client that meets it, and what must come
// of it.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <mcphttp/client.hpp>

#include "support/scripted_server.hpp"

namespace mcphttp::test {

// What a client was told, in words that can be compared: the name of an error code or "answered",
// and what more is known of it.
struct Outcome {
  std::string name;
  std::string detail;
};

// What the client does. Runs in the process whose memory is measured.
using Script = Outcome (*)(const ClientOptions& options, const EventLoop& loop);

// The most that the client may take for it, in bytes, by the comment of ResponseLimits.
using Formula = std::size_t (*)(const ResponseLimits& limits);

// Limits small enough to be reached at once, and times that only a client that hangs would use up.
ResponseLimits small_limits();
Timeouts patient();

struct Row {
  std::string name;
  std::string sends;  // what the server does, for the reader of the table
  ScriptedServer::Handler server;
  Script client;
  std::string outcome;  // Outcome::name
  std::string detail;   // occurs in Outcome::detail
  Formula memory;
  // Bytes with which the server reaches the limit, as they are on the wire; `unlimited` where time
  // alone decides.
  std::size_t may_send = unlimited;
  ResponseLimits limits = small_limits();
  Timeouts timeouts = patient();
};

const std::vector<Row>& rows();

}  // namespace mcphttp::test
