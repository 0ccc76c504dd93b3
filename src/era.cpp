#include "era.hpp"

#include <algorithm>
#include <array>

#include "json.hpp"
#include "protocol.hpp"

namespace mcphttp {
namespace {

// MCP 2026-07-28, Error Codes: HeaderMismatch, MissingRequiredClientCapability,
// UnsupportedProtocolVersion.
constexpr std::array<std::int64_t, 3> modern_codes{-32020, -32021, -32022};
constexpr std::int64_t unsupported_version = -32022;

// What a server says that knows no such method, or no such thing as a request outside of a session.
constexpr std::array legacy_statuses{400, 404, 405, 406, 415};

template <class List, class Value>
bool contains(const List& list, Value value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The newest revision in a list that we speak: the table is ordered so.
const protocol::Revision* newest_common(json::Value versions) {
  for (const protocol::Revision& revision : protocol::revisions()) {
    bool offered = false;
    versions.for_each_element(
        [&](json::Value version) { offered = offered || version.string() == revision.name; });
    if (offered) return &revision;
  }
  return nullptr;
}

ProbeVerdict judge_versions(json::Value versions, ProbeVerdict::Kind if_modern) {
  const protocol::Revision* revision = newest_common(versions);
  if (revision == nullptr) return {ProbeVerdict::Kind::incompatible, {}};
  if (!revision->is_modern) return {ProbeVerdict::Kind::legacy, {}};
  return {if_modern, std::string(revision->name)};
}

ProbeVerdict judge_rpc_error(const Error& error) {
  if (error.rpc_code == unsupported_version) {
    const std::string_view data =
        error.rpc_data.empty() ? "null" : std::string_view(error.rpc_data);
    const auto supported = json::Value(data).find("supported");
    return judge_versions(supported.value_or(json::Value()), ProbeVerdict::Kind::ask_again);
  }
  if (contains(modern_codes, error.rpc_code)) return {ProbeVerdict::Kind::modern_fault, {}};
  const bool is_success = error.http_status >= 200 && error.http_status < 300;
  if (is_success || contains(legacy_statuses, error.http_status))
    return {ProbeVerdict::Kind::legacy, {}};
  return {ProbeVerdict::Kind::no_sign, {}};
}

}  // namespace

ProbeVerdict judge_probe(const Result<Message>& answer) {
  if (answer) {
    const auto versions = json::Value(answer->result()).find("supportedVersions");
    // A result of another shape: a server that answers whatever it is asked.
    if (!versions) return {ProbeVerdict::Kind::legacy, {}};
    return judge_versions(*versions, ProbeVerdict::Kind::modern);
  }
  const Error& error = answer.error();
  if (error.code == ErrorCode::rpc_error) return judge_rpc_error(error);
  const bool refused =
      error.code == ErrorCode::http_error && contains(legacy_statuses, error.http_status);
  return {refused ? ProbeVerdict::Kind::legacy : ProbeVerdict::Kind::no_sign, {}};
}

}  // namespace mcphttp
