#include "gateway_process.hpp"

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "helpers.hpp"

namespace mcphttp::test {
namespace {

constexpr std::string_view announcement = "listening on ";

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_members(const Json& line, const Json& members) {
  return std::all_of(members.items().begin(), members.items().end(), [&](const auto& member) {
    return line.contains(member.key()) && line[member.key()] == member.value();
  });
}

TransportOptions downstream_options(const std::string& url) {
  TransportOptions options;
  options.url = url;
  return options;
}

}  // namespace

TemporaryFolder::TemporaryFolder() : path_("/tmp/mcphttp-gateway-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

// Through a shell: a pipe that nobody empties would stop it.
GatewayProcess::GatewayProcess(const std::string& upstream,
                               const std::vector<std::string>& arguments,
                               const std::string& input) {
  std::vector<std::string> shell{"-c", R"(log=$1 in=$2; shift 2; exec "$@" >"$log" 2>&1 <"$in")",
                                 "sh", folder_.file("log"), input};
  shell.insert(shell.end(), {MCPHTTP_GATEWAY, "--upstream", upstream, "--audit",
                             folder_.file("audit"), "--grace", "1"});
  shell.insert(shell.end(), arguments.begin(), arguments.end());
  ChildOptions options;
  options.guard = std::chrono::minutes(10);
  process_ = std::make_unique<ChildProcess>("/bin/sh", shell, options);
  const auto listens = [&] {
    const std::string text = log();
    return text.rfind(announcement, 0) == 0 && text.find('\n') != std::string::npos;
  };
  if (!eventually(listens)) throw std::runtime_error("the gateway does not start: " + log());
  const std::string text = log();
  url_ = text.substr(announcement.size(), text.find('\n') - announcement.size());
}

std::uint16_t GatewayProcess::port() const {
  return static_cast<std::uint16_t>(std::stoi(url_.substr(url_.rfind(':') + 1)));
}

std::string GatewayProcess::log() const { return content_of(folder_.file("log")); }

std::vector<Json> GatewayProcess::audit() const {
  std::vector<Json> lines;
  std::istringstream text(content_of(folder_.file("audit")));
  for (std::string line; std::getline(text, line) && !text.eof();) {
    lines.push_back(Json::parse(line));
  }
  return lines;
}

Json GatewayProcess::wait_for_line(const Json& members) const {
  Json found;
  eventually([&] {
    const std::vector<Json> lines = audit();
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const Json& candidate) {
      return has_members(candidate, members);
    });
    if (line == lines.end()) return false;
    found = *line;
    return true;
  });
  return found;
}

ChildResult GatewayProcess::stop() {
  kill(process_->pid(), SIGTERM);
  return process_->wait();
}

Downstream::Downstream(const std::string& url)
    : transport_(make_transport(downstream_options(url))) {}

Result<Response> Downstream::send(std::string body, const std::string& method,
                                  std::vector<Header> headers) {
  ForwardRequest request;
  request.method = method;
  request.headers = std::move(headers);
  request.headers.push_back({"Accept", "application/json, text/event-stream"});
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  request.body = std::move(body);
  return transport_.forward(std::move(request));
}

std::string rest_of(Response& response) {
  std::string bytes;
  while (auto more = response.read()) bytes += *more;
  return bytes;
}

std::string raw_post(const std::string& body, const std::string& fields) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string tool_call_json(int id, const std::string& tool, const std::string& arguments) {
  return call_json(id, R"({"name":")" + tool + R"(","arguments":)" + arguments + "}");
}

}  // namespace mcphttp::test
