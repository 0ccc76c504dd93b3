#include "support/scripted_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

namespace mcphttp::test {
namespace {

// How often a port that is free on IPv4 but taken on IPv6 is given back for another.
constexpr int port_attempts = 20;
// While the process has no descriptor to spare, accepting would fail at once again and again.
constexpr std::chrono::milliseconds accept_backoff{10};

// The same port on ::1. Empty if the host has no IPv6; throws if the port is taken there.
Socket listen_ipv6(std::uint16_t port, int send_buffer) {
  try {
    return listen_loopback(AF_INET6, port, send_buffer);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::address_in_use) throw;
    return Socket{};
  }
}

}  // namespace

ScriptedServer::ScriptedServer(Handler handler, const ServerOptions& options)
    : handler_(std::move(handler)),
      unix_socket_path_(options.unix_socket_path),
      keep_requests_(options.keep_requests) {
  listen(options);
  acceptor_ = std::thread([this] { accept_loop(); });
}

ScriptedServer::~ScriptedServer() {
  signal(stop_);
  acceptor_.join();
  for (Worker& worker : workers_) worker.thread.join();
  if (!unix_socket_path_.empty()) unlink(unix_socket_path_.c_str());
}

std::string ScriptedServer::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_).append(path);
}

std::string ScriptedServer::localhost_url(std::string_view path) const {
  return "http://localhost:" + std::to_string(port_).append(path);
}

std::vector<Request> ScriptedServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool ScriptedServer::wait_for_requests(std::size_t count, std::chrono::milliseconds within) const {
  std::unique_lock lock(mutex_);
  return request_received_.wait_for(lock, within, [&] { return requests_.size() >= count; });
}

std::vector<std::string> ScriptedServer::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

void ScriptedServer::listen(const ServerOptions& options) {
  for (int attempt = 1; listeners_.empty(); ++attempt) {
    try {
      listen_tcp(options.send_buffer);
    } catch (const std::system_error&) {
      if (attempt == port_attempts) throw;
    }
  }
  if (!unix_socket_path_.empty()) {
    listeners_.push_back(listen_unix(unix_socket_path_, options.send_buffer));
  }
}

void ScriptedServer::listen_tcp(int send_buffer) {
  Socket ipv4 = listen_loopback(AF_INET, 0, send_buffer);
  const std::uint16_t port = local_port(ipv4);
  Socket ipv6 = listen_ipv6(port, send_buffer);
  port_ = port;
  has_ipv6_ = ipv6.is_open();
  listeners_.push_back(std::move(ipv4));
  if (has_ipv6_) listeners_.push_back(std::move(ipv6));
}

void ScriptedServer::accept_loop() {
  std::vector<pollfd> watched{{stop_.fd(), POLLIN, 0}};
  for (const Socket& listener : listeners_) watched.push_back({listener.fd(), POLLIN, 0});
  while (watched[0].revents == 0) {
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    join_finished();
    for (std::size_t i = 0; i < listeners_.size(); ++i) {
      if (watched[i + 1].revents != 0) accept_one(listeners_[i]);
    }
  }
}

void ScriptedServer::accept_one(const Socket& listener) {
  Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.is_open()) {
    if (errno == EMFILE || errno == ENFILE) {
      add_fault("accept: no descriptor left");
      wait_ready(-1, 0, stop_.fd(), accept_backoff);
    }
    return;
  }
  ++open_;
  Connection connection(std::move(socket), stop_.fd(), accepted_++);
  Worker& worker = workers_.emplace_back();
  worker.thread = std::thread([this, &worker, moved = std::move(connection)]() mutable {
    serve(std::move(moved));
    worker.finished = true;
  });
}

void ScriptedServer::join_finished() {
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    if (!worker->finished) {
      ++worker;
      continue;
    }
    worker->thread.join();
    worker = workers_.erase(worker);
  }
}

void ScriptedServer::serve(Connection connection) {
  try {
    serve_requests(connection);
  } catch (const std::exception& error) {
    add_fault(std::string("exception: ") + error.what());
  } catch (...) {
    add_fault("exception of unknown type");
  }
  connection.close();
  connection.discard_until_closed();
  --open_;
}

void ScriptedServer::serve_requests(Connection& connection) {
  RequestParser parser;
  while (connection.is_open()) {
    if (auto request = parser.next()) {
      handle(connection, std::move(*request));
      continue;
    }
    if (!parser.error().empty()) {
      add_fault("bad request: " + parser.error());
      return;
    }
    const std::string_view bytes = connection.receive();
    if (bytes.empty()) return;
    parser.feed(bytes);
  }
}

void ScriptedServer::handle(Connection& connection, Request request) {
  request.connection = connection.index();
  request.received_at = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (keep_requests_) requests_.push_back(request);
    request_received_.notify_all();
  }
  handler_(connection, request);
}

void ScriptedServer::add_fault(std::string fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
}

}  // namespace mcphttp::test
