// Calls a tool of any MCP server and shows its progress as it arrives; then shows a bound at work.
//
//   agent URL
#include <unistd.h>
#include <mcphttp/client.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

const bool on_terminal = isatty(STDOUT_FILENO) == 1;

// Text of a server, fit for a terminal: no control character gets through (C0, DEL and C1), so no
// escape sequence does. The library hands out valid UTF-8, in which C1 is C2 80 to C2 9F.
std::string printable(std::string_view text) {
  std::string safe(text);
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const auto byte = static_cast<unsigned char>(safe[i]);
    const bool c0 = byte < 0x20 && byte != '\n' && byte != '\t';
    const bool c1 = byte >= 0x80 && byte < 0xA0 && i > 0 && safe[i - 1] == '\xC2';
    if (c1) safe[i - 1] = '?';
    if (c0 || c1 || byte == 0x7F) safe[i] = '?';
  }
  return safe;
}

std::string first_line(std::string_view text) { return printable(text.substr(0, text.find('\n'))); }

void draw(const mcphttp::Progress& step) {
  constexpr std::size_t width = 30;
  const double share = step.total.value_or(0) > 0 ? step.progress / *step.total : 0;
  const std::size_t filled = share > 0 ? static_cast<std::size_t>(width * std::min(share, 1.0)) : 0;
  std::cout << (on_terminal ? "\r\x1b[K[" : "[") << std::string(filled, '#')
            << std::string(width - filled, '.') << "] " << step.progress;
  if (step.total) std::cout << '/' << *step.total;
  std::cout << ' ' << first_line(step.message) << (on_terminal ? "" : "\n") << std::flush;
}

void print(const mcphttp::ToolResult& result) {
  if (result.is_error) std::cout << "the tool reports a failure:\n";
  for (const mcphttp::ContentBlock& block : result.content) {
    if (block.type == "text") std::cout << printable(block.text) << '\n';
  }
}

bool offers(const std::vector<mcphttp::Tool>& tools, std::string_view name) {
  const auto has_name = [name](const mcphttp::Tool& tool) { return tool.name == name; };
  return std::any_of(tools.begin(), tools.end(), has_name);
}

struct ToolCall {
  std::string tool;
  std::string arguments;
};

// A tool known to report progress, or else the first whose schema requires no arguments.
std::optional<ToolCall> choose(const std::vector<mcphttp::Tool>& tools) {
  if (offers(tools, "build")) return ToolCall{"build", R"({"target":"all","steps":10})"};
  if (offers(tools, "trigger-long-running-operation")) {
    return ToolCall{"trigger-long-running-operation", R"({"duration":2,"steps":5})"};
  }
  for (const mcphttp::Tool& tool : tools) {
    if (tool.input_schema.find("\"required\"") == std::string::npos) return ToolCall{tool.name, ""};
  }
  return std::nullopt;
}

int fail(const mcphttp::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

// Asks for a reply of 64 MiB, which ends at the limit; the next call finds the client unharmed.
int show_bound(mcphttp::Client& client) {
  std::cout << "\nasking for 64 MiB where 1 MiB is allowed\n";
  const auto flooded = client.call_tool("flood", R"({"megabytes":64})");
  if (!flooded) std::cout << flooded.error().to_string() << '\n';

  const auto echoed = client.call_tool("echo", R"({"text":"and the client goes on"})");
  if (!echoed) return fail(echoed.error());
  print(*echoed);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: agent URL\n", 2;

  mcphttp::ClientOptions options;
  options.url = argv[1];
  options.client_info = {"agent-example", "1.0"};
  options.limits.max_json_response_size = 1 << 20;  // 1 MiB

  auto client = mcphttp::Client::connect(options);
  if (!client) return fail(client.error());
  const mcphttp::ServerInfo& server = client->server();
  std::cout << "connected to " << first_line(server.implementation.name) << ' '
            << first_line(server.implementation.version) << ", MCP "
            << first_line(server.protocol_version) << '\n';

  const auto tools = client->list_tools();
  if (!tools) return fail(tools.error());
  for (const mcphttp::Tool& tool : *tools) {
    std::cout << "  " << first_line(tool.name) << ": " << first_line(tool.description) << '\n';
  }

  const auto chosen = choose(*tools);
  if (!chosen) return std::cout << "no tool that can be called without arguments\n", 0;
  std::cout << "\ncalling " << first_line(chosen->tool) << '\n';
  const auto result = client->call_tool(chosen->tool, chosen->arguments, {.on_progress = draw});
  if (on_terminal) std::cout << '\n';
  if (!result) return fail(result.error());
  print(*result);

  return offers(*tools, "flood") ? show_bound(*client) : 0;
}
