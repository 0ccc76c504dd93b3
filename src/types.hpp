// Typed views of what servers return. Tolerant: a member of the wrong type counts as absent.
#pragma once

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

// Members of checked objects as owned values; empty if absent or of another type.
std::string text_member(json::Value object, std::string_view name);
std::string object_member(json::Value object, std::string_view name);

}  // namespace mcphttp
