#include "connection_output.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace mcphttp::bench {

void ConnectionOutput::start(Answer answer) {
  answer_ = std::move(answer);
  part_ = Part::head;
  sent_ = 0;
}

ConnectionOutput::Progress ConnectionOutput::send_to(int fd) {
  while (part_ != Part::done) {
    const std::string_view rest = present().substr(sent_);
    if (rest.empty()) {
      next_part();
      continue;
    }
    const auto taken = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (taken < 0 && errno == EAGAIN) return Progress::blocked;
    if (taken < 0) return Progress::broken;
    sent_ += static_cast<std::size_t>(taken);
  }
  return Progress::done;
}

std::string_view ConnectionOutput::present() const {
  switch (part_) {
    case Part::head:
      return answer_.head;
    case Part::block:
      return answer_.repeats > 0 ? answer_.block : std::string_view{};
    case Part::end:
      return answer_.end;
    case Part::done:
      break;
  }
  return {};
}

void ConnectionOutput::next_part() {
  sent_ = 0;
  switch (part_) {
    case Part::head:
      part_ = Part::block;
      return;
    case Part::block:
      if (answer_.repeats > 1) {
        --answer_.repeats;
      } else {
        part_ = Part::end;
      }
      return;
    case Part::end:
      part_ = Part::done;
      return;
    case Part::done:
      return;
  }
}

}  // namespace mcphttp::bench
