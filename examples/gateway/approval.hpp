// Calls that somebody must allow before they go upstream.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "call.hpp"

namespace gateway {

// True if that call, of the request of that number, may go on. Waits for the decision; thread-safe.
// A request to stop, and silence, mean no.
using Approval = std::function<bool(const Call& call, std::uint64_t request, std::stop_token stop)>;

// Asks at the terminal, one call after the other. Only the number of the request allows it, so that
// an answer which comes late cannot allow the next one.
Approval ask_on_terminal(std::chrono::milliseconds within);

// Runs a shell command with the tool as $1 and the arguments, as JSON, on stdin. Its exit status 0
// allows the call.
Approval ask_command(std::string command, std::chrono::milliseconds within);

}  // namespace gateway
