#include "tool_headers.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base64.hpp"
#include "http_fields.hpp"
#include "make_error.hpp"

namespace mcphttp {
namespace {

constexpr std::string_view annotation = "x-mcp-header";

// 2^53 - 1: integers beyond lose digits in JavaScript (Schema Extension).
constexpr std::int64_t greatest_safe_integer = 9'007'199'254'740'991;

bool is_plain(std::string_view value) {
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return (c >= 0x20 && c <= 0x7E) || c == '\t'; });
}

bool has_blank_edge(std::string_view value) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  return is_blank(value.front()) || is_blank(value.back());
}

bool looks_encoded(std::string_view value) {
  constexpr std::string_view begin = "=?base64?";
  constexpr std::string_view end = "?=";
  return value.size() >= begin.size() + end.size() && value.substr(0, begin.size()) == begin &&
         value.substr(value.size() - end.size()) == end;
}

bool is_mirrored_type(std::string_view type) {
  constexpr std::array types{"string", "integer", "boolean"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

tl::unexpected<Error> invalid_tool(std::string detail) {
  return tl::unexpected(make_error(ErrorCode::malformed_message, std::move(detail)));
}

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, json::RawString name) {
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view one) { return name == one; });
}

// Keywords whose members have names of their own, and keywords whose values are data, not schemas
// (JSON Schema 2020-12).
constexpr std::array<std::string_view, 5> naming_keywords{
    "properties", "patternProperties", "dependentSchemas", "$defs", "definitions"};
constexpr std::array<std::string_view, 4> data_keywords{"default", "const", "enum", "examples"};

// How often the annotation stands anywhere in the schema, as a keyword: wherever the walk along
// `properties` does not come is a place where it must not be. Not recursive; the depth of the text
// is bounded.
std::size_t count_annotations(json::Value schema) {
  struct Place {
    json::Value value;
    bool has_names;  // its members are not keywords
  };
  std::size_t count = 0;
  std::vector<Place> open{{schema, false}};
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    place.value.for_each_member([&](json::RawString name, json::Value member) {
      const bool is_keyword = !place.has_names;
      if (is_keyword && name == annotation) ++count;
      if (is_keyword && is_one_of(data_keywords, name)) return;
      open.push_back({member, is_keyword && is_one_of(naming_keywords, name)});
    });
    place.value.for_each_element([&open](json::Value element) {
      open.push_back({element, false});
    });
  }
  return count;
}

// Walks the chain of `properties` keys from the root of a schema.
class SchemaWalk {
 public:
  Result<std::vector<ToolHeader>> run(json::Value schema) {
    struct Place {
      json::Value schema;
      std::vector<std::string> path;
    };
    std::vector<Place> open{{schema, {}}};
    while (!open.empty()) {
      const Place place = std::move(open.back());
      open.pop_back();
      const auto properties = place.schema.find("properties");
      if (!properties) continue;
      std::string fault;
      properties->for_each_member([&](json::RawString name, json::Value property) {
        Place next{property, place.path};
        next.path.push_back(name.unescaped());
        if (fault.empty()) fault = take(next.schema, next.path);
        open.push_back(std::move(next));
      });
      if (!fault.empty()) return invalid_tool(std::move(fault));
    }
    if (count_annotations(schema) != found_.size()) {
      return invalid_tool("x-mcp-header stands where it is not reachable through properties alone");
    }
    return std::move(found_);
  }

 private:
  // What is wrong with the annotation of one property; empty if nothing is, or there is none.
  std::string take(json::Value property, const std::vector<std::string>& path) {
    const auto value = property.find(annotation);
    if (!value) return {};
    const auto name = value->as_string();
    if (!name || !http::is_token(*name)) return "x-mcp-header is no token";
    if (!names_.insert(http::to_lower(*name)).second) return "x-mcp-header occurs twice";
    const auto type = property.find("type");
    if (!type || !is_mirrored_type(type->as_string().value_or(""))) {
      return "x-mcp-header on a parameter that is not of type string, integer or boolean";
    }
    found_.push_back({*name, path});
    return {};
  }

  std::vector<ToolHeader> found_;
  std::set<std::string> names_;
};

std::optional<std::string> to_header_text(json::Value value) {
  switch (value.type()) {
    case json::Type::string:
      return value.as_string();
    case json::Type::boolean:
      return std::string(value.raw());
    case json::Type::number: {
      const auto number = value.as_int64();
      const bool is_safe =
          number && *number <= greatest_safe_integer && *number >= -greatest_safe_integer;
      // What is no safe integer the server will refuse by the schema; the text as it stands is the
      // honest mirror.
      return is_safe ? std::to_string(*number) : std::string(value.raw());
    }
    case json::Type::null:
    case json::Type::array:
    case json::Type::object:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::string encode_header_value(std::string_view value) {
  const bool as_it_is =
      !value.empty() && is_plain(value) && !has_blank_edge(value) && !looks_encoded(value);
  if (as_it_is) return std::string(value);
  return fmt::format("=?base64?{}?=", encode_base64(value));
}

std::vector<std::string> standard_header_lines(std::string_view method, std::string_view params) {
  std::vector<std::string> lines{"Mcp-Method: " + encode_header_value(method)};
  const bool by_uri = method == "resources/read";
  if (params.empty() || (!by_uri && method != "tools/call" && method != "prompts/get"))
    return lines;
  const auto name = json::Value(params).find(by_uri ? "uri" : "name");
  if (const auto text = name ? name->as_string() : std::nullopt) {
    lines.push_back("Mcp-Name: " + encode_header_value(*text));
  }
  return lines;
}

Result<std::vector<ToolHeader>> find_tool_headers(json::Value input_schema) {
  return SchemaWalk().run(input_schema);
}

std::vector<std::string> tool_header_lines(const std::vector<ToolHeader>& headers,
                                           json::Value arguments) {
  std::vector<std::string> lines;
  for (const ToolHeader& header : headers) {
    std::optional<json::Value> value = arguments;
    for (const std::string& step : header.path) value = value ? value->find(step) : std::nullopt;
    if (const auto text = value ? to_header_text(*value) : std::nullopt) {
      lines.push_back(fmt::format("Mcp-Param-{}: {}", header.name, encode_header_value(*text)));
    }
  }
  return lines;
}

void ToolHeaderTable::remember(std::string_view tool, std::vector<ToolHeader> headers) {
  const std::lock_guard lock(mutex_);
  const auto known = tools_.find(tool);
  if (headers.empty()) {
    if (known != tools_.end()) tools_.erase(known);
  } else if (known != tools_.end()) {
    known->second = std::move(headers);
  } else if (tools_.size() < max_tools) {
    tools_.emplace(tool, std::move(headers));
  }
}

std::vector<ToolHeader> ToolHeaderTable::find(std::string_view tool) const {
  const std::lock_guard lock(mutex_);
  const auto known = tools_.find(tool);
  return known != tools_.end() ? known->second : std::vector<ToolHeader>();
}

}  // namespace mcphttp
