#include "poller.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "support/socket.hpp"

using namespace mcphttp;
using test::Socket;

namespace {

// Two ends of a connection; what the peer writes makes `ours` readable.
struct Pair {
  Socket ours;
  Socket peer;

  void write() const { REQUIRE(::write(peer.fd(), "x", 1) == 1); }
};

Pair connect() {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  return {Socket(ends[0]), Socket(ends[1])};
}

// Descriptors that are readable now.
std::vector<int> readable(Poller& poller) {
  std::vector<int> found;
  for (const Poller::Ready& ready : poller.wait(std::chrono::nanoseconds{0})) {
    if (ready.readable) found.push_back(ready.fd);
  }
  return found;
}

// True if the kernel has something to report, wanted or not.
bool is_awake(const Poller& poller) {
  Poller observer;
  observer.watch(poller.fd(), true, false);
  return !readable(observer).empty();
}

}  // namespace

TEST_CASE("a socket is listed while it is waited for") {
  Poller poller;
  const Pair pair = connect();
  const bool is_tracked = GENERATE(false, true);
  if (is_tracked) poller.opened(pair.ours.fd());
  poller.watch(pair.ours.fd(), true, false);
  CHECK(readable(poller).empty());
  pair.write();
  CHECK(readable(poller) == std::vector{pair.ours.fd()});
  poller.watch(pair.ours.fd(), false, false);
  CHECK(readable(poller).empty());
  CHECK(!is_awake(poller));
  poller.watch(pair.ours.fd(), true, true);
  CHECK(readable(poller) == std::vector{pair.ours.fd()});
  poller.watch(pair.ours.fd(), false, true);
  CHECK(readable(poller).empty());
}

TEST_CASE("a kept connection that nobody waits for wakes once, and can be waited for again") {
  Poller poller;
  const Pair pair = connect();
  poller.opened(pair.ours.fd());
  poller.watch(pair.ours.fd(), true, false);
  poller.watch(pair.ours.fd(), false, false);
  pair.write();
  CHECK(is_awake(poller));
  CHECK(readable(poller).empty());
  CHECK(!is_awake(poller));
  poller.watch(pair.ours.fd(), true, false);
  CHECK(readable(poller) == std::vector{pair.ours.fd()});
}

TEST_CASE("the number of a closed socket is as good as new") {
  Poller poller;
  Pair pair = connect();
  const int number = pair.ours.fd();
  poller.opened(number);
  poller.watch(number, true, false);
  poller.watch(number, false, false);
  const bool is_said = GENERATE(true, false);
  if (is_said) poller.closing(number);
  const Pair next = connect();
  REQUIRE(::dup2(next.ours.fd(), number) == number);  // closes what had it
  if (!is_said) poller.opened(number);
  poller.watch(number, true, false);
  CHECK(readable(poller).empty());
  next.write();
  CHECK(readable(poller) == std::vector{number});
}

TEST_CASE("the number of a socket that was closed unsaid can be anybody's") {
  Poller poller;
  const Pair pair = connect();
  const int number = pair.ours.fd();
  poller.opened(number);
  const bool was_connecting = GENERATE(true, false);
  if (was_connecting) poller.watch(number, false, true);
  for (int user = 0; user < 3; ++user) {
    CAPTURE(user);
    const Pair next = connect();
    REQUIRE(::dup2(next.ours.fd(), number) == number);
    poller.watch(number, true, false);
    next.write();
    CHECK(readable(poller) == std::vector{number});
    // Another process may keep it from being closed: no more is heard of it all the same.
    poller.watch(number, false, false);
    CHECK(!is_awake(poller));
  }
}

TEST_CASE("a closed socket that another process still has is no longer reported") {
  Poller poller;
  Pair pair = connect();
  const Socket inherited(::dup(pair.ours.fd()));
  poller.opened(pair.ours.fd());
  poller.watch(pair.ours.fd(), true, false);
  poller.closing(pair.ours.fd());
  pair.ours.close();
  pair.write();
  CHECK(!is_awake(poller));
}

TEST_CASE("a wake-up ends a wait and is listed nowhere") {
  Poller poller;
  poller.wake();
  CHECK(is_awake(poller));
  CHECK(poller.wait(std::nullopt).empty());
  CHECK(!is_awake(poller));
}
