// One row tried: its server here, its client in a child, and what came of it judged.
#pragma once

#include <cstddef>
#include <string>

#include "row.hpp"
#include "victim.hpp"

namespace mcphttp::test {

struct Verdict {
  Report report;
  std::size_t past_limit = 0;  // bytes that the server could write beyond Row::may_send
  std::size_t memory_allowed = 0;
  std::string fault;  // why the row does not hold; empty if it does
};

Verdict try_row(const Row& row);

}  // namespace mcphttp::test
