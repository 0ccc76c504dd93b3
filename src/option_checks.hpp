// Judges what the caller sets, once, before anything is sent. Errors are invalid_argument and name
// the field; values are never shown, they may be credentials.
#pragma once

#include <optional>
#include <vector>

#include <mcphttp/options.hpp>
#include <mcphttp/transport.hpp>

#include "url.hpp"

namespace mcphttp {

std::optional<Error> check_options(const TransportOptions& options, const http::Url& url);
std::optional<Error> check_headers(const std::vector<Header>& headers);
// Of one message; `options` are checked, and `url` is the endpoint.
std::optional<Error> check_send(const SendOptions& send, const TransportOptions& options,
                                const http::Url& url);
std::optional<Error> check_timeouts(const Timeouts& timeouts);

}  // namespace mcphttp
