// Any bytes as a message. Oracle: what is accepted is JSON for nlohmann too (lone surrogates and
// numbers beyond double apart), its fields are JSON by themselves, and reading it again gives the
// same.
#include "message.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using mcphttp::Message;
using mcphttp::Result;

constexpr std::size_t max_depth = 16;
constexpr std::size_t max_messages = 8;

void require(bool condition) {
  if (!condition) std::abort();
}

bool nlohmann_may_differ(std::string_view text) {
  return text.find("\\u") != std::string_view::npos || text.find('\0') != std::string_view::npos ||
         text.find_first_of("eE") != std::string_view::npos || text.size() > 300;
}

void check_field(std::string_view raw, mcphttp::json::Checker& checker) {
  std::string text(raw);
  require(raw.empty() || checker.check(text, max_depth).has_value());
}

void check_message(const Message& message, mcphttp::json::Checker& checker) {
  require(nlohmann_may_differ(message.json()) || nlohmann::json::accept(message.json()));
  for (const std::string_view field :
       {message.id(), message.params(), message.result(), message.error(), message.error_data()}) {
    check_field(field, checker);
  }
  std::string quoted;
  mcphttp::json::append_quoted(quoted, message.method());
  mcphttp::json::append_quoted(quoted, message.error_message());
  require(message.id().empty() || message.id() == "null" ||
          mcphttp::match_ids(message.id(), message.id()) == mcphttp::IdMatch::same);
  const Result<Message> again = Message::parse(std::string(message.json()), max_depth);
  require(again && again->kind() == message.kind() && again->json() == message.json());
}

// Every member read by Value must lead to checked JSON, and setting one must keep the text JSON.
void check_views(std::string_view text, mcphttp::json::Checker& checker) {
  std::string copy(text);
  const Result<mcphttp::json::Value> root = checker.check(copy, max_depth);
  const bool strict = text.substr(0, 1) != "\xEF" && !nlohmann_may_differ(text);
  if (strict && !root && nlohmann::json::accept(text)) {
    require(root.error().code == mcphttp::ErrorCode::json_too_deep);
  }
  if (!root) return;
  require(!strict || nlohmann::json::accept(text));
  mcphttp::json::Checker other;
  root->for_each_member([&other](mcphttp::json::RawString name, mcphttp::json::Value value) {
    require(name == name.unescaped());
    check_field(value.raw(), other);
  });
  root->for_each_element([&other](mcphttp::json::Value value) { check_field(value.raw(), other); });
  if (root->type() != mcphttp::json::Type::object) return;
  std::string changed = mcphttp::json::set_member_of(root->raw(), "_meta", "progressToken", "7");
  const Result<mcphttp::json::Value> result = checker.check(changed, max_depth + 2);
  require(result && result->find("_meta") &&
          result->find("_meta")->find("progressToken")->raw() == "7");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  mcphttp::json::Checker checker;
  check_views(text, checker);
  const Result<Message> message = mcphttp::parse_message(std::string(text), max_depth, checker);
  if (message) check_message(*message, checker);
  const Result<std::vector<Message>> batch =
      mcphttp::parse_batch(std::string(text), max_depth, max_messages, checker);
  require(!message || (batch && batch->size() == 1));
  if (batch) {
    require(!batch->empty() && batch->size() <= max_messages);
    for (const Message& element : *batch) check_message(element, checker);
  }
  return 0;
}
