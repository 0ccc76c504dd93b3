#include "types.hpp"

#include <algorithm>

namespace mcphttp {
namespace {

ContentBlock to_content_block(json::Value block) {
  ContentBlock content;
  content.type = text_member(block, "type");
  // An embedded resource has its text, blob and URI one level down.
  const auto resource = content.type == "resource" ? block.find("resource") : std::nullopt;
  const json::Value body = resource.value_or(block);
  content.text = text_member(body, "text");
  content.data = text_member(body, resource ? "blob" : "data");
  content.mime_type = text_member(body, "mimeType");
  content.uri = text_member(body, "uri");
  content.name = text_member(block, "name");
  content.json = std::string(block.raw());
  return content;
}

bool flag_member(json::Value object, std::string_view name) {
  const auto value = object.find(name);
  return value && value->as_bool().value_or(false);
}

std::string raw_member(json::Value object, std::string_view name, json::Type type) {
  const auto value = object.find(name);
  return value && value->type() == type ? std::string(value->raw()) : std::string();
}

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
  return raw_member(object, name, json::Type::object);
}

std::string text_member(json::Value object, std::string_view name) {
  const auto value = object.find(name);
  return value ? value->as_string().value_or("") : std::string();
}

Tool to_tool(json::Value definition) {
  Tool tool;
  tool.name = text_member(definition, "name");
  tool.title = text_member(definition, "title");
  tool.description = text_member(definition, "description");
  tool.input_schema = object_member(definition, "inputSchema");
  tool.output_schema = object_member(definition, "outputSchema");
  tool.annotations = object_member(definition, "annotations");
  tool.json = std::string(definition.raw());
  return tool;
}

ToolResult to_tool_result(json::Value result) {
  ToolResult typed;
  if (const auto content = result.find("content")) {
    content->for_each_element(
        [&typed](json::Value block) { typed.content.push_back(to_content_block(block)); });
  }
  typed.structured_content = object_member(result, "structuredContent");
  typed.is_error = flag_member(result, "isError");
  typed.json = std::string(result.raw());
  return typed;
}

Resource to_resource(json::Value resource) {
  return {text_member(resource, "uri"),      text_member(resource, "name"),
          text_member(resource, "title"),    text_member(resource, "description"),
          text_member(resource, "mimeType"), std::string(resource.raw())};
}

ResourceTemplate to_resource_template(json::Value resource) {
  return {text_member(resource, "uriTemplate"), text_member(resource, "name"),
          text_member(resource, "title"),       text_member(resource, "description"),
          text_member(resource, "mimeType"),    std::string(resource.raw())};
}

ResourceContents to_resource_contents(json::Value contents) {
  return {text_member(contents, "uri"), text_member(contents, "mimeType"),
          text_member(contents, "text"), text_member(contents, "blob"),
          std::string(contents.raw())};
}

Prompt to_prompt(json::Value prompt) {
  return {text_member(prompt, "name"), text_member(prompt, "title"),
          text_member(prompt, "description"), raw_member(prompt, "arguments", json::Type::array),
          std::string(prompt.raw())};
}

PromptResult to_prompt_result(json::Value result) {
  PromptResult typed;
  typed.description = text_member(result, "description");
  if (const auto messages = result.find("messages")) {
    messages->for_each_element([&typed](json::Value message) {
      typed.messages.push_back({text_member(message, "role"),
                                to_content_block(message.find("content").value_or(json::Value()))});
    });
  }
  typed.json = std::string(result.raw());
  return typed;
}

Completion to_completion(json::Value result) {
  Completion completion;
  const json::Value body = result.find("completion").value_or(json::Value());
  if (const auto values = body.find("values")) {
    values->for_each_element([&completion](json::Value value) {
      if (auto text = value.as_string()) completion.values.push_back(std::move(*text));
    });
  }
  if (const auto total = body.find("total")) completion.total = total->as_int64();
  completion.has_more = flag_member(body, "hasMore");
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
