#include "message.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

namespace mcphttp {
namespace {

using json::RawString;
using json::Type;
using json::Value;

tl::unexpected<Error> fail(ErrorCode code, std::string detail) {
  Error error;
  error.code = code;
  error.detail = std::move(detail);
  return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> fail_message(std::string detail) {
  return fail(ErrorCode::malformed_message, std::move(detail));
}

// Runs `work`; lack of memory becomes the error for it.
template <class T, class Work>
Result<T> guard_memory(Work work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return fail(ErrorCode::out_of_memory, "");
}

// The members of a message that JSON-RPC gives a meaning. Others are tolerated.
class Envelope final : public json::RootSink {
 public:
  void on_member(RawString name, Value value) override {
    for (const Slot& slot : slots) {
      if (name != slot.name) continue;
      std::optional<Value>& member = this->*slot.member;
      if (member) twice = slot.name;
      if (!member) member = value;
      return;
    }
  }

  void on_element(Value) override {}

  std::optional<Value> jsonrpc;
  std::optional<Value> id;
  std::optional<Value> method;
  std::optional<Value> params;
  std::optional<Value> result;
  std::optional<Value> error;
  std::string_view twice;  // a name that occurred again

 private:
  struct Slot {
    std::string_view name;
    std::optional<Value> Envelope::*member;
  };
  static const std::array<Slot, 6> slots;
};

const std::array<Envelope::Slot, 6> Envelope::slots = {{
    {"jsonrpc", &Envelope::jsonrpc},
    {"id", &Envelope::id},
    {"method", &Envelope::method},
    {"params", &Envelope::params},
    {"result", &Envelope::result},
    {"error", &Envelope::error},
}};

// The functions below return the rule that is broken; empty if none is.
using Broken = std::string_view;

// JSON-RPC 2.0 section 4: an id is a string or a number without fraction. Written 1.0 or 1e2 it
// would be unclear what it equals.
Broken check_id(Value id) {
  if (id.type() == Type::string) return {};
  if (id.type() != Type::number) return "\"id\" is neither a string nor a number";
  if (id.raw().find_first_of(".eE") != std::string_view::npos) return "\"id\" is not an integer";
  return {};
}

Broken check_call(const Envelope& envelope) {
  if (envelope.result || envelope.error) return "\"method\" stands beside \"result\" or \"error\"";
  if (envelope.method->type() != Type::string) return "\"method\" is not a string";
  if (envelope.params && envelope.params->type() != Type::object &&
      envelope.params->type() != Type::array) {
    return "\"params\" is neither an object nor an array";
  }
  return envelope.id ? check_id(*envelope.id) : Broken();
}

Broken check_error(const Envelope& envelope) {
  const Value error = *envelope.error;
  if (error.type() != Type::object) return "\"error\" is not an object";
  const std::optional<Value> code = error.find("code");
  if (!code || !code->as_int64()) return "the code of \"error\" is not an integer";
  const std::optional<Value> message = error.find("message");
  if (!message || message->type() != Type::string)
    return "the message of \"error\" is not a string";
  const bool has_id = envelope.id && envelope.id->type() != Type::null;
  return has_id ? check_id(*envelope.id) : Broken();
}

Broken check_response(const Envelope& envelope) {
  if (envelope.result && envelope.error) return "both \"result\" and \"error\" are present";
  if (envelope.error) return check_error(envelope);
  if (!envelope.result) return "none of \"method\", \"result\" and \"error\" is present";
  if (!envelope.id) return "\"result\" has no \"id\"";
  return check_id(*envelope.id);
}

Broken check_envelope(const Envelope& envelope) {
  if (!envelope.jsonrpc || envelope.jsonrpc->string() != "2.0") return "\"jsonrpc\" is not \"2.0\"";
  return envelope.method ? check_call(envelope) : check_response(envelope);
}

Message::Kind kind_of(const Envelope& envelope) {
  if (envelope.method) return envelope.id ? Message::Kind::request : Message::Kind::notification;
  return envelope.result ? Message::Kind::result : Message::Kind::error;
}

std::string duplicate_detail(std::string_view name) {
  return "\"" + std::string(name) + "\" occurs twice";
}

// The byte order mark the checker accepted at the beginning of `text`, in bytes.
std::size_t mark_size(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.substr(0, mark.size()) == mark ? mark.size() : 0;
}

// Collects the elements of an array, or the envelope of a single message.
class BatchSink final : public json::RootSink {
 public:
  explicit BatchSink(std::size_t max_messages) : max_messages_(max_messages) {}

  void on_member(RawString name, Value value) override { envelope.on_member(name, value); }
  void on_element(Value value) override {
    if (elements.size() < max_messages_) {
      elements.push_back(value);
    } else {
      too_many = true;
    }
  }

  Envelope envelope;
  std::vector<Value> elements;
  bool too_many = false;

 private:
  std::size_t max_messages_;
};

}  // namespace

// Makes a Message of checked text.
class MessageReader {
 public:
  // `root` and `envelope` are views into `text`, which is moved from only on success.
  static Result<Message> read(std::string&& text, Value root, const Envelope& envelope) {
    if (root.type() != Type::object) return fail_message("a message must be an object");
    if (!envelope.twice.empty()) return fail_message(duplicate_detail(envelope.twice));
    if (const Broken broken = check_envelope(envelope); !broken.empty())
      return fail_message(std::string(broken));
    Message message;
    message.kind_ = kind_of(envelope);
    const char* const begin = text.data() + mark_size(text);
    const auto span = [begin](std::string_view part) {
      return Message::Span{static_cast<std::size_t>(part.data() - begin), part.size()};
    };
    if (envelope.id) message.id_ = span(envelope.id->raw());
    if (envelope.method) read_call(message, envelope, span);
    if (envelope.result) message.result_ = span(envelope.result->raw());
    if (envelope.error) read_error(message, *envelope.error, span);
    text.erase(0, mark_size(text));
    message.text_ = std::move(text);
    return message;
  }

 private:
  template <class ToSpan>
  static void read_call(Message& message, const Envelope& envelope, ToSpan span) {
    const RawString method = envelope.method->string();
    message.method_ = span(method.raw());
    if (method.has_escapes()) message.unescaped_method_ = method.unescaped();
    if (envelope.params) message.params_ = span(envelope.params->raw());
  }

  template <class ToSpan>
  static void read_error(Message& message, Value error, ToSpan span) {
    message.error_ = span(error.raw());
    message.error_code_ = error.find("code").value_or(Value()).as_int64().value_or(0);
    if (const std::optional<Value> data = error.find("data"))
      message.error_data_ = span(data->raw());
  }
};

namespace {

// A message that is an element of a checked array.
Result<Message> read_element(Value element) {
  std::string text(element.raw());
  Envelope envelope;
  const Value root(text);
  root.for_each_member(
      [&envelope](RawString name, Value value) { envelope.on_member(name, value); });
  return MessageReader::read(std::move(text), root, envelope);
}

Result<std::vector<Message>> read_elements(const BatchSink& batch) {
  if (batch.too_many) {
    return fail_message("a batch of more than " + std::to_string(batch.elements.size()) +
                        " messages");
  }
  if (batch.elements.empty()) return fail_message("a batch without a message");
  std::vector<Message> messages;
  messages.reserve(batch.elements.size());
  for (const Value& element : batch.elements) {
    Result<Message> message = read_element(element);
    if (!message) {
      return fail(message.error().code, "message " + std::to_string(messages.size() + 1) +
                                            " of the batch: " + message.error().detail);
    }
    messages.push_back(std::move(*message));
  }
  return messages;
}

}  // namespace

Result<Message> Message::parse(std::string json, std::size_t max_depth) {
  json::Checker checker;
  return parse_message(std::move(json), max_depth, checker);
}

std::string_view Message::method() const noexcept {
  return unescaped_method_.empty() ? view(method_) : std::string_view(unescaped_method_);
}

std::string Message::error_message() const {
  if (error_.size == 0 || error().empty()) return {};
  const std::optional<Value> message = Value(error()).find("message");
  return message ? message->string().unescaped() : std::string();
}

Result<Message> parse_message(std::string&& text, std::size_t max_depth,
                              json::Checker& checker) noexcept {
  return guard_memory<Message>([&]() -> Result<Message> {
    Envelope envelope;
    const Result<Value> root = checker.check(text, max_depth, &envelope);
    if (!root) return tl::unexpected<Error>(root.error());
    return MessageReader::read(std::move(text), *root, envelope);
  });
}

Result<std::vector<Message>> parse_batch(std::string&& text, std::size_t max_depth,
                                         std::size_t max_messages,
                                         json::Checker& checker) noexcept {
  return guard_memory<std::vector<Message>>([&]() -> Result<std::vector<Message>> {
    const bool is_array =
        json::trim(std::string_view(text).substr(mark_size(text))).substr(0, 1) == "[";
    BatchSink batch(max_messages);
    const Result<Value> root = checker.check(text, max_depth, &batch, is_array ? 1 : 0);
    if (!root) return tl::unexpected<Error>(root.error());
    if (is_array) return read_elements(batch);
    Result<Message> message = MessageReader::read(std::move(text), *root, batch.envelope);
    if (!message) return tl::unexpected<Error>(std::move(message.error()));
    std::vector<Message> messages;
    messages.push_back(std::move(*message));
    return messages;
  });
}

IdMatch match_ids(std::string_view expected_raw, std::string_view received_raw) {
  const Value expected(expected_raw);
  const Value received(received_raw);
  const auto is_id = [](Value id) {
    return id.type() == Type::string || id.type() == Type::number;
  };
  if (!is_id(expected) || !is_id(received)) return IdMatch::different;
  if (expected.raw() == received.raw()) return IdMatch::same;
  const bool expected_string = expected.type() == Type::string;
  const bool received_string = received.type() == Type::string;
  const std::string characters =
      expected_string ? expected.string().unescaped() : std::string(expected.raw());
  const bool equal =
      received_string ? received.string() == characters : received.raw() == characters;
  if (!equal) return IdMatch::different;
  return expected_string == received_string ? IdMatch::same : IdMatch::type_changed;
}

std::string_view progress_token_of(std::string_view params) {
  const auto meta = Value(params).find("_meta");
  const auto token = meta ? meta->find("progressToken") : std::nullopt;
  return token ? token->raw() : std::string_view();
}

bool is_progress(const Message& message, std::string_view token) {
  if (message.method() != "notifications/progress") return false;
  const auto named = Value(message.params()).find("progressToken");
  return named && named->raw() == token;
}

}  // namespace mcphttp
