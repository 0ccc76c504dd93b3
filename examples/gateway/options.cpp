#include "options.hpp"

#include <charconv>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace gateway {
namespace {

using std::chrono::milliseconds;

template <class T>
T number(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0) {
    throw std::invalid_argument("not a number: " + text);
  }
  return value;
}

std::size_t size(const std::string& text) { return number<std::size_t>(text); }

milliseconds seconds(const std::string& text) {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::duration<double>(number<double>(text)));
}

void listen_on(Options& options, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) throw std::invalid_argument("not HOST:PORT: " + text);
  options.host = text.substr(0, colon);
  options.port = number<int>(text.substr(colon + 1));
}

void go_upstream(Options& options, const std::string& url) {
  options.upstream.url = url;
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string::npos ? host : url.find('/', host + 3);
  options.path = path == std::string::npos ? "/" : url.substr(path, url.find('?', path) - path);
}

void set_rule(Options& options, const std::string& rule) {
  using Uninspected = mcphttp::RelayOptions::Uninspected;
  if (rule != "refuse" && rule != "pass")
    throw std::invalid_argument("not refuse or pass: " + rule);
  options.listings.uninspected = rule == "pass" ? Uninspected::pass : Uninspected::refuse;
}

void bound_messages(Options& options, const std::string& text) {
  options.upstream.limits.max_json_response_size = size(text);
  options.upstream.limits.max_sse_event_size = size(text);
}

struct Flag {
  std::string_view name;
  std::string_view value;
  std::string_view help;
  std::function<void(Options&, const std::string&)> set;
};

const std::vector<Flag>& flags() {
  using O = Options;
  using S = const std::string;
  static const std::vector<Flag> all{
      {"--upstream", "URL", "the MCP endpoint; its path is served too", go_upstream},
      {"--unix-socket", "FILE", "reach it by this Unix socket",
       [](O& o, S& v) { o.upstream.unix_socket_path = v; }},
      {"--listen", "HOST:PORT", "default 127.0.0.1:0, a free port", listen_on},
      {"--allow-host", "NAME", "accept it in Host, beside loopback; *",
       [](O& o, S& v) { o.allowed_hosts.insert(v); }},
      {"--allow-origin", "ORIGIN", "accept web pages of it, beside loopback; *",
       [](O& o, S& v) { o.allowed_origins.insert(v); }},
      {"--deny", "TOOL", "hide it, refuse its calls; *", [](O& o, S& v) { o.denied.insert(v); }},
      {"--approve", "TOOL", "hold its calls for approval; *", [](O& o, S& v) { o.held.insert(v); }},
      {"--approve-command", "COMMAND", "whose exit status decides, instead of the terminal",
       [](O& o, S& v) { o.approve_command = v; }},
      {"--approve-within", "SECONDS", "default 60",
       [](O& o, S& v) { o.approve_within = seconds(v); }},
      {"--audit", "FILE", "append one JSON object a line; default stderr",
       [](O& o, S& v) { o.audit = v; }},
      {"--over-limit", "refuse|pass", "what to do with a listing over the next two; default refuse",
       set_rule},
      {"--max-listing", "BYTES", "default 4 MiB",
       [](O& o, S& v) { o.listings.max_whole_size = size(v); }},
      {"--listing-within", "SECONDS", "default 30",
       [](O& o, S& v) { o.listings.whole_within = seconds(v); }},
      {"--max-request", "BYTES", "a request's body, default 4 MiB",
       [](O& o, S& v) { o.max_request_size = size(v); }},
      {"--max-message", "BYTES", "a JSON answer, an event; default 16 MiB", bound_messages},
      {"--max-stream", "BYTES", "a whole stream; default unlimited",
       [](O& o, S& v) { o.upstream.limits.max_stream_size = size(v); }},
      {"--max-queued", "BYTES", "read ahead of a slow client; default 1 MiB",
       [](O& o, S& v) { o.upstream.limits.max_queued_size = size(v); }},
      {"--headers-within", "SECONDS", "for an answer to begin; default 300",
       [](O& o, S& v) { o.upstream.timeouts.headers = seconds(v); }},
      {"--idle-within", "SECONDS", "silence inside an answer; default 300",
       [](O& o, S& v) { o.upstream.timeouts.idle = seconds(v); }},
      {"--stall-within", "SECONDS", "a client that takes nothing; default 300",
       [](O& o, S& v) { o.stall = seconds(v); }},
      {"--grace", "SECONDS", "for what runs at SIGINT or SIGTERM; default 10",
       [](O& o, S& v) { o.grace = seconds(v); }},
      {"--connections", "N", "at a time, half of them for GET streams; default 128",
       [](O& o, S& v) { o.connections = size(v); }},
  };
  return all;
}

const Flag& find_flag(std::string_view name) {
  for (const Flag& flag : flags()) {
    if (flag.name == name) return flag;
  }
  throw std::invalid_argument("unknown option " + std::string(name));
}

}  // namespace

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const Flag& flag = find_flag(argv[i]);
    if (i + 1 == argc) throw std::invalid_argument(std::string(flag.name) + " needs a value");
    flag.set(options, argv[i + 1]);
  }
  if (options.path.empty()) throw std::invalid_argument("--upstream is missing");
  if (options.connections < 2) throw std::invalid_argument("--connections: at least 2");
  return options;
}

std::string usage() {
  std::string text = "usage: gateway --upstream URL [OPTION VALUE]...   *: may be repeated\n";
  for (const Flag& flag : flags()) {
    std::string line = "  " + std::string(flag.name) + ' ' + std::string(flag.value);
    line.resize(std::max<std::size_t>(line.size() + 1, 30), ' ');
    text += line + std::string(flag.help) + '\n';
  }
  return text;
}

}  // namespace gateway
