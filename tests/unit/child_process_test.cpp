// Child processes and the figures of the own process.
#include "support/child_process.hpp"

#include <sys/socket.h>
#include <chrono>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "support/memory.hpp"
#include "support/socket.hpp"

using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mib = std::size_t{1024} * 1024;

ChildResult run_shell(const std::string& command, const ChildOptions& options = {}) {
  return run_child("/bin/sh", {"-c", command}, options);
}

// Writes to every page, so that all of it is resident.
std::vector<char> occupy(std::size_t bytes) {
  std::vector<char> block(bytes, 'x');
  return block;
}

}  // namespace

TEST_CASE("a child of the tests occupies memory", "[.child]") {
  const auto block = occupy(256 * mib);
  std::cout << "last=" << block.back() << " peak=" << peak_rss_bytes()
            << " word=" << std::getenv("MCPHTTP_TEST_WORD") << "\n";
}

TEST_CASE("a child's output, errors and exit code are collected") {
  const ChildResult result = run_shell("echo out; echo err >&2; exit 3");
  CHECK(result.exit_code == 3);
  CHECK(result.signal == 0);
  CHECK_FALSE(result.timed_out);
  CHECK_FALSE(result.succeeded());
  CHECK(result.output == "out\n");
  CHECK(result.errors == "err\n");
}

TEST_CASE("output larger than a pipe is collected whole") {
  CHECK(run_shell("head -c 1000000 /dev/zero").output == std::string(1000000, '\0'));
}

TEST_CASE("variables are added to the child's environment or replace those there") {
  const ChildResult result = run_shell("echo $MCPHTTP_TEST_WORD:$HOME",
                                       {{{"MCPHTTP_TEST_WORD", "a=b"}, {"HOME", "h"}}, 60s});
  CHECK(result.output == "a=b:h\n");
}

TEST_CASE("a child that hangs is killed together with its own children") {
  const auto begin = std::chrono::steady_clock::now();
  const ChildResult result = run_shell("echo begun; sleep 300 & wait", {{}, 300ms});
  CHECK(result.timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(result.exit_code == -1);
  CHECK(result.output == "begun\n");
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
}

TEST_CASE("a grandchild that keeps the pipe open does not hold up the result") {
  const ChildResult result = run_shell("sleep 30 & echo left", {{}, 20s});
  CHECK(result.succeeded());
  CHECK(result.output == "left\n");
}

TEST_CASE("destroying a child that runs ends it") {
  pid_t pid = -1;
  {
    const ChildProcess child("/bin/sleep", {"300"});
    pid = child.pid();
    CHECK(kill(pid, 0) == 0);
  }
  CHECK(kill(pid, 0) != 0);
}

TEST_CASE("a program that cannot be started is an error") {
  CHECK_THROWS_AS(run_child("/nonexistent/program", {}), std::system_error);
}

TEST_CASE("a test case run in a child tells its own peak memory") {
  const ChildResult result =
      run_in_child("a child of the tests occupies memory", {{{"MCPHTTP_TEST_WORD", "w"}}, 60s});
  INFO(result.output << result.errors);
  REQUIRE(result.succeeded());
  CHECK(result.output.find("word=w") != std::string::npos);
  const auto at = result.output.find("peak=");
  REQUIRE(at != std::string::npos);
  CHECK(std::stoull(result.output.substr(at + 5)) >= 256 * mib);
  REQUIRE(result.peak_rss_bytes);
  CHECK(*result.peak_rss_bytes >= 256 * mib);
}

TEST_CASE("a peak below that of the parent is unknown from outside") {
  { const auto block = occupy(64 * mib); }
  CHECK_FALSE(run_child("/bin/true", {}).peak_rss_bytes);
}

TEST_CASE("peak memory counts since its reset") {
  if (built_with_sanitizers()) return;
  { const auto block = occupy(64 * mib); }
  REQUIRE(reset_peak_rss());
  const std::size_t before = peak_rss_bytes();
  CHECK(before < current_rss_bytes() + mib);
  { const auto block = occupy(32 * mib); }
  CHECK(peak_rss_bytes() >= before + 31 * mib);
  CHECK(peak_rss_bytes() < before + 40 * mib);
}

TEST_CASE("threads and sockets of the process are counted") {
  std::thread([] {}).join();  // ThreadSanitizer starts a thread of its own with the first one
  const std::size_t threads = thread_count();
  const std::size_t sockets = open_sockets();
  std::size_t with_one_more = 0;
  std::thread([&] { with_one_more = thread_count(); }).join();
  CHECK(with_one_more == threads + 1);
  const Socket listener = listen_loopback(AF_INET, 0);
  const Socket event = make_event();
  CHECK(open_sockets() == sockets + 1);
}
