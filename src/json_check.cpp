#include <simdjson.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"
#include "json_string_scan.hpp"
#include "make_error.hpp"

// UTF-8 is simdjson's affair; the grammar is walked here, once over the text and without a copy or
// an index of it.
namespace mcphttp::json {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// What is wrong, and where if known. Nothing is, while `code` is not set.
struct Fault {
  std::optional<ErrorCode> code;
  const char* reason = "";
  const char* at = nullptr;
};

bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }

bool is_hex_digit(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Walks one text by the grammar of RFC 8259. Every step returns false once there is a fault. Behind
// the text, and white space, stands a null byte, which no step takes for its own; so none need ask
// whether the text is over before it looks at the next byte.
class Walk {
 public:
  Walk(std::string_view text, std::size_t max_depth, RootSink* sink, OpenContainers& open) noexcept
      : at_(text.data()),
        end_(text.data() + text.size()),
        max_depth_(max_depth),
        sink_(sink),
        open_(open) {
    open_.clear();
  }

  // In one piece, so that the position stays in a register.
  [[gnu::flatten]] Fault run() {
    while (begin_value() && go_to_next_value()) {
    }
    if (!fault_.code) {
      skip_space();
      if (at_ < end_) fail("something follows the value");
    }
    return fault_;
  }

 private:
  // Closes what ends before it. False also if the root has ended.
  bool go_to_next_value() {
    while (open_.depth() != 0) {
      const bool is_first = std::exchange(just_opened_, false);
      skip_space();
      if (*at_ == (open_.in_object() ? '}' : ']')) {
        close();
        continue;
      }
      if (!is_first) {
        if (*at_ != ',') return fail("a comma or a closing bracket is missing");
        ++at_;
        skip_space();
      }
      if (open_.in_object() && !take_name()) return false;
      if (open_.depth() == 1) root_value_ = at_;
      return true;
    }
    return false;
  }

  bool take_name() {
    if (*at_ != '"') return fail("a name is missing");
    const char* const begin = at_ + 1;
    if (!take_string()) return false;
    if (open_.depth() == 1)
      root_name_ = RawString(std::string_view(begin, static_cast<std::size_t>(at_ - begin) - 1));
    skip_space();
    if (*at_ != ':') return fail("a colon is missing");
    ++at_;
    skip_space();
    return true;
  }

  // A whole scalar, or the opening bracket.
  bool begin_value() {
    switch (*at_) {
      case '{':
        return open(true);
      case '[':
        return open(false);
      case '"':
        return take_string() && end_value();
      case 't':
        return take_literal("true") && end_value();
      case 'f':
        return take_literal("false") && end_value();
      case 'n':
        return take_literal("null") && end_value();
      default:
        return take_number() && end_value();
    }
  }

  bool open(bool is_object) {
    if (open_.depth() >= max_depth_) {
      fault_ = {ErrorCode::json_too_deep, "", at_};
      return false;
    }
    ++at_;
    open_.push(is_object);
    just_opened_ = true;
    return true;
  }

  void close() {
    ++at_;
    open_.pop();
    just_opened_ = false;
    end_value();
  }

  // What stands at the top level is reported as soon as it is complete.
  bool end_value() {
    if (open_.depth() != 1 || sink_ == nullptr) return true;
    const Value value(std::string_view(root_value_, static_cast<std::size_t>(at_ - root_value_)));
    if (open_.in_object()) {
      sink_->on_member(root_name_, value);
    } else {
      sink_->on_element(value);
    }
    return true;
  }

  bool take_string() {
    for (++at_;;) {
      at_ = find_string_stop(at_);
      if (*at_ == '"') break;
      if (at_ >= end_) return fail("a string is not closed");
      if (*at_ != '\\') return fail("a control character inside a string");
      if (!take_escape()) return false;
    }
    ++at_;
    return true;
  }

  // RFC 8259 section 7; \uXXXX may name any code unit.
  bool take_escape() {
    switch (at_[1]) {
      case '"':
      case '\\':
      case '/':
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        at_ += 2;
        return true;
      case 'u':
        if (!std::all_of(at_ + 2, at_ + 6, is_hex_digit)) break;
        at_ += 6;
        return true;
      default:
        break;
    }
    return fail("an escape that is none");
  }

  bool take_literal(std::string_view literal) {
    const char* at = at_;
    for (const char c : literal) {
      if (*at != c) return fail("neither a literal nor a number");
      ++at;
    }
    at_ = at;
    return true;
  }

  bool take_number() {
    const char* const end = number_end();
    if (end == nullptr)
      return fail(at_ < end_ ? "neither a literal nor a number" : "a value is missing");
    at_ = end;
    return true;
  }

  // RFC 8259 section 6, the grammar and no range. nullptr: no number.
  const char* number_end() const noexcept {
    const char* at = *at_ == '-' ? at_ + 1 : at_;
    if (!is_digit(*at) || (*at == '0' && is_digit(at[1]))) return nullptr;
    at = digits_end(at);
    if (*at == '.') {
      if (!is_digit(*++at)) return nullptr;
      at = digits_end(at);
    }
    if (*at != 'e' && *at != 'E') return at;
    ++at;
    if (*at == '+' || *at == '-') ++at;
    return is_digit(*at) ? digits_end(at) : nullptr;
  }

  static const char* digits_end(const char* at) noexcept {
    while (is_digit(*at)) ++at;
    return at;
  }

  void skip_space() noexcept {
    while (is_space(*at_)) ++at_;
  }

  bool fail(const char* reason) {
    fault_ = {ErrorCode::malformed_json, reason, std::min(at_, end_)};
    return false;
  }

  const char* at_;
  const char* const end_;
  const std::size_t max_depth_;
  RootSink* const sink_;
  OpenContainers& open_;
  bool just_opened_ = false;
  RawString root_name_;  // of the member of the root being visited
  const char* root_value_ = nullptr;
  Fault fault_;
};

// Has null bytes follow `text`, for those who read many bytes at a time.
void pad(std::string& text) {
  const std::size_t size = text.size();
  if (text.capacity() - size < padding) {
    std::string roomier;  // reserve() on `text` itself would double it
    roomier.reserve(size + padding);
    roomier = text;
    text.swap(roomier);
  }
  text.append(padding, '\0');
  text.resize(size);
}

// From here on: what is cold is compiled for size.

[[gnu::cold]] tl::unexpected<Error> fail(ErrorCode code, std::string detail) {
  return tl::unexpected<Error>(make_error(code, std::move(detail)));
}

[[gnu::cold]] std::string over_depth(std::size_t max_depth) {
  return "max_json_depth (" + std::to_string(max_depth) + ") exceeded";
}

[[gnu::cold]] tl::unexpected<Error> report(const Fault& fault, std::string_view text,
                                           std::size_t max_depth) {
  if (fault.code == ErrorCode::json_too_deep) return fail(*fault.code, over_depth(max_depth));
  std::string detail = "malformed JSON";
  if (fault.at != nullptr) detail += " at byte " + std::to_string(fault.at - text.data());
  return fail(*fault.code, detail + ": " + fault.reason);
}

// What check_object() makes of it.
[[gnu::cold]] tl::unexpected<Error> report_object(const Error& error, std::size_t max_depth,
                                                  std::size_t levels_around) {
  if (error.code == ErrorCode::out_of_memory) return tl::unexpected<Error>(error);
  if (error.code != ErrorCode::json_too_deep)
    return fail(ErrorCode::invalid_argument, error.detail);
  std::string around;
  if (levels_around != 0) {
    around = " with the " + std::to_string(levels_around) + " levels around it";
  }
  return fail(ErrorCode::invalid_argument, over_depth(max_depth) + around);
}

}  // namespace

// Not inline: it is large, and check_object() would get a copy.
[[gnu::noinline]] Result<Value> Checker::check(std::string& text, std::size_t max_depth,
                                               RootSink* sink, std::size_t free_levels) noexcept {
  try {
    pad(text);
    std::string_view body = text;
    if (body.substr(0, byte_order_mark.size()) == byte_order_mark) {
      body.remove_prefix(byte_order_mark.size());
    }
    body = trim(body);
    if (!simdjson::validate_utf8(body.data(), body.size()))
      return report({ErrorCode::malformed_json, "invalid UTF-8", nullptr}, text, max_depth);
    const std::size_t depth = std::min(max_depth, greatest_depth) + free_levels;
    const Fault fault = Walk(body, depth, sink, open_).run();
    if (fault.code) return report(fault, text, max_depth);
    return Value(body);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return fail(ErrorCode::out_of_memory, "");
}

bool is_utf8(std::string_view text) noexcept {
  return simdjson::validate_utf8(text.data(), text.size());
}

Result<void> check_object(std::string_view text, std::size_t max_depth, Checker& checker,
                          std::size_t levels_around) noexcept {
  try {
    std::string copy;
    copy.reserve(text.size() + padding);
    copy = text;
    const Result<Value> root = checker.check(copy, max_depth - std::min(max_depth, levels_around));
    if (!root) return report_object(root.error(), max_depth, levels_around);
    // A byte order mark could not stand inside a message.
    if (trim(text).front() != '{') return fail(ErrorCode::invalid_argument, "not a JSON object");
    return {};
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return fail(ErrorCode::out_of_memory, "");
}

}  // namespace mcphttp::json
