#include "protocol.hpp"

#include <algorithm>
#include <array>

namespace mcphttp::protocol {
namespace {

//               name          modern  version_header  resumption  batches
constexpr std::array<Revision, 4> table{{
    {"2026-07-28", true, true, false, false},
    {"2025-11-25", false, true, true, false},
    {"2025-06-18", false, true, true, false},
    {"2025-03-26", false, false, true, true},
}};

}  // namespace

std::span<const Revision> revisions() noexcept { return table; }

bool may_ask_for_input(std::string_view method) noexcept {
  constexpr std::array<std::string_view, 3> methods{"tools/call", "prompts/get", "resources/read"};
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

const Revision* find(std::string_view name) noexcept {
  const auto all = revisions();
  const auto found = std::find_if(
      all.begin(), all.end(), [name](const Revision& revision) { return revision.name == name; });
  return found != all.end() ? &*found : nullptr;
}

}  // namespace mcphttp::protocol
