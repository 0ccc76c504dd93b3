// A program run in a process of its own, for what can only be measured or survived there: peak
// memory, exit, a hang.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/socket.hpp"

namespace mcphttp::test {

struct ChildOptions {
  std::vector<std::pair<std::string, std::string>> environment;  // added to that of this process
  std::chrono::milliseconds guard =
      std::chrono::seconds{60};  // from the start; the child is killed then
};

struct ChildResult {
  int exit_code = -1;  // -1 if a signal ended it
  int signal = 0;      // that signal; SIGKILL after the guard
  bool timed_out = false;
  std::string output;                     // all of stdout
  std::string errors;                     // all of stderr
  std::chrono::microseconds cpu_time{0};  // user and system

  // Peak resident set in bytes (wait4(2), ru_maxrss). The kernel carries the parent's peak over
  // fork and exec, so that a smaller one cannot be seen from outside: nullopt then. A child that
  // must know its own prints peak_rss_bytes().
  std::optional<std::size_t> peak_rss_bytes;

  bool succeeded() const { return exit_code == 0 && !timed_out; }
};

// A running child. stdin is /dev/null. Its output is read in wait() only: one that writes more than
// a pipe holds (64 KiB) stands still until then. Thread-compatible.
class ChildProcess {
 public:
  // `program`: a path. Throws std::system_error if it cannot be started.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               const ChildOptions& options = {});
  // Kills the child's process group unless wait() has returned.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }

  // Waits for the end of the child, or for the guard (counted from the start), and kills what is
  // left of its process group. To be called once.
  ChildResult wait();

 private:
  void start(const std::string& program, const std::vector<std::string>& arguments,
             const ChildOptions& options);
  void collect_output(ChildResult& result);
  void reap(ChildResult& result);
  void kill_group() const;

  std::chrono::steady_clock::time_point deadline_;
  std::size_t inherited_peak_ = 0;  // of this process when the child was started, in bytes
  pid_t pid_ = -1;                  // -1 once reaped
  Socket exited_;                   // a pidfd: readable when the child has ended
  Socket output_;                   // the reading ends of its pipes
  Socket errors_;
};

// Starts the program and waits for its end.
ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      const ChildOptions& options = {});

// Runs one test case of this very program, one hidden by a tag such as [.child], in a process of
// its own. What the test case writes to stdout is in `output`, among the lines of the test
// framework.
ChildResult run_in_child(const std::string& test_name, const ChildOptions& options = {});

// The path of the running program.
std::string self_executable();

}  // namespace mcphttp::test
