#include "types.hpp"

#include <algorithm>
#include <array>

namespace mcphttp {
namespace {

using namespace std::string_view_literals;

std::string text_of(json::Value value) {
  return value.type() == json::Type::string ? value.string().unescaped() : std::string();
}

std::string raw_of(json::Value value, json::Type type) {
  return value.type() == type ? std::string(value.raw()) : std::string();
}

template <class... Names>
auto members(json::Value object, Names... names) {
  return json::find_members<sizeof...(names)>(object, {names...});
}

void read_content_block(json::Value block, ContentBlock& content) {
  const auto [type, text, data, mime_type, uri, name, resource] =
      members(block, "type"sv, "text"sv, "data"sv, "mimeType"sv, "uri"sv, "name"sv, "resource"sv);
  content.type = text_of(type);
  content.name = text_of(name);
  content.json = std::string(block.raw());
  if (content.type == "resource" && resource.type() != json::Type::null) {
    // An embedded resource has its text, blob and URI one level down.
    const auto [inner_text, blob, inner_type, inner_uri] =
        members(resource, "text"sv, "blob"sv, "mimeType"sv, "uri"sv);
    content.text = text_of(inner_text);
    content.data = text_of(blob);
    content.mime_type = text_of(inner_type);
    content.uri = text_of(inner_uri);
  } else {
    content.text = text_of(text);
    content.data = text_of(data);
    content.mime_type = text_of(mime_type);
    content.uri = text_of(uri);
  }
}

bool flag_of(json::Value value) { return value.as_bool().value_or(false); }

static_assert(std::max({sizeof(Tool), sizeof(Resource), sizeof(ResourceTemplate), sizeof(Prompt),
                        sizeof(ContentBlock), sizeof(ResourceContents), sizeof(PromptMessage)}) <=
              element_holder);

}  // namespace

std::size_t count_elements(json::Value result) {
  std::size_t count = 0;
  const auto add = [&count](json::Value object, std::string_view list) {
    const json::Value elements = object.find(list).value_or(json::Value());
    elements.for_each_element([&count](json::Value /*element*/) { ++count; });
  };
  for (const std::string_view list : {"content", "contents", "messages"}) add(result, list);
  add(result.find("completion").value_or(json::Value()), "values");
  return count;
}

std::string object_member(json::Value object, std::string_view name) {
  return raw_of(object.find(name).value_or(json::Value()), json::Type::object);
}

std::string text_member(json::Value object, std::string_view name) {
  return text_of(object.find(name).value_or(json::Value()));
}

Tool to_tool(json::Value definition) {
  const auto [name, title, description, input, output, annotations] =
      members(definition, "name"sv, "title"sv, "description"sv, "inputSchema"sv, "outputSchema"sv,
              "annotations"sv);
  return {text_of(name),
          text_of(title),
          text_of(description),
          raw_of(input, json::Type::object),
          raw_of(output, json::Type::object),
          raw_of(annotations, json::Type::object),
          std::string(definition.raw())};
}

ToolResult to_tool_result(json::Value result) {
  const auto [content, structured_content, is_error] =
      members(result, "content"sv, "structuredContent"sv, "isError"sv);
  ToolResult typed;
  content.for_each_element(
      [&typed](json::Value block) { read_content_block(block, typed.content.emplace_back()); });
  typed.structured_content = raw_of(structured_content, json::Type::object);
  typed.is_error = flag_of(is_error);
  typed.json = std::string(result.raw());
  return typed;
}

Resource to_resource(json::Value resource) {
  const auto [uri, name, title, description, mime_type] =
      members(resource, "uri"sv, "name"sv, "title"sv, "description"sv, "mimeType"sv);
  return {text_of(uri),         text_of(name),      text_of(title),
          text_of(description), text_of(mime_type), std::string(resource.raw())};
}

ResourceTemplate to_resource_template(json::Value resource) {
  const auto [uri, name, title, description, mime_type] =
      members(resource, "uriTemplate"sv, "name"sv, "title"sv, "description"sv, "mimeType"sv);
  return {text_of(uri),         text_of(name),      text_of(title),
          text_of(description), text_of(mime_type), std::string(resource.raw())};
}

ResourceContents to_resource_contents(json::Value contents) {
  const auto [uri, mime_type, text, blob] =
      members(contents, "uri"sv, "mimeType"sv, "text"sv, "blob"sv);
  return {text_of(uri), text_of(mime_type), text_of(text), text_of(blob),
          std::string(contents.raw())};
}

Prompt to_prompt(json::Value prompt) {
  const auto [name, title, description, arguments] =
      members(prompt, "name"sv, "title"sv, "description"sv, "arguments"sv);
  return {text_of(name), text_of(title), text_of(description), raw_of(arguments, json::Type::array),
          std::string(prompt.raw())};
}

PromptResult to_prompt_result(json::Value result) {
  const auto [description, messages] = members(result, "description"sv, "messages"sv);
  PromptResult typed;
  typed.description = text_of(description);
  messages.for_each_element([&typed](json::Value message) {
    const auto [role, content] = members(message, "role"sv, "content"sv);
    PromptMessage& read = typed.messages.emplace_back();
    read.role = text_of(role);
    read_content_block(content, read.content);
  });
  typed.json = std::string(result.raw());
  return typed;
}

Completion to_completion(json::Value result) {
  const auto [values, total, has_more] = members(
      result.find("completion"sv).value_or(json::Value()), "values"sv, "total"sv, "hasMore"sv);
  Completion completion;
  values.for_each_element([&completion](json::Value value) {
    if (auto text = value.as_string()) completion.values.push_back(std::move(*text));
  });
  completion.total = total.as_int64();
  completion.has_more = flag_of(has_more);
  return completion;
}

Progress to_progress(json::Value params) {
  Progress progress;
  if (const auto value = params.find("progress"))
    progress.progress = value->as_double().value_or(0);
  if (const auto value = params.find("total")) progress.total = value->as_double();
  progress.message = text_member(params, "message");
  return progress;
}

}  // namespace mcphttp
