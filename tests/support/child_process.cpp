#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "support/memory.hpp"

namespace mcphttp::test {
namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

struct Pipe {
  Socket reading;
  Socket writing;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  check(pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
  return {Socket(ends[0]), Socket(ends[1])};
}

// By number: <sys/pidfd.h> of glibc 2.36 declares pidfd_open(2) without C linkage.
Socket open_pidfd(pid_t pid) {
  Socket pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  check(pidfd.is_open() ? 0 : errno, "pidfd_open");
  return pidfd;
}

// The two attribute objects of posix_spawn(3), released together.
class SpawnPlan {
 public:
  SpawnPlan(const Pipe& output, const Pipe& errors) {
    check(posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    check(posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
    check(posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
          "addopen");
    check(posix_spawn_file_actions_adddup2(&actions_, output.writing.fd(), STDOUT_FILENO),
          "adddup2");
    check(posix_spawn_file_actions_adddup2(&actions_, errors.writing.fd(), STDERR_FILENO),
          "adddup2");
    check(posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP),
          "posix_spawnattr_setflags");
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  pid_t run(std::vector<std::string> arguments, std::vector<std::string> environment) const {
    pid_t pid = -1;
    const std::string program = arguments.front();
    check(posix_spawn(&pid, program.c_str(), &actions_, &attributes_, pointers(arguments).data(),
                      pointers(environment).data()),
          "posix_spawn");
    return pid;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Ours, with the additions in place of variables of the same name.
std::vector<std::string> merged_environment(const ChildOptions& options) {
  std::vector<std::string> added;
  added.reserve(options.environment.size());
  for (const auto& variable : options.environment) {
    added.push_back(variable.first + "=" + variable.second);
  }
  std::vector<std::string> merged = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const std::size_t name_size = variable.find('=') + 1;
    const bool replaced = std::any_of(added.begin(), added.end(), [&](const std::string& other) {
      return other.compare(0, name_size, variable, 0, name_size) == 0;
    });
    if (!replaced) merged.push_back(variable);
  }
  return merged;
}

// Appends what is there now. False at the end of the stream.
bool read_some(const Socket& pipe, std::string& text) {
  std::array<char, 4096> buffer{};
  const auto got = read(pipe.fd(), buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

std::chrono::microseconds to_microseconds(const timeval& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const ChildOptions& options)
    : deadline_(std::chrono::steady_clock::now() + options.guard) {
  start(program, arguments, options);
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  kill_group();
  waitpid(pid_, nullptr, 0);
}

ChildResult ChildProcess::wait() {
  ChildResult result;
  collect_output(result);
  kill_group();
  reap(result);
  return result;
}

void ChildProcess::start(const std::string& program, const std::vector<std::string>& arguments,
                         const ChildOptions& options) {
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  std::vector<std::string> command{program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  pid_ = SpawnPlan(output, errors).run(std::move(command), merged_environment(options));
  inherited_peak_ = peak_rss_bytes();
  exited_ = open_pidfd(pid_);
  output_ = std::move(output.reading);
  errors_ = std::move(errors.reading);
}

// Reads until the child has ended and the pipes are empty; pipes that a grandchild still holds open
// are not waited for.
void ChildProcess::collect_output(ChildResult& result) {
  std::array<pollfd, 3> watched{
      {{exited_.fd(), POLLIN, 0}, {output_.fd(), POLLIN, 0}, {errors_.fd(), POLLIN, 0}}};
  bool exited = false;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
    const int ready = poll(watched.data(), watched.size(),
                           exited ? 0 : static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready < 0) continue;
    if (ready == 0) {
      result.timed_out = !exited;
      return;
    }
    if (watched[1].revents != 0 && !read_some(output_, result.output)) watched[1].fd = -1;
    if (watched[2].revents != 0 && !read_some(errors_, result.errors)) watched[2].fd = -1;
    if (watched[0].revents != 0) {
      exited = true;
      watched[0].fd = -1;
    }
  }
}

void ChildProcess::reap(ChildResult& result) {
  int status = 0;
  rusage usage{};
  while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.cpu_time = to_microseconds(usage.ru_utime) + to_microseconds(usage.ru_stime);
  const std::size_t peak = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  if (peak > inherited_peak_) result.peak_rss_bytes = peak;
}

void ChildProcess::kill_group() const { kill(-pid_, SIGKILL); }

ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      const ChildOptions& options) {
  return ChildProcess(program, arguments, options).wait();
}

ChildResult run_in_child(const std::string& test_name, const ChildOptions& options) {
  return run_child(self_executable(), {test_name}, options);
}

std::string self_executable() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace mcphttp::test
