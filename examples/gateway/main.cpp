// A relay in front of one MCP server: live, bounded, with a policy for its tools and an audit trail
// (docs/gateway.md).
#include <chrono>
#include <csignal>
#include <exception>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "gateway.hpp"
#include "options.hpp"
#include "server.hpp"

namespace {

mcphttp::Transport connect(const mcphttp::TransportOptions& options) {
  auto transport = mcphttp::Transport::create(options);
  if (!transport) throw std::invalid_argument(transport.error().to_string());
  return std::move(*transport);
}

// Blocked in all threads, so that the main one can wait for them.
sigset_t block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Until a signal comes; then what runs may end within the time of grace.
void serve(const gateway::Options& options) {
  const sigset_t signals = block_stop_signals();
  gateway::Gateway gateway(options, connect(options.upstream));
  httplib::Server server;
  const int port = set_up(server, options, gateway);
  const auto served = std::async(std::launch::async, [&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::cout << "listening on http://" << options.host << ':' << port << options.path << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  server.stop();
  gateway.stop_streams();
  served.wait_for(options.grace);
  gateway.stop_all();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::cout << gateway::usage();
    return 0;
  }
  serve(gateway::read_options(argc, argv));
  return 0;
} catch (const std::exception& error) {
  std::cerr << "gateway: " << error.what() << "\ngateway --help shows the options\n";
  return 1;
}
