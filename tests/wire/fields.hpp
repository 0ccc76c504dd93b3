// Reads a JSON object key by key and remembers the first thing that is wrong with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace mcphttp::test::wire {

// True if the JSON value is of the type wanted, and then it is in `target`. Sizes and durations
// (milliseconds) are not negative.
bool convert(const nlohmann::json& value, std::string& target);
bool convert(const nlohmann::json& value, bool& target);
bool convert(const nlohmann::json& value, int& target);
bool convert(const nlohmann::json& value, std::size_t& target);
bool convert(const nlohmann::json& value, std::chrono::milliseconds& target);
bool convert(const nlohmann::json& value, nlohmann::json& target);

template <class T>
bool convert(const nlohmann::json& value, std::optional<T>& target) {
  return convert(value, target.emplace());
}

// Each read makes its key a known one; error() reports keys that nobody read. The object must
// outlive the reader.
class Fields {
 public:
  // `where` names the object in errors: "step 3".
  Fields(const nlohmann::json& object, std::string where);

  // Leaves `target` alone if the key is absent.
  template <class T>
  void read(const char* key, T& target) {
    const nlohmann::json* value = take(key);
    if (value != nullptr && !convert(*value, target))
      fail(std::string(key) + " has the wrong type or range");
  }

  // An absent key is an error.
  template <class T>
  void require(const char* key, T& target) {
    if (!has(key)) fail(std::string(key) + " is missing");
    read(key, target);
  }

  // A name that stands for an enumerator. Leaves `target` alone if the key is absent.
  template <class Enum>
  void choose(const char* key, std::initializer_list<std::pair<std::string_view, Enum>> names,
              Enum& target) {
    if (!has(key)) return;
    std::string name;
    read(key, name);
    for (const auto& entry : names) {
      if (entry.first == name) {
        target = entry.second;
        return;
      }
    }
    fail(std::string(key) + " cannot be \"" + name + "\"");
  }

  // Known keys that are for human readers.
  void ignore(std::initializer_list<const char*> keys);

  bool has(const char* key) const;
  void fail(const std::string& why);

  // One line about the first fault so far; empty if there is none.
  const std::string& fault() const { return error_; }
  // The same when all has been read: an unknown key is a fault as well.
  std::string error() const;

 private:
  const nlohmann::json* take(const char* key);

  const nlohmann::json& object_;
  std::string where_;
  std::set<std::string> known_;
  std::string error_;
};

}  // namespace mcphttp::test::wire
