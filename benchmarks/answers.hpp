// What the server of the benchmarks says to each request.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "connection_output.hpp"

namespace mcphttp::bench {

struct Request {
  std::string_view method;
  std::string_view target;
  std::string_view body;
};

// The answers, by target; each is made once and kept:
//   /json            a small result
//   /sse             the same as the one event of a stream
//   /listing/SIZE    a tools/list result, SIZE bytes of body
//   /base64/SIZE     an image, SIZE bytes of body
//   /stream/COUNT    COUNT notifications of 64 KiB as events, then the small result
// Everywhere, `initialize` is answered, notifications are accepted, and GET is not allowed.
class Answers {
 public:
  Answer to(const Request& request);

 private:
  Answer result_of(std::string_view target, std::string_view id);
  const std::string& kept(const std::string& target);

  std::map<std::string, std::string> results_;  // the text after the id, by target
};

// The head of a chunked event stream, and one event as a chunk of it.
std::string event_stream_head();
std::string event_chunk(std::string_view data);

// The number at the end of a target such as /stream/16.
std::size_t number_in(std::string_view target);

}  // namespace mcphttp::bench
