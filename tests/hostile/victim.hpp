// The client of one row, in a process of its own: only there the memory it takes can be told from
// that of the server, and of other rows.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "row.hpp"

namespace mcphttp::test {

// Where the servers of the table are reached. Over a Unix socket no more is on the way than the
// server's send buffer, so that what the server could write shows what the client has read.
inline constexpr const char* hostile_url = "http://localhost/hostile";
inline constexpr const char* calm_url = "http://localhost/calm";

struct Report {
  Outcome outcome;
  std::chrono::milliseconds time{0};
  std::size_t growth = 0;  // of the resident set, at its peak
  bool usable = false;     // the loop still serves another call afterwards
};

// In the child: meets the server, and prints what came of it as one line of JSON. Returns the exit
// code.
int be_victim(const Row& row, const std::string& socket_path);
// In the parent: what the child has printed. Throws if it is no report.
Report read_report(const std::string& output);

}  // namespace mcphttp::test
