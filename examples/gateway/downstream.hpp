// The client's side of an answer while its body is sent.
#pragma once

#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

namespace gateway {

// How the end of a body is shown (RFC 9112 6). Our own: httplib would compress what it frames.
enum class Framing { length, chunks, close };

// Writes pieces, waiting for the client to take them; meanwhile notices a client that leaves while
// nothing is to be written. write() and end() from one thread.
class Downstream {
 public:
  // `gone` is called at most once, by a thread of its own, if the client has left.
  Downstream(httplib::DataSink& sink, Framing framing, std::function<void()> gone);

  // False if the client has left, or has taken nothing for the time allowed.
  bool write(std::string_view bytes);
  bool end();
  // True once `gone` was called.
  bool has_left() const { return left_; }

 private:
  void watch(const std::stop_token& stop);

  httplib::DataSink& sink_;  // guarded by mutex_
  const Framing framing_;
  const std::function<void()> gone_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::atomic<bool> left_{false};
  std::jthread watcher_;  // last: uses all of the above
};

}  // namespace gateway
