// A client without any HTTP library: what it sends and what it sees are plain bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/socket.hpp"

namespace mcphttp::test {

// How a stream of bytes ended.
enum class StreamEnd {
  open,   // not yet: nothing came for the time allowed, or as much came as was asked for
  fin,    // orderly
  reset,  // ECONNRESET
};

struct ReadResult {
  std::string bytes;
  StreamEnd end = StreamEnd::open;
};

// Blocking, but no read waits longer than 20 s for the next byte. Thread-compatible.
class RawClient {
 public:
  explicit RawClient(Socket socket);

  // False if the peer has closed.
  bool send(std::string_view bytes);
  // A request for /mcp with a sized body.
  bool post(std::string_view body);

  // Everything up to the end of the stream.
  ReadResult read_all();
  // At least `count` bytes, unless the stream ends before.
  ReadResult read(std::size_t count);

  // An RST instead of a FIN.
  void reset();
  void close() { socket_.close(); }

 private:
  Socket socket_;
};

}  // namespace mcphttp::test
