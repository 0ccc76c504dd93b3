#include "answers.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include "corpus.hpp"

namespace mcphttp::bench {
namespace {

constexpr std::string_view small_result =
    R"({"content":[{"type":"text","text":"hello"}],"isError":false})";
constexpr std::string_view initialize_result =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
    R"("serverInfo":{"name":"bench","version":"1"}})";
constexpr std::string_view empty_answer_headers = "Content-Length: 0\r\n\r\n";
// Sent in one write; many small ones would measure the server.
constexpr std::size_t events_in_block = 16;
constexpr std::size_t event_size = std::size_t{64} * 1024;

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_call_of(const Request& request, std::string_view method) {
  return request.body.find("\"method\":\"" + std::string(method) + '"') != std::string_view::npos;
}

// The id as raw JSON, empty for a notification. Clients send numbers, none with another member `id`
// before it.
std::string_view id_in(std::string_view body) {
  constexpr std::string_view name = "\"id\":";
  const std::size_t at = body.find(name);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + name.size();
  return body.substr(begin, body.find_first_of(",}", begin) - begin);
}

std::string json_head(std::size_t size) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(size) + "\r\n\r\n";
}

std::string message_begin(std::string_view id) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id);
}

std::string message_end(std::string_view result) {
  return ",\"result\":" + std::string(result) + "}";
}

Answer whole(std::string_view json) { return {json_head(json.size()) + std::string(json)}; }

}  // namespace

Answer Answers::to(const Request& request) {
  const std::string_view id = id_in(request.body);
  if (request.method != "POST") {
    return {"HTTP/1.1 405 Method Not Allowed\r\n" + std::string(empty_answer_headers)};
  }
  if (id.empty()) return {"HTTP/1.1 202 Accepted\r\n" + std::string(empty_answer_headers)};
  if (is_call_of(request, "server/discover")) {
    return {"HTTP/1.1 400 Bad Request\r\n" + std::string(empty_answer_headers)};
  }
  if (is_call_of(request, "initialize")) {
    return whole(message_begin(id) + message_end(initialize_result));
  }
  return result_of(request.target, id);
}

Answer Answers::result_of(std::string_view target, std::string_view id) {
  const std::string small = message_begin(id) + message_end(small_result);
  if (target == "/json") return whole(small);
  if (target == "/sse") return {event_stream_head() + event_chunk(small) + "0\r\n\r\n"};
  const std::string& rest = kept(std::string(target));
  if (begins_with(target, "/stream/")) {
    return {event_stream_head(), rest, number_in(target) / events_in_block,
            event_chunk(small) + "0\r\n\r\n"};
  }
  const std::string begin = message_begin(id);
  return {json_head(begin.size() + rest.size()) + begin, rest, 1};
}

const std::string& Answers::kept(const std::string& target) {
  const auto known = results_.find(target);
  if (known != results_.end()) return known->second;
  std::string text;
  if (begins_with(target, "/stream/")) {
    const std::string chunk = event_chunk(notification(event_size));
    for (std::size_t i = 0; i < events_in_block; ++i) text += chunk;
  } else {
    // 32 bytes are left for the beginning of the message, whatever its id.
    const std::size_t size = number_in(target) - message_end({}).size() - 32;
    text = message_end(begins_with(target, "/listing/") ? listing(size) : base64_image(size));
  }
  return results_.emplace(target, std::move(text)).first->second;
}

std::string event_stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
         "Transfer-Encoding: chunked\r\n\r\n";
}

std::string event_chunk(std::string_view data) {
  constexpr std::string_view begin = "event: message\ndata: ";
  constexpr std::string_view end = "\n\n";
  std::array<char, 32> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", begin.size() + data.size() + end.size());
  return std::string(size.data()) + std::string(begin) + std::string(data) + std::string(end) +
         "\r\n";
}

std::size_t number_in(std::string_view target) {
  const std::size_t slash = target.rfind('/');
  return slash == std::string_view::npos ? 0 : std::stoul(std::string(target.substr(slash + 1)));
}

}  // namespace mcphttp::bench
