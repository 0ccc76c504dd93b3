// JSON text: checking it, reading what was checked, writing small pieces of it. Private to the
// library; the only room that knows simdjson, and that in one file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/error.hpp>

namespace mcphttp::json {

// Readable bytes a checked text needs behind its end. Receive into a string with this much spare
// capacity and checking copies nothing.
inline constexpr std::size_t padding = 64;

// A greater max_depth is taken as this one: it bounds the stack of open containers to 8 KiB.
inline constexpr std::size_t greatest_depth = 65536;

enum class Type { null, boolean, number, string, array, object };

// What stands between the quotes of a string literal in checked text, escapes untouched. A view: it
// lives as long as the text.
class RawString {
 public:
  constexpr RawString() noexcept = default;
  explicit constexpr RawString(std::string_view between_quotes) noexcept : raw_(between_quotes) {}

  constexpr std::string_view raw() const noexcept { return raw_; }
  bool has_escapes() const noexcept { return raw_.find('\\') != std::string_view::npos; }

  // The characters meant: valid UTF-8, at most as long as raw(). A lone surrogate escape becomes
  // U+FFFD.
  std::string unescaped() const;

  // unescaped() == text, without allocating.
  bool equals(std::string_view text) const noexcept;
  friend bool operator==(RawString string, std::string_view text) noexcept {
    return string.equals(text);
  }

 private:
  std::string_view raw_;
};

// One value of checked text; everything here relies on the check and would misread other text. A
// view: copy it freely, it lives as long as the text. Nothing recurses, and only as_string()
// allocates.
class Value {
 public:
  // The literal null.
  constexpr Value() noexcept = default;
  // `checked` holds one value; white space around it is dropped.
  explicit Value(std::string_view checked) noexcept;

  Type type() const noexcept;
  std::string_view raw() const noexcept { return raw_; }

  // The first member whose unescaped name is `name`; nullopt if there is none or this is no object.
  // Below the envelope of a message duplicate names are legal JSON (RFC 8259 section 4); the first
  // one wins everywhere in this library.
  std::optional<Value> find(std::string_view name) const noexcept;

  // Calls visit(RawString name, Value value) for each member in order; does nothing unless this is
  // an object.
  template <class Visit>
  void for_each_member(Visit visit) const;
  // Calls visit(Value element) for each element in order; does nothing unless this is an array.
  template <class Visit>
  void for_each_element(Visit visit) const;

  // The string literal; empty unless this is a string.
  RawString string() const noexcept;

  // nullopt if this is of another type.
  std::optional<std::string> as_string() const;
  std::optional<bool> as_bool() const noexcept;
  // Exact: nullopt also for a fraction, an exponent (1.0 and 1e2 are none) and beyond 64 bits.
  std::optional<std::int64_t> as_int64() const noexcept;
  // The nearest double; nullopt also outside its range.
  std::optional<double> as_double() const noexcept;

 private:
  friend class Cursor;
  std::string_view raw_{"null", 4};
};

// Steps through the members of an object or the elements of an array; name() is empty for elements.
// Other values have none.
class Cursor {
 public:
  explicit Cursor(Value container) noexcept;

  // False behind the last one. name() and value() belong to the latest next() that returned true.
  bool next() noexcept;
  RawString name() const noexcept { return name_; }
  Value value() const noexcept { return value_; }

 private:
  std::string_view rest_;  // from the next member or element, or its comma, on
  bool in_object_;
  RawString name_;
  Value value_;
};

template <class Visit>
void Value::for_each_member(Visit visit) const {
  if (type() != Type::object) return;
  for (Cursor members(*this); members.next();) visit(members.name(), members.value());
}

inline constexpr std::size_t most_members = 16;

// What find() gives for each of `count` names (at most that many), in one pass over the members;
// what is absent leaves its place in `found` as it is.
void find_members(Value object, const std::string_view* names, Value* found,
                  std::size_t count) noexcept;

// The same; null for those that are absent.
template <std::size_t Count>
std::array<Value, Count> find_members(Value object,
                                      const std::array<std::string_view, Count>& names) noexcept {
  static_assert(Count <= most_members);
  std::array<Value, Count> found;
  find_members(object, names.data(), found.data(), Count);
  return found;
}

template <class Visit>
void Value::for_each_element(Visit visit) const {
  if (type() != Type::array) return;
  for (Cursor elements(*this); elements.next();) visit(elements.value());
}

// Told of the top level of a text while it is checked: what is reported is well-formed, what
// follows it may not be. Must not keep the views if the check fails. Exceptions other than
// std::bad_alloc must not leave it.
class RootSink {
 public:
  virtual void on_member(RawString name, Value value) = 0;
  virtual void on_element(Value value) = 0;

 protected:
  ~RootSink() = default;
};

// The arrays and objects that are open, the innermost last: a bit for each.
class OpenContainers {
 public:
  std::size_t depth() const noexcept { return depth_; }
  // Of the innermost.
  bool in_object() const noexcept { return (inner_ & 1U) != 0; }

  // Throws std::bad_alloc.
  void push(bool is_object) {
    if (depth_ % word_size == 0 && depth_ != 0) outer_.push_back(inner_);
    inner_ = inner_ << 1U | (is_object ? 1U : 0U);
    ++depth_;
  }
  void pop() noexcept {
    --depth_;
    inner_ >>= 1U;
    if (depth_ % word_size != 0 || depth_ == 0) return;
    inner_ = outer_.back();
    outer_.pop_back();
  }
  void clear() noexcept {
    outer_.clear();
    depth_ = 0;
  }

 private:
  static constexpr std::size_t word_size = 64;
  std::size_t depth_ = 0;
  std::uint64_t inner_ = 0;  // of the innermost 1 to 64
  std::vector<std::uint64_t> outer_;
};

// Checks JSON texts in one pass, without a copy or an index of them; keeps nothing but a stack of
// bits, one for each level of nesting. Thread-compatible.
class Checker {
 public:
  // Succeeds exactly if `text` is one JSON text (RFC 8259) in valid UTF-8 with at most `max_depth`
  // arrays and objects open at any point. Accepted beyond that: one leading byte order mark.
  // Numbers are held to the grammar but to no range, and a surrogate escape may stand alone.
  // Returns the root value, a view into `text`, and reports its members or elements to `sink`
  // unless that is null. `free_levels`: outermost arrays and objects that do not count.
  //
  // `text` keeps its bytes, but is reallocated first if it lacks the spare capacity (`padding`).
  // Fails: malformed_json, json_too_deep, out_of_memory. Of several faults in one text, which is
  // reported is not promised. `detail` is our own words with the byte offset where known.
  Result<Value> check(std::string& text, std::size_t max_depth, RootSink* sink = nullptr,
                      std::size_t free_levels = 0) noexcept;

 private:
  OpenContainers open_;
};

// Succeeds if `text` is one JSON object within `max_depth`, of which what will stand around it
// takes `levels_around`. Fails: invalid_argument with the reason, out_of_memory. For parameters and
// arguments that the caller hands in.
Result<void> check_object(std::string_view text, std::size_t max_depth, Checker& checker,
                          std::size_t levels_around = 0) noexcept;

// What append_quoted() takes as it is.
bool is_utf8(std::string_view text) noexcept;

// Appends `text` as a string literal. Ill-formed UTF-8 becomes U+FFFD, one for each maximal subpart
// (Unicode 15, 3.9).
void append_quoted(std::string& out, std::string_view text);

// `object`, a checked object text, with its member `name` set to the checked `raw_value`: replaced
// where it stands (each one if it stands there more than once), else added behind the last member.
// Every other byte stays.
std::string set_member(std::string_view object, std::string_view name, std::string_view raw_value);

// The same one level down: sets `name` in the member `outer` of `object`, which is made if it is
// absent or no object.
// {"a":1} becomes {"a":1,"_meta":{"progressToken":7}}.
std::string set_member_of(std::string_view object, std::string_view outer, std::string_view name,
                          std::string_view raw_value);

// `text` without JSON white space at both ends.
std::string_view trim(std::string_view text) noexcept;

// The index of the quote that ends the string literal whose first character is text[begin]; npos if
// none does.
std::size_t find_closing_quote(std::string_view text, std::size_t begin) noexcept;

}  // namespace mcphttp::json
