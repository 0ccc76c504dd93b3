#include "multi_loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace mcphttp::bench {

MultiLoop::MultiLoop(std::function<void(CURL*)> on_done)
    : on_done_(std::move(on_done)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      multi_(curl_multi_init()) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

MultiLoop::~MultiLoop() { curl_multi_cleanup(multi_); }

void MultiLoop::add(CURL* easy) { curl_multi_add_handle(multi_, easy); }

void MultiLoop::remove(CURL* easy) { curl_multi_remove_handle(multi_, easy); }

void MultiLoop::run_until(const std::function<bool()>& enough) {
  while (!enough()) step();
}

int MultiLoop::on_socket(CURL* /*easy*/, curl_socket_t fd, int what, void* self, void* known) {
  auto& loop = *static_cast<MultiLoop*>(self);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop.epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
    return 0;
  }
  epoll_event event{};
  event.data.fd = fd;
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  epoll_ctl(loop.epoll_.fd(), known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
  curl_multi_assign(loop.multi_, fd, self);
  return 0;
}

int MultiLoop::on_timer(CURLM* /*multi*/, long wait_ms, void* self) {
  auto& due = static_cast<MultiLoop*>(self)->due_;
  due.reset();
  if (wait_ms >= 0) due = Clock::now() + std::chrono::milliseconds{wait_ms};
  return 0;
}

int MultiLoop::wait_ms() const {
  if (!due_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due_ - Clock::now()).count();
  return static_cast<int>(std::max<decltype(left)>(left, 0));
}

void MultiLoop::step() {
  std::array<epoll_event, 256> events{};
  const int ready =
      epoll_wait(epoll_.fd(), events.data(), static_cast<int>(events.size()), wait_ms());
  int running = 0;
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    int what = 0;
    if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) what |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    curl_multi_socket_action(multi_, event.data.fd, what, &running);
  }
  if (due_ && Clock::now() >= *due_) {
    due_.reset();
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  collect();
}

void MultiLoop::collect() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    if (message->data.result != CURLE_OK) {
      throw std::runtime_error(curl_easy_strerror(message->data.result));
    }
    curl_multi_remove_handle(multi_, easy);
    on_done_(easy);
  }
}

}  // namespace mcphttp::bench
