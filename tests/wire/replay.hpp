// Performs a scripted reply on a connection of the scripted server, exactly by the replay rules of
// tests/cases/README.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/connection.hpp"
#include "support/http_request.hpp"
#include "wire/script.hpp"

namespace mcphttp::test::wire {

// One JSON-RPC id, as the script writes it and as the client sent it. Both are JSON: 1, "a".
struct IdPair {
  Json scripted;
  Json received;
};

// The text with the scripted id replaced by the received one where a member `id`, `requestId` or
// `io.modelcontextprotocol/subscriptionId` has it as its value; where the script writes a number as
// a string, the received id is written as a string. Other ids stay. Expectations are to be treated
// the same way.
std::string with_received_id(std::string_view text, const IdPair& id);

// The ids of one run of a case: which id the client used for each one of the script. Thread-safe.
class ReceivedIds {
 public:
  explicit ReceivedIds(const Script& script) : id_of_case_(script.replies.front().request.id) {}

  // Notes the id of a request and returns the pair that holds for its reply: that of the request
  // itself or, for one without an id (a GET that resumes), that of the case's own request. Nullopt
  // if there is none.
  std::optional<IdPair> note(const RequestPattern& expected, const Request& request);

 private:
  const std::optional<Json> id_of_case_;
  std::mutex mutex_;
  std::map<Json, Json> received_;
};

// What a reply needs to know of the run. The ids must outlive the replay.
struct PlayContext {
  std::uint16_t port = 0;        // stands for {port} in header values
  std::uint16_t other_port = 0;  // stands for {other_port}
  double time_scale = 1;         // multiplies every pause
  ReceivedIds* ids = nullptr;    // null: ids are written as scripted
  // Set when the reply comes to its end: just before its close or reset, else after its last step.
  // Null: nobody asks.
  std::chrono::steady_clock::time_point* ended_at = nullptr;
};

// Carries out the reply on the connection's thread. True if it came to its end, false if the client
// went away (or the server was destroyed) before. Unless the script closes it, the connection is
// open afterwards: serve it on, until the client closes.
//
// Throws std::length_error where the received id differs in length from the scripted one under raw
// framing, whose lengths are written by hand: the client is to be driven with the id of the script
// there.
bool play(const Reply& reply, Connection& connection, const Request& request,
          const PlayContext& context);

}  // namespace mcphttp::test::wire
