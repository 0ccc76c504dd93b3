// What the clients of the table do (Script, row.hpp). All of them block.
#pragma once

#include "row.hpp"

namespace mcphttp::test {

// Posts one request.
Outcome post(const ClientOptions& options, const EventLoop& loop);
// Lists the tools.
Outcome list_tools(const ClientOptions& options, const EventLoop& loop);
// Calls a tool; "ask" is handled, but never answered.
Outcome call_tool(const ClientOptions& options, const EventLoop& loop);
// One request for each cut of the answer. The outcome names all that came of them, in alphabetical
// order; "wrong" if an answer was taken before it was complete, or not taken when it was.
Outcome be_cut_off_json(const ClientOptions& options, const EventLoop& loop);
Outcome be_cut_off_events(const ClientOptions& options, const EventLoop& loop);

}  // namespace mcphttp::test
