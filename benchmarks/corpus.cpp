#include "corpus.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>

namespace mcphttp::bench {
namespace {

// Pseudo-random, the same on every run (a linear congruential generator).
class Numbers {
 public:
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_ = 1;
};

constexpr std::array<std::string_view, 12> words{"the",    "file",   "reads", "search",
                                                 "path",   "result", "with",  "limit",
                                                 "server", "and",    "list",  "returns"};

// Text of exactly `size` bytes that a JSON string can hold as it is.
std::string prose(std::size_t size, Numbers& numbers) {
  std::string text;
  while (text.size() < size) {
    text += words[numbers.below(words.size())];
    text += ' ';
  }
  text.resize(size);
  return text;
}

std::string tool(std::size_t index, std::size_t description_size, Numbers& numbers) {
  const std::string number = std::to_string(index);
  return R"({"name":"tool_)" + number + R"(","title":"Tool )" + number + R"(","description":")" +
         prose(description_size, numbers) +
         R"(","inputSchema":{"type":"object","properties":{"path":{"type":"string"},)" +
         R"("limit":{"type":"integer","minimum":0,"maximum":1000}},"required":["path"],)" +
         R"("additionalProperties":false},"annotations":{"readOnlyHint":true}})";
}

std::string event(std::string_view kind, Numbers& numbers) {
  if (kind == "200") {
    constexpr std::string_view type = "event: message\n";
    constexpr std::size_t framing = std::string_view("data: \n\n").size();
    return std::string(type) + "data: " + notification(200 - type.size() - framing) + "\n\n";
  }
  if (kind == "64k") return "data: " + notification(std::size_t{64} * 1024) + "\n\n";
  if (kind != "lines") throw std::invalid_argument("no such kind of event stream");
  std::string block;
  for (int line = 0; line < 16; ++line) block += "data: " + prose(64, numbers) + "\n";
  return block + "\n";
}

}  // namespace

std::string event_stream(std::string_view kind, std::size_t size) {
  Numbers numbers;
  const std::string block = event(kind, numbers);
  std::string stream;
  stream.reserve(size + block.size());
  while (stream.size() < size) stream += block;
  return stream;
}

std::string one_event(std::size_t size) { return "data: " + std::string(size, 'x') + "\n\n"; }

std::string notification(std::size_t size) {
  const std::string begin =
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":")";
  const std::string end = R"("}})";
  Numbers numbers;
  return begin + prose(size - begin.size() - end.size(), numbers) + end;
}

std::string listing(std::size_t size) {
  constexpr std::size_t largest = 400;
  const std::string end = "]}";
  Numbers numbers;
  std::string text = R"({"tools":[)";
  std::size_t index = 0;
  while (size - text.size() - end.size() > 2 * largest) {
    text += tool(index++, 60 + numbers.below(100), numbers) + ',';
  }
  const std::size_t left = size - text.size() - end.size();
  return text + tool(index, left - tool(index, 0, numbers).size(), numbers) + end;
}

std::string base64_image(std::size_t size) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string begin = R"({"content":[{"type":"image","mimeType":"image/png","data":")";
  const std::string end = R"("}]})";
  Numbers numbers;
  std::string text = begin;
  text.reserve(size);
  while (text.size() < size - end.size()) text += alphabet[numbers.below(alphabet.size())];
  return text + end;
}

}  // namespace mcphttp::bench
