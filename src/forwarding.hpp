// What passes a gateway and what ends at it: header fields of one hop (RFC 9110 7.6.1). No I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/transport.hpp>

namespace mcphttp {

// The line as libcurl takes it: a semicolon in place of the colon sends an empty value, which it
// would drop otherwise.
std::string header_line(std::string_view name, std::string_view value);
// True if header_line() has made `line` of that name, in any case.
bool is_line_of(std::string_view name, std::string_view line);

// invalid_argument if the request cannot be passed on.
std::optional<Error> check_forwarded(const ForwardRequest& request);

// The header lines of a forwarded request, credentials of the options included; those of the
// authorizer, which come later, take the place of the request's.
std::vector<std::string> forwarded_header_lines(const ForwardRequest& request,
                                                const TransportOptions& options);

// Drops what is between the upstream server and us only, and a Content-Length that a transfer
// coding overrides (RFC 9112 6.3).
void drop_response_hop_fields(std::vector<Header>& headers);

}  // namespace mcphttp
