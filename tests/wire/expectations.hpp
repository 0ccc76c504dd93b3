// Compares what was seen with what a case expects.
#pragma once

#include <string>
#include <vector>

#include "wire/observation.hpp"
#include "wire/script.hpp"

namespace mcphttp::test::wire {

// One line for each difference; none: the case has passed. An expectation that is not known, or of
// the wrong form, is a difference.
std::vector<std::string> find_differences(const Script& script, const Observation& seen,
                                          double time_scale);

}  // namespace mcphttp::test::wire
