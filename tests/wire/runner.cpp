#include "wire/runner.hpp"

#include <exception>
#include <fstream>
#include <iostream>
#include <vector>

#include "wire/driver.hpp"
#include "wire/expectations.hpp"

namespace mcphttp::test::wire {
namespace {

// All differences of one case on one line.
std::string joined(const std::vector<std::string>& differences) {
  std::string line;
  for (const std::string& difference : differences) {
    if (!line.empty()) line += "; ";
    line += difference;
  }
  return line;
}

}  // namespace

void Runner::run_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(path, "cannot be read");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) run_line(line);
  }
}

void Runner::run_line(const std::string& line) {
  const auto script = parse_script(line);
  if (!script) return fail("?", script.error());
  if (!only_.empty() && script->id != only_) return;
  try {
    const Observation seen = drive(*script, time_scale_);
    const auto differences = find_differences(*script, seen, time_scale_);
    if (!differences.empty()) return fail(script->id, joined(differences));
    ++passed_;
  } catch (const std::exception& error) {
    fail(script->id, error.what());
  }
}

void Runner::fail(const std::string& id, const std::string& why) {
  std::cout << "FAILED " << id << ": " << why << std::endl;
  ++failed_;
}

}  // namespace mcphttp::test::wire
