// Runs files of wire cases and counts.
#pragma once

#include <string>

namespace mcphttp::test::wire {

class Runner {
 public:
  // `only`: the id of a single case; empty for all. Every time of the cases is multiplied by
  // `time_scale`.
  Runner(std::string only, double time_scale) : only_(std::move(only)), time_scale_(time_scale) {}

  // Prints a line for each case that fails, with what differed. A file that cannot be read, and a
  // line that is no case, fail too.
  void run_file(const std::string& path);

  int passed() const { return passed_; }
  int failed() const { return failed_; }

 private:
  void run_line(const std::string& line);
  void fail(const std::string& id, const std::string& why);

  const std::string only_;
  const double time_scale_;
  int passed_ = 0;
  int failed_ = 0;
};

}  // namespace mcphttp::test::wire
