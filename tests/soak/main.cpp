// soak [--seconds N] [--seed S]: calls a flaky server for that long, and prints what came of it as
// one line of JSON. Fails if a call hangs or ends in an unknown way, if the server carries out a
// call twice, or if memory grows by more than 4 MiB after the first sixth of the time.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "callers.hpp"
#include "flaky_server.hpp"
#include "support/memory.hpp"
#include "support/socket.hpp"

namespace {

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr std::size_t allowed_growth = std::size_t{4} * 1024 * 1024;
constexpr std::chrono::seconds longest_call{30};

struct Settings {
  std::chrono::seconds duration{60};
  std::uint64_t seed = 1;
};

std::optional<Settings> read_arguments(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    const std::uint64_t value = std::strtoull(arguments[i + 1], nullptr, 10);
    if (name == "--seconds") {
      settings.duration = std::chrono::seconds(value);
    } else if (name == "--seed") {
      settings.seed = value;
    } else {
      return std::nullopt;
    }
  }
  return count % 2 == 1 ? std::optional(settings) : std::nullopt;
}

// The server in a process of its own, so that its memory does not count. Two lines come from it:
// its URL at the start, and its counts once the asking end of the pipe is closed.
class ServerProcess {
 public:
  // Before this process has a second thread.
  explicit ServerProcess(std::uint64_t seed) {
    std::array<int, 2> asking{};
    std::array<int, 2> telling{};
    if (pipe(asking.data()) != 0 || pipe(telling.data()) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(asking[1]);
      serve(seed, Socket(asking[0]), Socket(telling[1]));
      _exit(0);
    }
    close(asking[0]);
    close(telling[1]);
    asking_ = Socket(asking[1]);
    telling_ = Socket(telling[0]);
  }
  ~ServerProcess() {
    asking_.close();
    waitpid(pid_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::string read_line() {
    std::string line;
    for (char byte = 0; read(telling_.fd(), &byte, 1) == 1 && byte != '\n';) line += byte;
    return line;
  }
  Json stop() {
    asking_.close();
    return Json::parse(read_line());
  }

 private:
  static void serve(std::uint64_t seed, const Socket& asking, const Socket& telling) {
    const FlakyServer server(seed);
    tell(telling, server.url());
    char byte = 0;
    while (read(asking.fd(), &byte, 1) > 0) {
    }
    const FlakyServer::Counts counts = server.counts();
    tell(telling, Json{{"carried_out", counts.carried_out},
                       {"carried_out_again", counts.carried_out_again},
                       {"restarts", counts.restarts},
                       {"resumptions", counts.resumptions}}
                      .dump());
  }
  static void tell(const Socket& telling, const std::string& text) {
    const std::string line = text + '\n';
    if (write(telling.fd(), line.data(), line.size()) < 0) _exit(1);
  }

  pid_t pid_ = -1;
  Socket asking_;
  Socket telling_;
};

ClientOptions options_of(const std::string& url, std::atomic<std::uint64_t>& notifications) {
  ClientOptions options;
  options.url = url;
  options.era = Era::legacy;
  options.timeouts.connect = 5s;
  options.timeouts.headers = 800ms;
  options.timeouts.idle = 600ms;
  options.timeouts.total = 5s;
  options.reconnection.initial_delay = 20ms;
  options.reconnection.max_delay = 500ms;
  options.on_notification = [&](const Message&) { ++notifications; };
  return options;
}

int run(const Settings& settings) {
  ServerProcess server(settings.seed);
  std::atomic<std::uint64_t> notifications{0};
  auto client = Client::connect(options_of(server.read_line(), notifications));
  if (!client) {
    std::cerr << client.error().to_string() << '\n';
    return 1;
  }
  Callers callers(*client, settings.seed);
  const auto begun = Clock::now();
  std::size_t size_at_one_sixth = 0;
  while (Clock::now() - begun < settings.duration) {
    std::this_thread::sleep_for(100ms);
    if (size_at_one_sixth == 0 && 6 * (Clock::now() - begun) >= settings.duration)
      size_at_one_sixth = current_rss_bytes();
    if (callers.hang(longest_call)) {
      std::cerr << "a call hangs" << std::endl;
      std::abort();
    }
  }
  const std::size_t size_at_end = current_rss_bytes();
  const bool all_ended = callers.stop(longest_call);
  const Callers::Outcomes outcomes = callers.outcomes();
  const Json counts = server.stop();
  const bool grew = !built_with_sanitizers() && size_at_end > size_at_one_sixth + allowed_growth;
  const bool good = all_ended && outcomes.wrong == 0 && outcomes.results > 0 && !grew &&
                    counts["carried_out_again"] == 0;
  std::cout << Json{{"good", good},
                    {"seconds", settings.duration.count()},
                    {"seed", settings.seed},
                    {"results", outcomes.results},
                    {"errors", outcomes.errors},
                    {"wrong", outcomes.wrong},
                    {"notifications", notifications.load()},
                    {"server", counts},
                    {"rss_at_one_sixth", size_at_one_sixth},
                    {"rss_at_end", size_at_end}}
                   .dump()
            << std::endl;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto settings = read_arguments(argc, argv);
  if (!settings) {
    std::cerr << "usage: soak [--seconds N] [--seed S]\n";
    return 2;
  }
  return run(*settings);
}
