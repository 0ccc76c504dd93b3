// MCP's values as C++ sees them: what servers list, hold and return. Each owns its strings and
// carries the JSON it was made from, for what has no field here. Members that are absent, or of
// another type than MCP says, are empty. Server text throughout: never trust it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mcphttp {

// Name and version of a program, as sent or received in the handshake.
struct Implementation {
  std::string name;
  std::string version;
};

// What the server said of itself when the client connected.
struct ServerInfo {
  Implementation implementation;
  std::string protocol_version;
  std::string capabilities;  // raw JSON object
  std::string instructions;
};

// What a subscription asks for, or what the server has agreed to tell (MCP 2026-07-28,
// Subscriptions, Notification Filter).
struct SubscriptionFilter {
  bool tools_list_changed = false;
  bool prompts_list_changed = false;
  bool resources_list_changed = false;
  std::vector<std::string> resource_subscriptions;  // URIs: notifications/resources/updated
};

// One notifications/progress (MCP 2025-11-25, Progress), matched to its call by token.
struct Progress {
  double progress = 0;
  std::optional<double> total;
  std::string message;
};

// One block of content (MCP 2025-11-25, Tool Result). Fields that a type does not have are empty.
struct ContentBlock {
  std::string type;  // "text", "image", "audio", "resource", "resource_link", or one unknown to us
  std::string text;  // text; or the text of an embedded resource
  std::string data;  // Base64 of image, audio or the blob of an embedded resource
  std::string mime_type;
  std::string uri;   // resource and resource_link
  std::string name;  // resource_link
  std::string json;  // the block as received
};

struct Tool {
  std::string name;
  std::string title;
  std::string description;
  std::string input_schema;   // raw JSON object
  std::string output_schema;  // raw JSON
  std::string annotations;    // raw JSON
  std::string json;
};

struct ToolResult {
  std::vector<ContentBlock> content;
  std::string structured_content;  // raw JSON
  bool is_error = false;           // the tool itself reports failure
  std::string json;
};

struct Resource {
  std::string uri;
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
  std::string json;
};

struct ResourceTemplate {
  std::string uri_template;  // RFC 6570
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
  std::string json;
};

// One part of what resources/read returns: text or Base64, not both.
struct ResourceContents {
  std::string uri;
  std::string mime_type;
  std::string text;
  std::string blob;
  std::string json;
};

struct Prompt {
  std::string name;
  std::string title;
  std::string description;
  std::string arguments;  // raw JSON array
  std::string json;
};

struct PromptMessage {
  std::string role;  // "user" or "assistant"
  ContentBlock content;
};

struct PromptResult {
  std::string description;
  std::vector<PromptMessage> messages;
  std::string json;
};

// Proposals for the value of an argument (MCP 2025-11-25, Completion).
struct Completion {
  std::vector<std::string> values;
  std::optional<std::int64_t> total;
  bool has_more = false;
};

}  // namespace mcphttp
