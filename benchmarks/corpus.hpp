// The bytes that are measured with: event streams for the parsers, results for the servers. The
// same on every run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcphttp::bench {

// An event stream of about `size` bytes, of whole events only. `kind`: "200" (each event 200 bytes,
// with a type and one line of data), "64k" (one line of 64 KiB of data) or "lines" (16 lines of 64
// bytes). Throws std::invalid_argument for another.
std::string event_stream(std::string_view kind, std::size_t size);

// One event with `size` bytes of data in one line.
std::string one_event(std::size_t size);

// A notification of exactly `size` bytes.
std::string notification(std::size_t size);

// A `tools/list` result of exactly `size` bytes, of entries of 300 to 400 bytes.
std::string listing(std::size_t size);

// A `tools/call` result of exactly `size` bytes: one image in Base64.
std::string base64_image(std::size_t size);

}  // namespace mcphttp::bench
