// HeaderReader: the header lines of one response in; its final head out. No I/O.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <mcphttp/response.hpp>

#include "http_fields.hpp"

namespace mcphttp {

// Holds no more than `max_size` bytes of lines. Thread-compatible.
class HeaderReader {
 public:
  // What counts: the bytes of every line of any block or trailer, and 32 for each, so that many
  // tiny ones cannot dodge the limit (ResponseLimits::max_header_size).
  explicit HeaderReader(std::size_t max_size) noexcept : max_size_(max_size) {}

  enum class Progress {
    reading,
    complete,   // the line ended the final block; said once
    too_large,  // this line broke the limit; nothing of it is kept
  };
  // One line with its line end, as it arrives.
  Progress read(std::string_view line) {
    size_ += line.size() + line_overhead;
    if (size_ > max_size_) return Progress::too_large;
    return complete_ ? Progress::reading : read_block_line(line);
  }

  // The final block has ended; what comes now are trailers, counted and never believed (RFC 9110
  // 6.5.1).
  bool is_complete() const noexcept { return complete_; }
  // The block under way, and once complete the final one: nothing of 1xx blocks is in it (RFC 9110
  // 15.2).
  const ResponseHead& head() const noexcept { return head_; }
  // The final head, to be handed out; of its fields only those that errors quote stay here.
  ResponseHead take_head() {
    ResponseHead quoted;
    quoted.status = head_.status;
    std::copy_if(head_.headers.begin(), head_.headers.end(), std::back_inserter(quoted.headers),
                 [](const Header& header) { return is_quoted(header.name); });
    return std::exchange(head_, std::move(quoted));
  }
  // What has counted so far.
  std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::size_t line_overhead = 32;
  static constexpr std::size_t usual_fields = 8;

  // In Error.
  static bool is_quoted(std::string_view name) {
    return http::iequals(name, "Content-Type") || http::iequals(name, "Location") ||
           http::iequals(name, "Retry-After") || http::iequals(name, "WWW-Authenticate");
  }

  Progress read_block_line(std::string_view line) {
    if (http::is_folded_line(line)) {
      unfold(line);
      return Progress::reading;
    }
    finish_field();
    if (const auto status = http::parse_status_line(line)) {
      head_.headers.clear();
      head_.headers.reserve(usual_fields);
      head_.status = *status;
    } else if (line != "\r\n" && line != "\n") {
      field_line_ = line;
    } else if (head_.status >= 200) {
      complete_ = true;
      return Progress::complete;
    }
    return Progress::reading;
  }

  // The line end before a fold stands for a space, and the fold begins with one (RFC 9112 5.2).
  // Read apart, a value's end could hide from us, a coding for instance.
  void unfold(std::string_view line) {
    if (field_line_.empty()) return;
    field_line_.erase(field_line_.find_last_not_of("\r\n") + 1);
    field_line_ += line;
  }

  void finish_field() {
    if (const auto field = http::parse_header_line(field_line_)) {
      head_.headers.push_back({std::string(field->name), std::string(field->value)});
    }
    field_line_.clear();
  }

  const std::size_t max_size_;
  std::size_t size_ = 0;
  bool complete_ = false;
  std::string field_line_;  // the latest field, until it is known that no fold follows
  ResponseHead head_;
};

// True if a field of that name lists another coding than `plain`.
inline bool is_coded(const ResponseHead& head, std::string_view name, std::string_view plain) {
  for (const Header& header : head.headers) {
    if (!http::iequals(header.name, name)) continue;
    for (const std::string_view coding : http::split_list(header.value)) {
      if (!http::iequals(coding, plain)) return true;
    }
  }
  return false;
}

// What a coding that was not asked for is applied to, "content" or "transfer"; nothing if there is
// none. It hides the size of what it holds, and libcurl would undo a transfer coding by itself.
inline std::optional<std::string_view> foreign_coding(const ResponseHead& head) {
  if (is_coded(head, "Transfer-Encoding", "chunked")) return "transfer";
  if (is_coded(head, "Content-Encoding", "identity")) return "content";
  return std::nullopt;
}

}  // namespace mcphttp
