#include "approval.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace gateway {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto tick = 20ms;

// How long to wait for a decision.
struct Patience {
  Clock::time_point until;
  std::stop_token stop;
  bool is_over() const { return stop.stop_requested() || Clock::now() >= until; }
};

// One line of stdin without its end; nothing if it does not come in time. Unbuffered, so that
// poll(2) sees all there is.
std::optional<std::string> read_line(const Patience& patience) {
  std::string line;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (!patience.is_over()) {
    if (poll(&input, 1, static_cast<int>(tick.count())) <= 0) continue;
    char next = 0;
    if (read(STDIN_FILENO, &next, 1) != 1) return std::nullopt;
    if (next == '\n') return line;
    line += next;
  }
  return std::nullopt;
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File file_of(const std::string& text) {
  File file(std::tmpfile(), &std::fclose);
  if (!file || std::fputs(text.c_str(), file.get()) < 0) return {nullptr, &std::fclose};
  std::rewind(file.get());
  return file;
}

// In a process group of its own, with signals as a shell expects them, and without the
// descriptors of the gateway. -1 if it cannot be started.
pid_t start(const std::string& command, const std::string& argument, int input) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::array<std::string, 5> words{"sh", "-c", command, "approve", argument};
  std::array<char*, words.size() + 1> arguments{};
  std::transform(words.begin(), words.end(), arguments.begin(),
                 [](std::string& word) { return word.data(); });
  pid_t pid = -1;
  if (posix_spawn(&pid, "/bin/sh", &files, &attributes, arguments.data(), environ) != 0) pid = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

// True if it exits with 0 in time; it is killed after that.
bool succeeds(pid_t pid, const Patience& patience) {
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (patience.is_over()) {
      kill(-pid, SIGKILL);
      waitpid(pid, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(tick);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

Approval ask_on_terminal(std::chrono::milliseconds within) {
  auto one_at_a_time = std::make_shared<std::mutex>();
  return [=](const Call& call, std::uint64_t request, std::stop_token stop) {
    const std::lock_guard lock(*one_at_a_time);
    const std::string number = std::to_string(request);
    std::cerr << "Request " << number << " calls " << to_line(call.tool) << " with "
              << to_line(call.arguments) << "\nType " << number << " to allow it: " << std::flush;
    return read_line({Clock::now() + within, std::move(stop)}) == number;
  };
}

Approval ask_command(std::string command, std::chrono::milliseconds within) {
  return [=, command = std::move(command)](const Call& call, std::uint64_t /*request*/,
                                           std::stop_token stop) {
    const File input = file_of(to_line(call.arguments));
    if (!input) return false;
    const pid_t pid = start(command, call.tool, fileno(input.get()));
    return pid > 0 && succeeds(pid, {Clock::now() + within, std::move(stop)});
  };
}

}  // namespace gateway
