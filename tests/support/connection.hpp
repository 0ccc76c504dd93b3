// One connection of the scripted server, as its handler sees it: exact bytes out, and what the peer
// did with them.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/options.hpp>

#include "support/socket.hpp"

namespace mcphttp::test {

// The parts of an HTTP/1.1 response as bytes (RFC 9112 4, 5, 7.1).
std::string status_line(int status);
std::string header_line(std::string_view name, std::string_view value);
std::string chunk(std::string_view bytes);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

// Used only on the connection's own thread, during a call of the handler. A write returns when the
// kernel has taken every byte. It returns false once the peer has closed (a half-closed peer counts
// as closed) or reset, after close() or reset(), and when the server is being destroyed.
class Connection {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // `stop` is signalled when the server is being destroyed; every wait here ends then.
  Connection(Socket socket, int stop, std::size_t index);

  // In the order in which connections were accepted, from 0.
  std::size_t index() const { return index_; }

  // These bytes and no others.
  bool write(std::string_view bytes);
  // The same for the last bytes before close(), which must follow at once: their end waits for the
  // FIN and goes out with it. Who has read all of them can then see that nothing follows, and does
  // not send another request into a connection that is already closed.
  bool write_last(std::string_view bytes);
  // Status line, the given header fields and the empty line. Adds no field.
  bool write_head(int status, const std::vector<Header>& headers = {});
  // One chunk of a chunked body (RFC 9112 7.1). An empty one writes nothing: it would end the body.
  bool write_chunk(std::string_view bytes);
  // The last chunk, without trailers.
  bool end_chunks();
  // A whole response: head with Content-Length added, and body, in one write. The connection stays
  // open.
  bool write_response(int status, std::vector<Header> headers, std::string_view body);

  // FIN after the pending bytes. What the peer still sends is discarded until it closes as well, so
  // that no RST overtakes them.
  void close();
  // RST at once (SO_LINGER 0): bytes the peer's kernel has not acknowledged are lost. On a Unix
  // socket a plain close.
  void reset();

  // True if the peer has closed or reset, or does so within that time. False too when the server is
  // being destroyed, and after reset(): nothing more can be seen then.
  bool peer_closed(Milliseconds within);
  // Sleeps. False, at once, when the server is being destroyed.
  bool pause(Milliseconds duration) const;
  // True once the peer's kernel has acknowledged every byte written; false if that did not happen
  // within that time.
  bool wait_acknowledged(Milliseconds within) const;

  // Bytes the own kernel has taken, and those of them the peer's kernel has acknowledged (SIOCOUTQ;
  // TCP only). The peer's program may have read fewer: its kernel buffers too.
  std::size_t bytes_written() const { return written_; }
  std::size_t bytes_acknowledged() const;

  // For the serving thread. receive: the next bytes, empty at the end of the peer's stream, on an
  // error, or when the server is being destroyed; valid until called again.
  std::string_view receive();
  bool is_open() const { return state_ == State::open; }
  void discard_until_closed();

 private:
  bool write(std::string_view bytes, int flags);

  enum class State {
    open,
    finished,  // FIN sent; the peer may still send
    gone,      // descriptor closed
  };

  Socket socket_;
  int stop_;
  std::size_t index_;
  State state_ = State::open;
  std::size_t written_ = 0;
  std::size_t acknowledged_at_end_ = 0;  // of a connection that is gone
  std::string received_;
};

}  // namespace mcphttp::test
