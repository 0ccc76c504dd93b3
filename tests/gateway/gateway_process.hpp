// The example gateway in a process of its own, and its audit.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mcphttp/transport.hpp>
#include <nlohmann/json.hpp>

#include "support/child_process.hpp"

namespace mcphttp::test {

using Json = nlohmann::json;

// A folder of its own under /tmp, removed with all in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Thread-compatible.
class GatewayProcess {
 public:
  // Returns once it listens; throws std::runtime_error if it does not. `input`: a file for its
  // stdin.
  explicit GatewayProcess(const std::string& upstream,
                          const std::vector<std::string>& arguments = {},
                          const std::string& input = "/dev/null");

  const std::string& url() const { return url_; }
  std::uint16_t port() const;
  pid_t pid() const { return process_->pid(); }
  // What it has printed so far.
  std::string log() const;

  // The lines of its audit so far.
  std::vector<Json> audit() const;
  // Waits until a line has these members with these values; null if it does not come in time.
  Json wait_for_line(const Json& members) const;

  // SIGTERM, and how it ended then.
  ChildResult stop();

 private:
  const TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> process_;
  std::string url_;
};

// A transport that knows nothing of sessions, and one request through it: as a client that can be
// looked into.
class Downstream {
 public:
  explicit Downstream(const std::string& url);
  Result<Response> send(std::string body, const std::string& method = "POST",
                        std::vector<Header> headers = {});

 private:
  Transport transport_;
};

std::string rest_of(Response& response);

// The request that a client of plain sockets writes; `fields`: whole lines.
std::string raw_post(const std::string& body, const std::string& fields = "");

inline constexpr const char* list_json = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
std::string tool_call_json(int id, const std::string& tool, const std::string& arguments = "{}");

}  // namespace mcphttp::test
