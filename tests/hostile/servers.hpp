// What the servers of the table send. What is large is made when it is sent: the client's process
// has the table too, and must not begin with memory that its measurement would not see.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/options.hpp>

#include "support/scripted_server.hpp"

namespace mcphttp::test {

// `begin`, then `again` without end.
ScriptedServer::Handler endless(std::string begin, std::string again);
// `begin`, then `again` at a pace of a hundred in a second, without end.
ScriptedServer::Handler dripping(std::string begin, std::string again);
// `begin`, then nothing.
ScriptedServer::Handler silent_after(std::string begin);
// These bytes, and the connection stays open.
ScriptedServer::Handler whole(std::string (*bytes)());

std::string repeated(std::string_view text, std::size_t count);

// The bytes of a head: status line, fields, empty line.
std::string head(int status, const std::vector<Header>& fields);
std::string json_head(int status = 200);
std::string events_head();

// The first bytes of a gzip file without end, and those that make it 2 KiB longer each time.
struct GzipBomb {
  std::string begin;
  std::string again;
};
GzipBomb gzip_bomb();

// A server of the legacy era. Its answers to tools/list are `page(n)`, n counted from 1.
ScriptedServer::Handler lists(std::string (*page)(std::size_t));
// A server of the legacy era whose answer to anything else is that result.
ScriptedServer::Handler calls(std::string (*result)());
// A server of the legacy era whose answer to tools/call is a stream of requests of that method,
// without end; nothing it is sent on account of them does it answer.
ScriptedServer::Handler asks_without_end(std::string method);

// Whole answers to request `id`; `complete_at`: with that many bytes the answer has arrived.
struct Answer {
  std::string bytes;
  std::size_t complete_at;
};
using AnswerTo = Answer (*)(int id);
Answer json_answer(int id);
Answer events_answer(int id);
// Sends so many bytes of the answer as the request's id is above `first_cut_id`, and closes.
inline constexpr int first_cut_id = 1000;
ScriptedServer::Handler cuts(AnswerTo answer);

}  // namespace mcphttp::test
