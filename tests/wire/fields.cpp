#include "wire/fields.hpp"

#include <cstdint>
#include <limits>

namespace mcphttp::test::wire {

using Json = nlohmann::json;

bool convert(const Json& value, std::string& target) {
  if (value.is_string()) target = value.get<std::string>();
  return value.is_string();
}

bool convert(const Json& value, bool& target) {
  if (value.is_boolean()) target = value.get<bool>();
  return value.is_boolean();
}

bool convert(const Json& value, int& target) {
  if (!value.is_number_integer()) return false;
  const auto number = value.get<std::int64_t>();
  target = static_cast<int>(number);
  return number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max();
}

bool convert(const Json& value, std::size_t& target) {
  if (value.is_number_unsigned()) target = value.get<std::size_t>();
  return value.is_number_unsigned();
}

bool convert(const Json& value, std::chrono::milliseconds& target) {
  std::size_t count = 0;
  if (!convert(value, count) || count > std::numeric_limits<std::uint32_t>::max()) return false;
  target = std::chrono::milliseconds{count};
  return true;
}

bool convert(const Json& value, Json& target) {
  target = value;
  return true;
}

Fields::Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object()) fail("is not an object");
}

void Fields::ignore(std::initializer_list<const char*> keys) {
  for (const char* key : keys) known_.insert(key);
}

bool Fields::has(const char* key) const { return object_.is_object() && object_.contains(key); }

void Fields::fail(const std::string& why) {
  if (error_.empty()) error_ = where_ + ": " + why;
}

std::string Fields::error() const {
  if (!error_.empty()) return error_;
  for (const auto& item : object_.items()) {
    if (!known_.contains(item.key())) return where_ + ": unknown key " + item.key();
  }
  return {};
}

const Json* Fields::take(const char* key) {
  known_.insert(key);
  return has(key) ? &object_.at(key) : nullptr;
}

}  // namespace mcphttp::test::wire
