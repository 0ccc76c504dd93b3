// Typed views of what servers return. Tolerant: a member of the wrong type counts as absent.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <mcphttp/types.hpp>

#include "json.hpp"

namespace mcphttp {

Tool to_tool(json::Value definition);
ToolResult to_tool_result(json::Value result);
Resource to_resource(json::Value resource);
ResourceTemplate to_resource_template(json::Value resource);
ResourceContents to_resource_contents(json::Value contents);
Prompt to_prompt(json::Value prompt);
PromptResult to_prompt_result(json::Value result);
Completion to_completion(json::Value result);
Progress to_progress(json::Value params);

// What the typed view of one element takes beside its bytes, so that a flood of tiny ones is
// bounded by limits on bytes too.
inline constexpr std::size_t element_holder = 256;
// The elements that the typed view of a result has.
std::size_t count_elements(json::Value result);

// Members of checked objects as owned values; empty if absent or of another type.
std::string text_member(json::Value object, std::string_view name);
std::string object_member(json::Value object, std::string_view name);

}  // namespace mcphttp
