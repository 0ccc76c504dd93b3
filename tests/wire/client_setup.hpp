// What the harness says on behalf of the application: options, requests, answers to the server.
#pragma once

#include <string>

#include <mcphttp/client.hpp>

#include "wire/script.hpp"

namespace mcphttp::test::wire {

Milliseconds scaled(Milliseconds time, double time_scale);

TransportOptions make_options(const Script& script, const std::string& url, double time_scale);

// The params of a request of that method as an application would send them, padded to body_bytes.
Json make_params(const Script& script, const RequestPattern& pattern);
// The whole message, with the id of the script.
std::string make_message(const Script& script, const RequestPattern& pattern);

// What an application answers to a request of the server: what a follow-up of the case says, an
// empty result to ping, else that there is no such method. A whole message.
std::string make_answer(const Script& script, const Message& request);
// The follow-up's body that answers this request; null if there is none.
Json find_answer(const Script& script, const Message& request);

// True if Client, and not Transport, is to be driven.
bool needs_client(const Script& script);
// True if the client never sends that request by itself: the harness has to.
bool is_sent_by_harness(const Script& script, const Reply& reply);

}  // namespace mcphttp::test::wire
