// One wire case: what a scripted server replies, under which settings, and what the client must
// make of it. Cases are lines of JSON; tests/cases/README.md describes the vocabulary.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <mcphttp/options.hpp>

namespace mcphttp::test::wire {

using Json = nlohmann::json;
using Milliseconds = std::chrono::milliseconds;

// What a parsing function returns: the value, or one line that says which key or step is at fault.
template <class T>
using Parsed = tl::expected<T, std::string>;

// The steps of a reply, in the order of their table.
struct StatusStep {
  int code = 0;
};
struct HeaderStep {
  std::string name;
  std::string value;  // {port} and {other_port} still in it
};
struct BodyStep {
  std::string bytes;  // one write, one chunk
};
struct RepeatStep {
  std::string text;
  std::size_t times = 0;
  std::size_t per_write = 1;
};
struct FlushStep {};
struct DelayStep {
  Milliseconds duration{0};
};
struct CloseStep {
  bool abrupt = false;  // FIN without the proper end of the body
};
struct ResetStep {};

using Step = std::variant<StatusStep, HeaderStep, BodyStep, RepeatStep, FlushStep, DelayStep,
                          CloseStep, ResetStep>;

// Which header says where the body ends.
enum class Framing {
  chunked,  // Transfer-Encoding is added, each write is a chunk
  length,   // Content-Length is added
  close,    // neither: the body ends with the connection
  raw,      // nothing is added; body bytes go out as they are
};

// A request that the client makes, or has to make next.
struct RequestPattern {
  std::string method;
  std::string rpc;              // JSON-RPC method; empty if the request has no body
  std::optional<Json> id;       // absent for notifications and requests without a body
  std::vector<Header> headers;  // set by the caller
  std::size_t body_bytes = 0;   // pad the params to this size of the body; 0: no padding
};

struct Reply {
  RequestPattern request;  // the one it answers
  Framing framing = Framing::chunked;
  bool parallel = false;  // its request may arrive while an earlier reply is still open
  std::vector<Step> steps;
};

enum class Setup {
  none,       // 2025-11-25 rules, no session
  session,    // 2025-11-25, after a handshake that gave the session id s-1
  stateless,  // 2026-07-28 rules
};

// How the client is to be driven. Absent values: the client's defaults.
struct Config {
  Redirects follow_redirects = Redirects::same_origin;
  int max_redirects = 5;
  bool auto_reinitialize = false;  // drives Client instead of Transport
  std::optional<std::string> negotiated_version;
  std::optional<std::size_t> queue_bytes;
  std::size_t pause_after_events = 0;
  Milliseconds consumer_pause{0};
};

struct Limits {
  std::size_t json_bytes = 1048576;
  std::size_t json_depth = 64;
  std::size_t event_bytes = 1048576;
  std::size_t id_bytes = 1024;
  std::size_t diag_bytes = 2048;
  Milliseconds header{1000};
  Milliseconds idle{1000};
  Milliseconds total{5000};
  Milliseconds retry_default{100};
  int max_reconnects = 3;
  Milliseconds drain{200};
};

// A whole case. `expect` stays JSON: it is the runner's to interpret.
struct Script {
  std::string id;
  std::string title;
  Setup setup = Setup::none;
  Config config;
  Limits limits;
  std::vector<Reply> replies;  // the first answers the case's own request, the others what the
                               // client sends after it; never empty
  Json expect;
};

// Parses one line. An unknown key or step, a value of the wrong type and an order of steps that
// cannot be replayed are errors, never skipped.
Parsed<Script> parse_script(std::string_view line);

}  // namespace mcphttp::test::wire
