// Writes down which error codes and warnings of the library the tests have met, for the last test
// of the suite (check_seen.sh): what none of them has met is not tested.
#pragma once

#include <mcphttp/error.hpp>

namespace mcphttp::test {

// To be given what the library has made, never what a test has. Once for each code and kind goes
// into a file of this program's name in the folder that MCPHTTP_SEEN_DIR names; nowhere without it.
// Thread-safe.
void note_seen(const Error& error);  // and its causes
void note_seen(const Warning& warning);

}  // namespace mcphttp::test
