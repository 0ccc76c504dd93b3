#include "support/sse_oracle.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace mcphttp::test {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

struct Line {
  std::string text;
  bool ended = false;
};

// Step one: lines, whatever ends them. The last one has not ended; it may be empty.
std::vector<Line> lines_of(std::string_view stream) {
  std::vector<Line> lines(1);
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const bool crlf = stream[i] == '\r' && i + 1 < stream.size() && stream[i + 1] == '\n';
    if (stream[i] == '\r' || stream[i] == '\n') {
      lines.back().ended = true;
      lines.emplace_back();
    } else {
      lines.back().text += stream[i];
    }
    if (crlf) ++i;
  }
  return lines;
}

std::optional<std::uint64_t> to_number(const std::string& digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return {};
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  const std::string significant = digits.substr(first);
  const std::string largest = std::to_string(std::numeric_limits<std::uint64_t>::max());
  const bool fits = significant.size() < largest.size() ||
                    (significant.size() == largest.size() && significant <= largest);
  return fits ? std::stoull(significant) : std::numeric_limits<std::uint64_t>::max();
}

bool is_known(std::string_view name) { return name == "data" || name == "event" || name == "id"; }

// An unfinished line that may still become a line whose name does not count.
bool is_undecided(const Line& line, bool first) {
  const auto begins = [&line](std::string_view name) {
    return line.text.size() <= name.size() && name.substr(0, line.text.size()) == line.text;
  };
  const bool mark = first && byte_order_mark.substr(0, line.text.size()) == line.text;
  return !line.ended && (mark || begins("data") || begins("event") || begins("id"));
}

}  // namespace

OracleResult sse_oracle(std::string_view stream, std::size_t max_event_size, std::string last_id) {
  const bool marked = stream.substr(0, byte_order_mark.size()) == byte_order_mark;
  if (marked) stream.remove_prefix(byte_order_mark.size());

  OracleResult result;
  result.last_id = std::move(last_id);
  OracleEvent block;
  bool first = !marked;
  for (const Line& line : lines_of(stream)) {
    const std::size_t colon = std::min(line.text.find(':'), line.text.size());
    const std::string name = line.text.substr(0, colon);
    std::string value = line.text.substr(std::min(colon + 1, line.text.size()));
    if (!value.empty() && value.front() == ' ') value.erase(0, 1);

    std::size_t size = block.data.size() + block.type.size() + block.id.size();
    const bool comment = colon == 0 && !line.text.empty();
    if (is_undecided(line, std::exchange(first, false))) {
    } else if (is_known(name)) {
      size += value.size() + (name == "data" && block.has_data ? 1 : 0);
    } else if (!comment) {
      size += line.text.size();
    }
    if (size > max_event_size) {
      result.too_large = true;
      return result;
    }
    if (!line.ended) return result;

    if (line.text.empty()) {
      if (block.has_id) result.last_id = block.id;
      if (block.has_data || block.has_id || block.retry || !block.type.empty()) {
        if (block.type.empty()) block.type = "message";
        block.id = result.last_id;
        result.events.push_back(block);
      }
      block = {};
    } else if (name == "data") {
      block.data += (block.has_data ? "\n" : "") + value;
      block.has_data = true;
    } else if (name == "event") {
      block.type = value;
    } else if (name == "id" && value.find('\0') == std::string::npos) {
      block.id = value;
      block.has_id = true;
    } else if (name == "retry" && to_number(value)) {
      block.retry = result.retry = to_number(value);
    }
  }
  return result;
}

}  // namespace mcphttp::test
