// Real MCP servers in processes of their own, and a wire to them that can be watched and cut.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <mcphttp/client.hpp>

#include "support/child_process.hpp"
#include "support/socket.hpp"

namespace mcphttp::test {

// A server under the pinned Node, listening on a free loopback port. Its folder of packages is
// named by the environment variable MCPHTTP_INTEROP_DIR. Thread-compatible.
class Peer {
 public:
  enum class Kind {
    everything,  // the official server-everything: the legacy era
    bed,         // bed-v2.mjs: both eras, many paths
  };

  // Returns once the server accepts connections; throws std::runtime_error if it does not.
  explicit Peer(Kind kind);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url(const std::string& path) const;
  // Ends the process and starts a new one on the same port.
  void restart();
  // What the server has printed so far.
  std::string log() const;

 private:
  void start();

  const Kind kind_;
  const std::uint16_t port_;
  const std::string log_file_;
  std::unique_ptr<ChildProcess> process_;
};

// Relays TCP connections to a loopback port.
class Relay {
 public:
  explicit Relay(std::uint16_t target);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string url(const std::string& path) const;
  // Connections that have been accepted so far.
  std::size_t accepted() const { return accepted_; }
  // Breaks all connections; new ones are accepted.
  void cut();

 private:
  struct Pair {
    Socket client;
    Socket server;
  };
  void run();
  void accept_one();

  const std::uint16_t target_;
  const Socket listener_;
  const Socket stop_;
  std::atomic<std::size_t> accepted_{0};
  std::mutex mutex_;
  std::vector<Pair> pairs_;  // guarded
  std::thread thread_;
};

// Options for a client of `url` without handlers; a call may last 60 s.
ClientOptions options_for(const std::string& url, Era era = Era::automatic);

// Connects, or throws std::runtime_error with what went wrong.
Client connect(ClientOptions options);

// A handler that always gives this result.
RequestHandler answer_with(std::string result);

// The text of the first content block; what went wrong, if it did.
std::string text_of(const Result<ToolResult>& result);

}  // namespace mcphttp::test
