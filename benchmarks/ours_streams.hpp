// Our side of the row of many open streams.
#pragma once

#include "scenario.hpp"

namespace mcphttp::bench {

Figures open_streams(const Arguments& arguments);

}  // namespace mcphttp::bench
