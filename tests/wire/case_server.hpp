// The servers of one case: the one that plays the script, and another origin that must not be asked
// anything.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "support/scripted_server.hpp"
#include "wire/observation.hpp"
#include "wire/replay.hpp"
#include "wire/script.hpp"

namespace mcphttp::test::wire {

// Thread-safe. The script must outlive it.
class CaseServer {
 public:
  // `watch_closing`: find out whether the client closes the connection of the first reply.
  CaseServer(const Script& script, double time_scale, bool watch_closing);

  std::string url() const { return server_.localhost_url(); }
  std::uint16_t port() const { return server_.port(); }
  std::uint16_t other_port() const { return other_.port(); }

  // Three times, one after the other. At first the handshake of the case's setup is answered; then
  // the script is played; at last anything is answered in the plainest way.
  void begin_case() { enter(Stage::playing); }
  void begin_probes() { enter(Stage::probing); }

  // True once that many requests of the case have come; false if not within that time.
  bool wait_for_requests(std::size_t count, std::chrono::milliseconds within) const;
  // The same for the ends of the replies: of the first one, or of all of the script.
  bool wait_for_first_end(std::chrono::milliseconds within) const;
  bool wait_for_all_ends(std::chrono::milliseconds within) const;

  std::vector<SeenRequest> requests() const;
  // All that came, the harness's own requests included.
  std::vector<Request> all_requests() const { return server_.requests(); }
  std::size_t other_origin_requests() const { return other_.requests().size(); }
  std::vector<std::string> faults() const;

 private:
  enum class Stage { setup, playing, probing };

  void enter(Stage stage);
  void handle(Connection& connection, const Request& request);
  void play_next(Connection& connection, const Request& request);
  const Reply* choose(const Request& request, const std::string& rpc);
  bool play_reply(const Reply& reply, Connection& connection, const Request& request,
                  std::size_t at);
  void answer_plainly(Connection& connection, const Request& request, bool in_session);
  std::string handshake_result(const std::string& rpc) const;

  const Script& script_;
  const double time_scale_;
  const bool watch_closing_;
  ReceivedIds ids_;

  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable changed_;
  Stage stage_ = Stage::setup;
  std::vector<SeenRequest> requests_;
  std::vector<bool> played_;  // by reply of the script
  std::vector<std::string> faults_;

  ScriptedServer other_;
  ScriptedServer server_;
};

// The JSON-RPC method of a request's body; empty if there is none.
std::string rpc_of(const Request& request);

}  // namespace mcphttp::test::wire
