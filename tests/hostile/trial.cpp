#include "trial.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>

#include "integration/helpers.hpp"
#include "support/child_process.hpp"
#include "support/memory.hpp"

namespace mcphttp::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kibibyte = 1024;
// What the kernel and libcurl hold between the server's write and the client's reader: the send
// buffer (the kernel doubles it, and fills it by whole buffers), and one receive buffer.
constexpr int send_buffer = 32 * 1024;
constexpr std::size_t on_the_way = 4 * send_buffer + 64 * kibibyte;
// What the resident set grows by when nothing of size is kept: pages of the heap, of libraries and
// of a second thread's stack that are touched for the first time.
constexpr std::size_t first_touch = 512 * kibibyte;

// Long beyond every time-out in the table: a client that has not ended by then hangs.
constexpr auto hang = 30s;

// Serves a row, and keeps count of what could be written.
class HostileServer {
 public:
  explicit HostileServer(const Row& row)
      : row_(row),
        server_(
            [this](Connection& connection, const Request& request) { serve(connection, request); },
            {send_buffer, socket_path()}) {}

  static std::string socket_path() {
    return (std::filesystem::temp_directory_path() / ("hostile-" + std::to_string(getpid())))
        .string();
  }
  std::size_t written() const { return written_; }

 private:
  void serve(Connection& connection, const Request& request) {
    if (request.target == "/calm") return serve_calmly(connection, request);
    ++busy_;
    row_.server(connection, request);
    written_ = std::max<std::size_t>(written_, connection.bytes_written());
    --busy_;
  }

  // Not before the hostile connections are closed by the client: that is part of being usable.
  void serve_calmly(Connection& connection, const Request& request) {
    if (!eventually([this] { return busy_ == 0; })) return connection.close();
    if (id_of(request) == "1") {
      answer_json(connection, request);
    } else {
      answer_events(connection, request);
    }
  }

  const Row& row_;
  std::atomic<int> busy_{0};
  std::atomic<std::size_t> written_{0};
  ScriptedServer server_;  // last: its threads use all the others
};

std::string judge(const Row& row, const Verdict& verdict) {
  const Report& report = verdict.report;
  if (report.outcome.name != row.outcome) return "the outcome should be " + row.outcome;
  if (report.outcome.detail.find(row.detail) == std::string::npos)
    return "the detail should name " + row.detail + ": " + report.outcome.detail;
  if (!report.usable) return "the client is of no use afterwards, or has not closed";
  if (verdict.past_limit > on_the_way) return "too much was read past the limit";
  if (!built_with_sanitizers() && report.growth > verdict.memory_allowed)
    return "too much memory was taken";
  return {};
}

}  // namespace

Verdict try_row(const Row& row) {
  Verdict verdict;
  verdict.memory_allowed = row.memory(row.limits) + first_touch;
  const HostileServer server(row);
  ChildOptions options;
  options.guard = hang;
  const ChildResult child =
      run_child(self_executable(), {"--victim", row.name, HostileServer::socket_path()}, options);
  if (!child.succeeded()) {
    verdict.fault = child.timed_out ? "it hangs" : "the client died: " + child.errors;
    return verdict;
  }
  verdict.report = read_report(child.output);
  if (server.written() > row.may_send) verdict.past_limit = server.written() - row.may_send;
  verdict.fault = judge(row, verdict);
  return verdict;
}

}  // namespace mcphttp::test
