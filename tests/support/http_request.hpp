// Requests as the scripted server receives them: a strict HTTP/1.1 request parser without I/O (RFC
// 9112).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/options.hpp>

namespace mcphttp::test {

// One request, whole. A value.
struct Request {
  std::string method;
  std::string target;   // as sent: "/mcp?x=1"
  std::string version;  // "HTTP/1.1"
  std::vector<Header>
      headers;       // in order, names as sent, values without the white space around them
  std::string body;  // without its transfer coding
  std::size_t connection = 0;  // index of the connection, in the order they were accepted
  std::chrono::steady_clock::time_point received_at;  // when the last byte had arrived

  // The first value of that name, compared without regard to case; nullopt if absent.
  std::optional<std::string> header(std::string_view name) const;
  // How many fields have that name.
  std::size_t header_count(std::string_view name) const;
};

// Bytes in, requests out. What RFC 9112 forbids is an error and ends parsing, where a lenient
// server would hide a client's mistake: a bare LF, white space before the colon, both framings at
// once. Thread-compatible.
class RequestParser {
 public:
  void feed(std::string_view bytes);

  // The next whole request among the bytes fed so far; nullopt if more bytes are needed or after an
  // error.
  std::optional<Request> next();

  // Why parsing ended; empty while all is well.
  const std::string& error() const { return error_; }

 private:
  enum class State {
    head,        // awaits the empty line after the header fields
    sized_body,  // awaits the rest of a body of known length
    chunk_size,  // awaits the line that announces a chunk
    chunk_data,  // awaits the rest of a chunk and its CRLF
    trailers,    // awaits the empty line after the last chunk
    complete,    // awaits nothing: the request is to be handed out
    failed,
  };

  bool step();
  bool read_head();
  bool read_sized_body();
  bool read_chunk_size();
  bool read_chunk_data();
  bool read_trailers();

  void parse_head(std::string_view head);
  void parse_request_line(std::string_view line);
  void parse_header(std::string_view line);
  void choose_framing();
  std::optional<std::string_view> take_line();
  bool fail(std::string why);

  State state_ = State::head;
  std::string buffer_;
  std::size_t used_ = 0;       // bytes of buffer_ that are parsed already
  std::size_t remaining_ = 0;  // bytes still missing of a sized body or a chunk
  Request request_;
  std::string error_;
};

}  // namespace mcphttp::test
