// A raw HTTP/1.1 server for tests, on loopback, without any HTTP library: the handler decides each
// byte that goes out.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/connection.hpp"
#include "support/http_request.hpp"
#include "support/socket.hpp"

namespace mcphttp::test {

struct ServerOptions {
  int send_buffer = 0;  // SO_SNDBUF of each connection in bytes; 0: the system's. Small makes a
                        // slow reader visible
  std::string
      unix_socket_path;  // listen here as well; empty: not. Removed when the server is destroyed
  bool keep_requests = true;  // false: for a server that runs long; requests() stays empty
};

// Listens on an ephemeral port of 127.0.0.1 and, where the host has IPv6, on the same port of ::1.
// Each connection has its own thread, which reads one whole request after the other (`Expect:
// 100-continue` is kept among the headers and not answered) and calls the handler for each. When
// the handler returns and has not closed the connection, it stays open for the next request.
//
// Nothing asserts on these threads. Faults of the client's HTTP (but not a request cut short:
// clients may cancel) and exceptions that leave the handler are collected in faults(); the
// connection is closed then.
//
// Members other than the destructor may be called from any thread.
class ScriptedServer {
 public:
  // Runs on the connection's own thread, several connections at a time. May block: the waits of
  // Connection end when the server is destroyed, others must end by themselves (Gate has a guard).
  using Handler = std::function<void(Connection&, const Request&)>;

  // Throws std::system_error if there is no port to be had.
  explicit ScriptedServer(Handler handler, const ServerOptions& options = {});
  // Closes all connections, whatever their clients do, and joins the threads.
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::uint16_t port() const { return port_; }
  bool has_ipv6() const { return has_ipv6_; }
  std::string url(std::string_view path = "/mcp") const;            // http://127.0.0.1:PORT/mcp
  std::string localhost_url(std::string_view path = "/mcp") const;  // http://localhost:PORT/mcp

  std::size_t connections_accepted() const { return accepted_; }
  // Connections that are not yet closed by both sides.
  std::size_t connections_open() const { return open_; }
  // Whole requests received so far, in the order in which they were complete.
  std::vector<Request> requests() const;
  // True once at least `count` requests have been received, false if that did not happen within
  // that time.
  bool wait_for_requests(std::size_t count, std::chrono::milliseconds within) const;
  std::vector<std::string> faults() const;

 private:
  struct Worker {
    std::thread thread;
    std::atomic<bool> finished{false};
  };

  void listen(const ServerOptions& options);
  void listen_tcp(int send_buffer);
  void accept_loop();
  void accept_one(const Socket& listener);
  void join_finished();
  void serve(Connection connection);
  void serve_requests(Connection& connection);
  void handle(Connection& connection, Request request);
  void add_fault(std::string fault);

  const Handler handler_;
  const std::string unix_socket_path_;
  const bool keep_requests_;
  const Socket stop_ = make_event();
  std::vector<Socket> listeners_;
  std::uint16_t port_ = 0;
  bool has_ipv6_ = false;
  std::atomic<std::size_t> accepted_{0};
  std::atomic<std::size_t> open_{0};

  mutable std::mutex mutex_;  // guards requests_ and faults_
  mutable std::condition_variable request_received_;
  std::vector<Request> requests_;
  std::vector<std::string> faults_;

  std::list<Worker> workers_;  // touched by the acceptor only, and by the destructor after it
  std::thread acceptor_;
};

}  // namespace mcphttp::test
