#include "json.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <system_error>

namespace mcphttp::json {
namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// A plain loop over these beats a search in a set: values are short, and mostly stand side by side.
constexpr bool is_white_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
constexpr bool ends_scalar(char c) noexcept {
  return c == ',' || c == ']' || c == '}' || is_white_space(c);
}

// The end of the array or object that begins at text[0].
std::size_t container_end(std::string_view text) noexcept {
  std::size_t open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = find_closing_quote(text, i + 1);
      if (i == std::string_view::npos) break;
    } else if (c == '{' || c == '[') {
      ++open;
    } else if ((c == '}' || c == ']') && --open == 0) {
      return i + 1;
    }
  }
  return text.size();
}

// The end of the value that begins at text[0].
std::size_t value_end(std::string_view text) noexcept {
  if (text.empty()) return 0;
  if (text[0] == '{' || text[0] == '[') return container_end(text);
  if (text[0] == '"') {
    const std::size_t quote = find_closing_quote(text, 1);
    return quote == std::string_view::npos ? text.size() : quote + 1;
  }
  const auto* const end = std::find_if(text.begin(), text.end(), ends_scalar);
  return static_cast<std::size_t>(end - text.begin());
}

std::string_view skip_white_space(std::string_view text) noexcept {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  return text;
}

// A character encoded as UTF-8.
class Encoded {
 public:
  explicit Encoded(std::uint32_t code_point) noexcept {
    if (code_point < 0x80) {
      push(code_point);
    } else if (code_point < 0x800) {
      push(0xC0 | code_point >> 6);
      push_tail(code_point);
    } else if (code_point < 0x10000) {
      push(0xE0 | code_point >> 12);
      push_tail(code_point >> 6);
      push_tail(code_point);
    } else {
      push(0xF0 | code_point >> 18);
      push_tail(code_point >> 12);
      push_tail(code_point >> 6);
      push_tail(code_point);
    }
  }

  std::string_view view() const noexcept { return {bytes_.data(), size_}; }

 private:
  void push(std::uint32_t byte) noexcept { bytes_[size_++] = static_cast<char>(byte); }
  void push_tail(std::uint32_t bits) noexcept { push(0x80 | (bits & 0x3F)); }

  std::array<char, 4> bytes_{};
  std::size_t size_ = 0;
};

// The code unit of an escape \uXXXX at the beginning of `raw`; nullopt if there is none.
std::optional<std::uint32_t> leading_unit(std::string_view raw) noexcept {
  constexpr std::size_t escape_size = 6;
  if (raw.size() < escape_size || raw[0] != '\\' || raw[1] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  std::from_chars(raw.data() + 2, raw.data() + escape_size, unit, 16);
  return unit;
}

bool is_high_surrogate(std::uint32_t unit) noexcept { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low_surrogate(std::uint32_t unit) noexcept { return unit >= 0xDC00 && unit <= 0xDFFF; }

// Takes the escape at the beginning of `raw` off and returns its character; two escapes where they
// are a surrogate pair.
Encoded take_escape(std::string_view& raw) noexcept {
  constexpr std::size_t escape_size = 6;
  const std::optional<std::uint32_t> unit = leading_unit(raw);
  if (!unit) {
    static constexpr std::string_view letters = "bfnrt";
    static constexpr std::string_view meanings = "\b\f\n\r\t";
    const char letter = raw.size() > 1 ? raw[1] : '\\';
    const std::size_t known = letters.find(letter);
    raw.remove_prefix(std::min<std::size_t>(2, raw.size()));
    const char meant = known == std::string_view::npos ? letter : meanings[known];
    return Encoded(static_cast<unsigned char>(meant));
  }
  raw.remove_prefix(escape_size);
  if (is_high_surrogate(*unit)) {
    const std::optional<std::uint32_t> low = leading_unit(raw);
    if (low && is_low_surrogate(*low)) {
      raw.remove_prefix(escape_size);
      return Encoded(0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
    }
  }
  const bool lone = is_high_surrogate(*unit) || is_low_surrogate(*unit);
  return Encoded(lone ? 0xFFFD : *unit);
}

// Takes the characters before the next escape off and returns them.
std::string_view take_plain(std::string_view& raw) noexcept {
  const std::string_view plain = raw.substr(0, raw.find('\\'));
  raw.remove_prefix(plain.size());
  return plain;
}

struct Utf8Step {
  std::size_t size;  // bytes of the character, or of the maximal ill-formed subpart
  bool well_formed;
};

// Bytes allowed after a lead byte (Unicode 15, table 3-7).
struct Utf8Lead {
  std::size_t tails;  // 0: no lead byte
  unsigned char second_least;
  unsigned char second_most;
};

Utf8Lead classify_lead(unsigned char lead) noexcept {
  if (lead < 0xC2 || lead > 0xF4) return {0, 0, 0};
  if (lead < 0xE0) return {1, 0x80, 0xBF};
  if (lead == 0xE0) return {2, 0xA0, 0xBF};
  if (lead == 0xED) return {2, 0x80, 0x9F};
  if (lead < 0xF0) return {2, 0x80, 0xBF};
  if (lead == 0xF0) return {3, 0x90, 0xBF};
  if (lead == 0xF4) return {3, 0x80, 0x8F};
  return {3, 0x80, 0xBF};
}

// The step over the character at the beginning of `text`, which is not empty and does not begin
// with ASCII.
Utf8Step step_utf8(std::string_view text) noexcept {
  const Utf8Lead lead = classify_lead(static_cast<unsigned char>(text[0]));
  if (lead.tails == 0) return {1, false};
  for (std::size_t i = 1; i <= lead.tails; ++i) {
    if (i >= text.size()) return {i, false};
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char least = i == 1 ? lead.second_least : 0x80;
    const unsigned char most = i == 1 ? lead.second_most : 0xBF;
    if (byte < least || byte > most) return {i, false};
  }
  return {lead.tails + 1, true};
}

void append_escaped(std::string& out, unsigned char byte) {
  static constexpr std::string_view special = "\"\\\b\f\n\r\t";
  static constexpr std::string_view letters = "\"\\bfnrt";
  static constexpr std::string_view digits = "0123456789abcdef";
  const std::size_t known = special.find(static_cast<char>(byte));
  out += '\\';
  if (known != std::string_view::npos) {
    out += letters[known];
    return;
  }
  out += "u00";
  out += digits[byte >> 4];
  out += digits[byte & 0xF];
}

bool is_plain_ascii(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

}  // namespace

std::string_view trim(std::string_view text) noexcept {
  text = skip_white_space(text);
  while (!text.empty() && is_white_space(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t find_closing_quote(std::string_view text, std::size_t begin) noexcept {
  for (std::size_t from = begin;;) {
    const std::size_t quote = text.find('"', from);
    if (quote == std::string_view::npos) return quote;
    std::size_t backslashes = 0;
    while (quote - backslashes > begin && text[quote - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote;
    from = quote + 1;
  }
}

std::string RawString::unescaped() const {
  if (!has_escapes()) return std::string(raw_);
  std::string out;
  out.reserve(raw_.size());
  for (std::string_view rest = raw_; !rest.empty();) {
    out += take_plain(rest);
    if (!rest.empty()) out += take_escape(rest).view();
  }
  return out;
}

bool RawString::equals(std::string_view text) const noexcept {
  // An escape is longer than what it stands for. Names are compared with one after the other, and
  // most differ in size or in their first character.
  if (raw_.size() < text.size()) return false;
  if (raw_.size() == text.size()) return raw_ == text && !has_escapes();
  if (!text.empty() && raw_[0] != text[0] && raw_[0] != '\\') return false;
  if (!has_escapes()) return false;
  const auto take_equal = [&text](std::string_view piece) {
    if (text.substr(0, piece.size()) != piece) return false;
    text.remove_prefix(piece.size());
    return true;
  };
  for (std::string_view rest = raw_; !rest.empty();) {
    if (!take_equal(take_plain(rest))) return false;
    if (!rest.empty() && !take_equal(take_escape(rest).view())) return false;
  }
  return text.empty();
}

Value::Value(std::string_view checked) noexcept : raw_(trim(checked)) {}

Type Value::type() const noexcept {
  switch (raw_.empty() ? 'n' : raw_[0]) {
    case '{':
      return Type::object;
    case '[':
      return Type::array;
    case '"':
      return Type::string;
    case 't':
    case 'f':
      return Type::boolean;
    case 'n':
      return Type::null;
    default:
      return Type::number;
  }
}

std::optional<Value> Value::find(std::string_view name) const noexcept {
  if (type() != Type::object) return std::nullopt;
  for (Cursor members(*this); members.next();) {
    if (members.name() == name) return members.value();
  }
  return std::nullopt;
}

RawString Value::string() const noexcept {
  if (type() != Type::string) return {};
  return RawString(raw_.substr(1, raw_.size() - 2));
}

std::optional<std::string> Value::as_string() const {
  if (type() != Type::string) return std::nullopt;
  return string().unescaped();
}

std::optional<bool> Value::as_bool() const noexcept {
  if (type() != Type::boolean) return std::nullopt;
  return raw_[0] == 't';
}

std::optional<std::int64_t> Value::as_int64() const noexcept {
  if (type() != Type::number) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = raw_.data() + raw_.size();
  const std::from_chars_result read = std::from_chars(raw_.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

std::optional<double> Value::as_double() const noexcept {
  if (type() != Type::number) return std::nullopt;
  double number = 0;
  const std::from_chars_result read =
      std::from_chars(raw_.data(), raw_.data() + raw_.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  return number;
}

Cursor::Cursor(Value container) noexcept : in_object_(container.type() == Type::object) {
  if (in_object_ || container.type() == Type::array) {
    rest_ = container.raw().substr(1, container.raw().size() - 2);
  }
}

bool Cursor::next() noexcept {
  rest_ = skip_white_space(rest_);
  if (!rest_.empty() && rest_[0] == ',') rest_ = skip_white_space(rest_.substr(1));
  if (rest_.empty()) return false;
  if (in_object_) {
    const std::size_t size = value_end(rest_);
    name_ = RawString(rest_.substr(1, size - 2));
    rest_ = skip_white_space(rest_.substr(size));
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));  // the colon
    rest_ = skip_white_space(rest_);
  }
  const std::size_t size = value_end(rest_);
  value_.raw_ = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

void find_members(Value object, const std::string_view* names, Value* found,
                  std::size_t count) noexcept {
  std::bitset<most_members> known;
  object.for_each_member([&](RawString name, Value value) {
    for (std::size_t i = 0; i < count; ++i) {
      if (known[i] || name != names[i]) continue;
      known.set(i);
      found[i] = value;
      return;
    }
  });
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto* const plain_end = std::find_if_not(text.begin(), text.end(), is_plain_ascii);
    const auto plain = static_cast<std::size_t>(plain_end - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto byte = static_cast<unsigned char>(text[0]);
    Utf8Step step{1, true};
    if (byte < 0x80) {
      append_escaped(out, byte);
    } else {
      step = step_utf8(text);
      out += step.well_formed ? text.substr(0, step.size) : replacement_character;
    }
    text.remove_prefix(step.size);
  }
  out += '"';
}

std::string set_member(std::string_view object, std::string_view name, std::string_view raw_value) {
  const auto index_of = [object](const char* at) {
    return static_cast<std::size_t>(at - object.data());
  };
  const Value root(object);
  std::string out;
  out.reserve(object.size() + name.size() + raw_value.size() + 8);
  std::size_t copied = 0;
  std::size_t last_end = index_of(root.raw().data()) + 1;
  bool found = false;
  bool empty = true;
  for (Cursor members(root); members.next(); empty = false) {
    const std::string_view old = members.value().raw();
    last_end = index_of(old.data()) + old.size();
    if (members.name() != name) continue;
    out += object.substr(copied, index_of(old.data()) - copied);
    out += raw_value;
    copied = last_end;
    found = true;
  }
  if (!found) {
    out += object.substr(0, last_end);
    if (!empty) out += ',';
    append_quoted(out, name);
    out += ':';
    out += raw_value;
    copied = last_end;
  }
  out += object.substr(copied);
  return out;
}

std::string set_member_of(std::string_view object, std::string_view outer, std::string_view name,
                          std::string_view raw_value) {
  const std::optional<Value> present = Value(object).find(outer);
  const bool extend = present && present->type() == Type::object;
  const std::string inner = set_member(extend ? present->raw() : "{}", name, raw_value);
  return set_member(object, outer, inner);
}

}  // namespace mcphttp::json
