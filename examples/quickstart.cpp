// The example of the README: one tool call with live progress.
//
//   quickstart URL
#include <mcphttp/client.hpp>

#include <iostream>

void draw(const mcphttp::Progress& step) { std::cout << step.progress << std::endl; }

int report(const mcphttp::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

int build(const char* url) {
  mcphttp::ClientOptions options;
  options.url = url;
  options.limits.max_json_response_size = 4 << 20;  // 4 MiB for one JSON body; default 16 MiB

  auto client = mcphttp::Client::connect(options);
  if (!client) return report(client.error());

  auto result = client->call_tool("build", R"({"target":"all"})", {.on_progress = draw});
  if (!result) return report(result.error());
  for (const auto& block : result->content) std::cout << block.text << '\n';
  return 0;
}

int main(int argc, char** argv) { return argc == 2 ? build(argv[1]) : 2; }
