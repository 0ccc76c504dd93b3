// Runs one case: drives the client against the scripted server and writes down what is seen.
#pragma once

#include "wire/observation.hpp"
#include "wire/script.hpp"

namespace mcphttp::test::wire {

// Transport is driven, through its asynchronous form; or Client, where the case leaves a lost
// session to it, or the answering of server requests, or the cancelling of a request. Every time of
// the case is multiplied by `time_scale`.
Observation drive(const Script& script, double time_scale);

}  // namespace mcphttp::test::wire
