// The head that a relay sends on, and answers of its own. Pure.
#pragma once

#include <cstddef>
#include <optional>

#include <mcphttp/relay.hpp>

namespace mcphttp {

// Why a response cannot be inspected, judged by its head; nothing if it can, or if it is neither
// JSON nor an event stream, where why_type_in_doubt() decides.
std::optional<Error> why_not_inspectable(const ResponseHead& head, const RelayOptions& options);

// Why some client could read messages out of a body that was handed out in pieces, judged by its
// type; nothing for a type that is plainly another. Matters once a piece has come.
std::optional<Error> why_type_in_doubt(const ResponseHead& head);

Error not_inspectable(std::string why);

// Another body than upstream's will follow: what was said of its bytes is dropped.
void forget_bytes(ResponseHead& head);
// A 204 must not have a Content-Length (RFC 9110 8.6), whatever upstream says.
void drop_forbidden_length(ResponseHead& head);
void set_length(ResponseHead& head, std::size_t size);

}  // namespace mcphttp
