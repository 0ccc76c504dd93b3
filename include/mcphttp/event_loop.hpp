// EventLoop: what moves the bytes. Most applications never name it: each Transport and Client has
// its own. Hosts that own their loop, and programs with many endpoints, make one and share it.
//
// Threading contract, for the whole library:
//  1. A loop is automatic (the default) or polled, chosen at construction. Each Transport has its
//     own automatic loop unless it is given one to share.
//  2. Automatic: while nothing needs a thread, there is none. A blocking caller drives the loop
//     itself; of several, one drives, and when its exchange ends another takes over at once. As
//     soon as something must go on without a waiting caller (an asynchronous call, a stream of
//     server messages), one loop thread is started, and from then on it alone drives.
//  3. The callbacks of a blocking call run on the calling thread; while they run, that thread does
//     not drive. The callbacks of asynchronous calls run on the loop thread (polled: inside
//     poll()), or on the options' executor, one at a time for each exchange. A driving caller moves
//     bytes into other exchanges' bounded queues and never runs their callbacks. Request handlers
//     and authorizers run on the executor, or one at a time on one more thread that starts with the
//     first; while one waits in a blocking member, others run on further threads, at most 15.
//  4. No callback runs while the library holds a lock, or after its on_end. A blocking member
//     called on the loop thread (or inside poll()) is refused with wrong_thread; inside a blocking
//     call's own callback it is allowed.
//  5. Destroying a handle, a Transport or a Client cancels what is running, waits for a callback in
//     progress (unless it is called from that callback), drops tasks an executor has not begun, and
//     calls each remaining on_end(cancelled) itself; nothing is called after it returns. Response
//     and EventStream keep the loop alive; a destroyed Transport ends them as cancelled. All other
//     members may be called from any thread; none may run while its object is being moved or
//     destroyed.
//  6. A step reads ready sockets before it looks at deadlines. Time in which nobody drives an
//     automatic loop, or in which a slow reader has stopped the socket, does not count for the
//     headers, idle and drain times; Timeouts::total and request always run on. A polled loop's
//     time always runs: its host waits on fd().
//  7. libcurl is initialised once, on first use, and never cleaned up. Nothing here is usable in a
//     child after fork().
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <mcphttp/export.hpp>

namespace mcphttp {

class LoopCore;

// A handle: copies share one loop, which lives until the last handle, Transport, Response and
// EventStream is gone.
class MCPHTTP_EXPORT EventLoop {
 public:
  enum class Mode {
    automatic,  // blocking callers drive, or a thread of the library's
    polled,     // the host calls poll(); blocking members drive for themselves between its calls
  };

  explicit EventLoop(Mode mode = Mode::automatic);

  Mode mode() const noexcept;

  // Polled only: waits at most `max_wait` (0: not at all) for something to do, does it, and runs
  // the callbacks of asynchronous calls that are due. Returns false if the loop is automatic, or if
  // called from inside a callback.
  bool poll(std::chrono::milliseconds max_wait);

  // A descriptor that is readable whenever poll() has something to do; owned by the loop, never to
  // be read or closed. For the host's own poller.
  int fd() const noexcept;

  // When poll() is next needed even if fd() stays quiet; nothing if there is no deadline. Valid
  // until the next call of any member of the library on this loop.
  std::optional<std::chrono::steady_clock::time_point> next_deadline() const;

 private:
  friend class Client;
  friend class Transport;
  std::shared_ptr<LoopCore> core_;
};

}  // namespace mcphttp
