// What of a request is mirrored into header fields, so that what lies between can route by it (MCP
// 2026-07-28, Streamable HTTP, Request Metadata). Pure, but for the table of known tools.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/error.hpp>

#include "json.hpp"

namespace mcphttp {

// `value` as a header value: as it is, or as =?base64?...?= where it could not stand in a header,
// would be changed on the way, or looks encoded already (Value Encoding). An empty value is encoded
// too, since an empty field is easily lost.
std::string encode_header_value(std::string_view value);

// The Mcp-Method and Mcp-Name lines of a request or notification (Standard Request Headers);
// `params` is a checked object, or empty.
std::vector<std::string> standard_header_lines(std::string_view method, std::string_view params);

// One parameter of a tool that is mirrored.
struct ToolHeader {
  std::string name;               // what follows Mcp-Param-
  std::vector<std::string> path;  // the names of the properties that lead to it
};

// The mirrored parameters of a checked input schema (Schema Extension). Fails, saying why in
// `detail`, if an annotation breaks a rule: the whole tool is then invalid.
Result<std::vector<ToolHeader>> find_tool_headers(json::Value input_schema);

// The Mcp-Param-* lines for the arguments of a call. A value that is null, absent or no primitive
// is left out.
std::vector<std::string> tool_header_lines(const std::vector<ToolHeader>& headers,
                                           json::Value arguments);

// The mirrored parameters of the tools that were listed, by tool name. Thread-safe; bounded: what
// comes beyond is not remembered, and the server's HeaderMismatch then leads to another list.
class ToolHeaderTable {
 public:
  static constexpr std::size_t max_tools = 4096;

  void remember(std::string_view tool, std::vector<ToolHeader> headers);
  std::vector<ToolHeader> find(std::string_view tool) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<ToolHeader>, std::less<>>
      tools_;  // only those that mirror something
};

}  // namespace mcphttp
