// The least that drives libcurl's multi_socket interface: epoll and one timer, on one thread.
#pragma once

#include <curl/curl.h>

#include <functional>
#include <optional>

#include "figures.hpp"
#include "support/socket.hpp"

namespace mcphttp::bench {

class MultiLoop {
 public:
  // `on_done` is told of each handle that has ended, which is then out of the loop.
  explicit MultiLoop(std::function<void(CURL* easy)> on_done);
  ~MultiLoop();
  MultiLoop(const MultiLoop&) = delete;
  MultiLoop& operator=(const MultiLoop&) = delete;

  void add(CURL* easy);
  void remove(CURL* easy);
  // Moves bytes until `enough` says so.
  void run_until(const std::function<bool()>& enough);

 private:
  static int on_socket(CURL* easy, curl_socket_t fd, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long wait_ms, void* self);

  int wait_ms() const;
  void step();
  void collect();

  std::function<void(CURL*)> on_done_;
  test::Socket epoll_;
  CURLM* multi_;
  std::optional<Clock::time_point> due_;  // of libcurl's timer
};

}  // namespace mcphttp::bench
