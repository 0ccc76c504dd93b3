// The command line of the gateway.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <mcphttp/relay.hpp>
#include <mcphttp/transport.hpp>

#include "policy.hpp"

namespace gateway {

struct Options {
  mcphttp::TransportOptions upstream;
  std::string path;  // of the upstream URL, and the one that is served

  std::string host = "127.0.0.1";
  int port = 0;
  Tools allowed_hosts{"localhost", "127.0.0.1", "[::1]"};  // in Host, without port
  Tools allowed_origins;                                   // beside those of the hosts above
  std::size_t connections = 128;
  std::size_t max_request_size = std::size_t{4} * 1024 * 1024;
  std::chrono::milliseconds stall{300'000};  // how long a client may take nothing
  std::chrono::milliseconds grace{10'000};   // for what runs when the gateway is stopped

  Tools denied;
  Tools held;
  std::string approve_command;  // empty: the terminal is asked
  std::chrono::milliseconds approve_within{60'000};
  mcphttp::RelayOptions listings;

  std::string audit;  // file; empty for stderr
};

// Throws std::invalid_argument, saying what is wrong.
Options read_options(int argc, char** argv);

// The text for --help.
std::string usage();

}  // namespace gateway
