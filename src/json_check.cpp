#include "json.hpp"

#include <simdjson.h>

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

// simdjson's On-Demand front end indexes the text, checks UTF-8 and refuses control characters in
// strings. It looks at nothing that is skipped, so the walk below visits every value, and judges
// escapes, numbers and literals on the raw text itself.
namespace mcphttp::json {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Texts up to this size leave the parser's memory in place for the next one.
constexpr std::size_t kept_capacity = std::size_t{1024} * 1024;
constexpr std::size_t least_capacity = 4096;

// What is wrong, and where if known.
struct Fault {
  ErrorCode code = ErrorCode::malformed_json;
  const char* reason = "";
  const char* at = nullptr;
};

using Verdict = std::optional<Fault>;  // nullopt: nothing wrong

Fault malformed(const char* reason, const char* at) noexcept {
  return {ErrorCode::malformed_json, reason, at};
}

Fault fault_of(simdjson::error_code code, const char* at) noexcept {
  switch (static_cast<int>(code)) {
    case simdjson::MEMALLOC:
      return {ErrorCode::out_of_memory, "", nullptr};
    case simdjson::CAPACITY:
      return {ErrorCode::json_too_large, "a JSON text over 4 GiB cannot be checked", nullptr};
    case simdjson::EMPTY:
      return malformed("there is no value", at);
    case simdjson::UTF8_ERROR:
      return malformed("invalid UTF-8", nullptr);
    case simdjson::UNESCAPED_CHARS:
      return malformed("a control character inside a string", nullptr);
    case simdjson::UNCLOSED_STRING:
      return malformed("a string is not closed", nullptr);
    default:
      return malformed("a comma, colon, bracket or value is missing or misplaced", at);
  }
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_hex_digit(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Takes the digits at the beginning of `token` off; false if there are none.
bool take_digits(std::string_view& token) noexcept {
  std::size_t digits = 0;
  while (digits < token.size() && is_digit(token[digits])) ++digits;
  token.remove_prefix(digits);
  return digits > 0;
}

bool take(std::string_view& token, std::string_view any_of) noexcept {
  if (token.empty() || any_of.find(token[0]) == std::string_view::npos) return false;
  token.remove_prefix(1);
  return true;
}

// RFC 8259 section 6, the grammar and no range.
bool is_number(std::string_view token) noexcept {
  take(token, "-");
  if (!take(token, "0") && !take_digits(token)) return false;
  if (take(token, ".") && !take_digits(token)) return false;
  if (take(token, "eE")) {
    take(token, "+-");
    if (!take_digits(token)) return false;
  }
  return token.empty();
}

// The escape at the beginning of `raw` in bytes; 0 if it is none of RFC 8259 section 7. \uXXXX may
// name any code unit.
std::size_t escape_size(std::string_view raw) noexcept {
  if (raw.size() < 2) return 0;
  if (raw[1] != 'u')
    return std::string_view("\"\\/bfnrt").find(raw[1]) == std::string_view::npos ? 0 : 2;
  constexpr std::size_t size = 6;
  if (raw.size() < size) return 0;
  return std::all_of(raw.begin() + 2, raw.begin() + size, is_hex_digit) ? size : 0;
}

// Judges what stands between the quotes of a string.
Verdict check_escapes(std::string_view raw) noexcept {
  for (;;) {
    raw.remove_prefix(std::min(raw.find('\\'), raw.size()));
    if (raw.empty()) return std::nullopt;
    const std::size_t size = escape_size(raw);
    if (size == 0) return malformed("an escape that is none", raw.data());
    raw.remove_prefix(size);
  }
}

Verdict check_bare(std::string_view token) noexcept {
  if (token == "true" || token == "false" || token == "null" || is_number(token))
    return std::nullopt;
  return malformed("neither a literal nor a number", token.data());
}

// The string literal that begins with the quote at `at`, quotes included; to the end of `text` if
// it is not closed.
std::string_view string_literal(std::string_view text, const char* at) noexcept {
  const auto begin = static_cast<std::size_t>(at - text.data());
  const std::size_t end = find_closing_quote(text, begin + 1);
  return text.substr(begin, end == std::string_view::npos ? end : end + 1 - begin);
}

RawString without_quotes(std::string_view literal) noexcept {
  return RawString(literal.substr(1, literal.size() - 2));
}

// An open array or object.
struct Frame {
  bool is_object = false;
  ondemand::object_iterator members;
  ondemand::array_iterator elements;
};

// Visits every value of one document below its root, without recursion.
class Walk {
 public:
  Walk(std::string_view text, std::size_t max_depth, RootSink* sink, std::vector<Frame>& open,
       ondemand::document& document) noexcept
      : text_(text), max_depth_(max_depth), sink_(sink), open_(open), document_(document) {}

  // The root is an array or object.
  Verdict run() {
    if (Verdict fault = enter(document_, text_[0] == '{')) return fault;
    while (!open_.empty()) {
      if (Verdict fault = step()) return fault;
    }
    if (document_.current_location().error() == simdjson::SUCCESS) {
      return malformed("something follows the value", location());
    }
    return std::nullopt;
  }

 private:
  Verdict step() {
    Frame& top = open_.back();
    if (top.is_object) {
      if (top.members != ondemand::object_iterator()) return visit_member(top);
    } else {
      if (top.elements != ondemand::array_iterator()) return visit_element(top);
    }
    return leave();
  }

  Verdict visit_member(Frame& top) {
    ondemand::field field;
    if (const auto error = (*top.members).get(field)) return fault_of(error, location());
    const std::string_view literal = string_literal(text_, field.key().raw() - 1);
    const RawString name = without_quotes(literal);
    if (Verdict fault = check_escapes(name.raw())) return fault;
    if (open_.size() == 1) root_name_ = name;
    return visit(field.value());
  }

  Verdict visit_element(Frame& top) {
    ondemand::value value;
    if (const auto error = (*top.elements).get(value)) return fault_of(error, location());
    return visit(value);
  }

  Verdict visit(ondemand::value& value) {
    const std::string_view token = value.raw_json_token();
    if (token.empty()) return malformed("a value is missing", token.data());
    if (open_.size() == 1) root_value_ = token.data();
    switch (token[0]) {
      case '{':
        return enter(value, true);
      case '[':
        return enter(value, false);
      case '"':
        return visit_string(value, token.data());
      default:
        break;
    }
    const std::string_view bare = trim(token);
    if (Verdict fault = check_bare(bare)) return fault;
    finish_value(bare.data() + bare.size());
    return std::nullopt;
  }

  Verdict visit_string(ondemand::value& value, const char* quote) {
    const std::string_view literal = string_literal(text_, quote);
    if (Verdict fault = check_escapes(without_quotes(literal).raw())) return fault;
    // Left to the iterator, a string before a misplaced colon would be skipped as if it were a key.
    if (const auto error = value.get_raw_json_string().error()) return fault_of(error, quote);
    finish_value(literal.data() + literal.size());
    return std::nullopt;
  }

  template <class Container>
  Verdict enter(Container& container, bool is_object) {
    if (open_.size() >= max_depth_) return Fault{ErrorCode::json_too_deep, "", nullptr};
    Frame frame;
    frame.is_object = is_object;
    if (is_object) {
      ondemand::object object;
      if (const auto error = container.get_object().get(object)) return fault_of(error, location());
      if (const auto error = object.begin().get(frame.members)) return fault_of(error, location());
    } else {
      ondemand::array array;
      if (const auto error = container.get_array().get(array)) return fault_of(error, location());
      if (const auto error = array.begin().get(frame.elements)) return fault_of(error, location());
    }
    open_.push_back(frame);
    return std::nullopt;
  }

  Verdict leave() {
    open_.pop_back();
    if (!open_.empty()) finish_value(location());
    return std::nullopt;
  }

  // The value just visited ends at `end`, white space aside.
  void finish_value(const char* end) {
    Frame& parent = open_.back();
    if (open_.size() == 1 && sink_ != nullptr) {
      const Value value(std::string_view(root_value_, static_cast<std::size_t>(end - root_value_)));
      if (parent.is_object) {
        sink_->on_member(root_name_, value);
      } else {
        sink_->on_element(value);
      }
    }
    if (parent.is_object) {
      ++parent.members;
    } else {
      ++parent.elements;
    }
  }

  // Where the iterator stands: the next token, the end of the text behind the last.
  const char* location() noexcept {
    const char* at = nullptr;
    const char* const end = text_.data() + text_.size();
    if (document_.current_location().get(at) != simdjson::SUCCESS) return end;
    return std::min(at, end);
  }

  std::string_view text_;
  std::size_t max_depth_;
  RootSink* sink_;
  std::vector<Frame>& open_;
  ondemand::document& document_;
  RawString root_name_;  // of the member of the root being visited
  const char* root_value_ =
      nullptr;  // where the member or element of the root being visited begins
};

Verdict check_scalar(std::string_view token) noexcept {
  if (token[0] != '"') return check_bare(token);
  const std::string_view literal = string_literal(token, token.data());
  if (literal.size() != token.size()) {
    return malformed("something follows the value", literal.data() + literal.size());
  }
  return check_escapes(without_quotes(literal).raw());
}

// Gives `text` readable padding of known content.
void pad(std::string& text) {
  const std::size_t size = text.size();
  if (text.capacity() - size < padding) {
    std::string roomier;  // reserve() on `text` itself would double it
    roomier.reserve(size + padding);
    roomier = text;
    text.swap(roomier);
  }
  text.append(padding, ' ');
  text.resize(size);
}

// Powers of two while the memory is kept, so that it seldom grows; no more than needed after that.
std::size_t capacity_for(std::size_t size) noexcept {
  std::size_t capacity = least_capacity;
  while (capacity < size && capacity < kept_capacity) capacity *= 2;
  return std::max(capacity, size);
}

tl::unexpected<Error> fail(ErrorCode code, std::string detail) {
  Error error;
  error.code = code;
  error.detail = std::move(detail);
  return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> report(const Fault& fault, std::string_view text, std::size_t max_depth) {
  if (fault.code == ErrorCode::json_too_deep) {
    return fail(fault.code, "max_json_depth (" + std::to_string(max_depth) + ") exceeded");
  }
  if (fault.code != ErrorCode::malformed_json) return fail(fault.code, fault.reason);
  std::string detail = "malformed JSON";
  if (fault.at != nullptr) detail += " at byte " + std::to_string(fault.at - text.data());
  return fail(fault.code, detail + ": " + fault.reason);
}

}  // namespace

struct Checker::Impl {
  ondemand::parser parser;
  std::vector<Frame> open;

  Verdict check(std::string_view text, std::size_t max_depth, RootSink* sink);
};

// `text` is followed by padding and neither begins nor ends with white space.
Verdict Checker::Impl::check(std::string_view text, std::size_t max_depth, RootSink* sink) {
  // simdjson's own depth only sizes its tables; they must not be smaller than what the walk may
  // open.
  const std::size_t table_depth = max_depth + simdjson::DEFAULT_MAX_DEPTH;
  if (parser.capacity() < text.size() || parser.max_depth() < table_depth) {
    const std::size_t capacity = std::max(capacity_for(text.size()), parser.capacity());
    if (const auto error = parser.allocate(capacity, table_depth)) return fault_of(error, nullptr);
  }
  ondemand::document document;
  const auto error = parser.iterate(text.data(), text.size(), text.size() + padding).get(document);
  if (error != simdjson::SUCCESS) return fault_of(error, text.data());
  if (text[0] != '{' && text[0] != '[') return check_scalar(text);
  open.clear();
  return Walk(text, max_depth, sink, open, document).run();
}

Checker::Checker() noexcept = default;
Checker::~Checker() = default;
Checker::Checker(Checker&&) noexcept = default;
Checker& Checker::operator=(Checker&&) noexcept = default;

Result<Value> Checker::check(std::string& text, std::size_t max_depth, RootSink* sink,
                             std::size_t free_levels) noexcept {
  try {
    pad(text);
    std::string_view body = text;
    if (body.substr(0, byte_order_mark.size()) == byte_order_mark) {
      body.remove_prefix(byte_order_mark.size());
    }
    body = trim(body);
    // Newer simdjson would drop a second byte order mark by itself.
    if (body.empty() || body[0] == byte_order_mark[0]) {
      return report(malformed("there is no value", body.data()), text, max_depth);
    }
    if (!impl_) impl_ = std::make_unique<Impl>();
    const Verdict fault =
        impl_->check(body, std::min(max_depth, greatest_depth) + free_levels, sink);
    if (text.size() > kept_capacity) impl_.reset();
    if (fault) return report(*fault, text, max_depth);
    return Value(body);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  impl_.reset();
  return fail(ErrorCode::out_of_memory, "");
}

Result<void> check_object(std::string_view text, std::size_t max_depth, Checker& checker) noexcept {
  try {
    std::string copy;
    copy.reserve(text.size() + padding);
    copy = text;
    const Result<Value> root = checker.check(copy, max_depth);
    if (!root && root.error().code == ErrorCode::out_of_memory)
      return tl::unexpected<Error>(root.error());
    if (!root) return fail(ErrorCode::invalid_argument, root.error().detail);
    if (root->type() != Type::object) return fail(ErrorCode::invalid_argument, "not a JSON object");
    return {};
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return fail(ErrorCode::out_of_memory, "");
}

}  // namespace mcphttp::json
