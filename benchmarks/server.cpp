// The server of the end-to-end rows: HTTP/1.1 on loopback, one epoll, prepared answers, so that the
// client is what is measured. Prints its port, and serves until stdin ends. Beside Answers it knows
//   GET /streams       an event stream that stays open
//   POST /wake/COUNT   sends COUNT events into such streams, one each millisecond
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "support/socket.hpp"
#include "wake_ups.hpp"

namespace mcphttp::bench {
namespace {

using test::Socket;

struct Connection {
  Socket socket;
  std::string input = {};
  ConnectionOutput output = {};
};

struct ReceivedRequest {
  Request request;
  std::size_t size = 0;
};

// A whole request at the beginning of `input`; nothing while it is unfinished.
std::optional<ReceivedRequest> read_request(std::string_view input) {
  constexpr std::string_view length_name = "\r\nContent-Length: ";
  const std::size_t head_size = input.find("\r\n\r\n");
  if (head_size == std::string_view::npos) return {};
  const std::string_view head = input.substr(0, head_size);
  std::size_t length = 0;
  std::size_t at = head.find(length_name);
  if (at == std::string_view::npos) at = head.find("\r\ncontent-length: ");
  if (at != std::string_view::npos) {
    std::from_chars(head.data() + at + length_name.size(), head.data() + head.size(), length);
  }
  const std::size_t body = head_size + 4;
  if (input.size() < body + length) return {};
  const std::size_t method_end = head.find(' ');
  const std::size_t target_end = head.find(' ', method_end + 1);
  return ReceivedRequest{
      {head.substr(0, method_end), head.substr(method_end + 1, target_end - method_end - 1),
       input.substr(body, length)},
      body + length};
}

class Server {
 public:
  Server()
      : listener_(test::listen_loopback(AF_INET, 0)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    listen(listener_.fd(), SOMAXCONN);
    watch(listener_.fd(), EPOLLIN);
    watch(timer_.fd(), EPOLLIN);
    watch(STDIN_FILENO, EPOLLIN);
  }

  std::uint16_t port() const { return test::local_port(listener_); }

  void run() {
    std::array<epoll_event, 256> events{};
    for (;;) {
      const int count = epoll_wait(epoll_.fd(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == STDIN_FILENO) return;
        if (fd == listener_.fd()) {
          accept_all();
        } else if (fd == timer_.fd()) {
          wake_one();
        } else {
          serve(fd, events[static_cast<std::size_t>(i)].events);
        }
      }
    }
  }

 private:
  void watch(int fd, std::uint32_t what) {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event);
  }

  void accept_all() {
    for (;;) {
      const int fd = accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connections_.emplace(fd, std::make_unique<Connection>(Connection{Socket(fd)}));
      watch(fd, EPOLLIN | EPOLLOUT | EPOLLET);
    }
  }

  void serve(int fd, std::uint32_t what) {
    const auto found = connections_.find(fd);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    const bool open = (what & EPOLLIN) == 0 || receive(connection);
    if (!open || !advance(connection)) drop(fd);
  }

  // False once the peer has closed.
  static bool receive(Connection& connection) {
    std::array<char, 16384> buffer{};
    for (;;) {
      const auto got = recv(connection.socket.fd(), buffer.data(), buffer.size(), 0);
      if (got == 0) return false;
      if (got < 0) return errno == EAGAIN;
      connection.input.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  // Sends what is due and answers what has come; false once the connection is of no use.
  bool advance(Connection& connection) {
    for (;;) {
      const auto progress = connection.output.send_to(connection.socket.fd());
      if (progress != ConnectionOutput::Progress::done) {
        return progress == ConnectionOutput::Progress::blocked;
      }
      const auto received = read_request(connection.input);
      if (!received) return true;
      connection.output.start(answer(received->request, connection.socket.fd()));
      connection.input.erase(0, received->size);
    }
  }

  Answer answer(const Request& request, int fd) {
    if (request.method == "GET" && request.target == "/streams") {
      streams_.push_back(fd);
      return {event_stream_head()};
    }
    if (request.target.substr(0, 6) == "/wake/") {
      wake_ups_left_ = number_in(request.target);
      set_timer(std::chrono::milliseconds{1});
      return {"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"};
    }
    return answers_.to(request);
  }

  void set_timer(std::chrono::nanoseconds interval) const {
    itimerspec times{};
    times.it_interval.tv_nsec = interval.count();
    times.it_value = times.it_interval;
    timerfd_settime(timer_.fd(), 0, &times, nullptr);
  }

  void wake_one() {
    std::uint64_t expired = 0;
    if (read(timer_.fd(), &expired, sizeof expired) < 0) return;
    if (wake_ups_left_ == 0 || streams_.empty()) {
      set_timer(std::chrono::nanoseconds{0});
      return;
    }
    --wake_ups_left_;
    const int fd = streams_[random_() % streams_.size()];
    Connection& connection = *connections_.at(fd);
    connection.output.start({event_chunk(wake_up_message())});
    connection.output.send_to(fd);
  }

  void drop(int fd) {
    connections_.erase(fd);
    for (int& stream : streams_) {
      if (stream != fd) continue;
      stream = streams_.back();
      streams_.pop_back();
      return;
    }
  }

  const Socket listener_;
  const Socket epoll_;
  const Socket timer_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
  std::vector<int> streams_;
  std::size_t wake_ups_left_ = 0;
  std::minstd_rand random_;
  Answers answers_;
};

}  // namespace
}  // namespace mcphttp::bench

int main() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  mcphttp::bench::Server server;
  std::printf("%d\n", server.port());
  std::fflush(stdout);
  server.run();
}
