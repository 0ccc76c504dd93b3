// The command line that our side and the floor share: PROGRAM SCENARIO URL COUNT [WIDTH].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "figures.hpp"

namespace mcphttp::bench {

struct Arguments {
  std::string url;
  std::size_t count = 0;  // of calls, events or wake-ups
  std::size_t width = 0;  // calls in flight, or open streams
};

struct Scenario {
  std::string_view name;
  Figures (*run)(const Arguments& arguments);
};

// What both sides ask for.
inline constexpr std::string_view tool_name = "echo";
inline constexpr std::string_view tool_arguments = R"({"text":"hello"})";

// Runs the scenario that the command line names, prints its figures, and returns the exit code.
// What goes wrong is said on stderr.
int run_scenario(int argc, char** argv, const std::vector<Scenario>& scenarios);

}  // namespace mcphttp::bench
