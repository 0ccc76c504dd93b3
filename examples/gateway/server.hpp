// The HTTP server of the gateway: cpp-httplib, and what must be kept from it.
#pragma once

#include <httplib.h>

#include <string>

#include "gateway.hpp"
#include "options.hpp"

namespace gateway {

// Binds, and gives the server the gateway's handlers. Both arguments must outlive it. Throws
// std::runtime_error if it cannot listen there. Returns the port.
int set_up(httplib::Server& server, const Options& options, Gateway& gateway);

}  // namespace gateway
