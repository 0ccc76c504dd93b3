// What one connection of the server still has to send.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcphttp::bench {

// One answer, of three parts: a head, a block any number of times, and an end.
struct Answer {
  std::string head;
  std::string_view block = {};  // lives as long as the server
  std::size_t repeats = 0;
  std::string end = {};
};

// Sends answers in order, as fast as the socket takes them.
class ConnectionOutput {
 public:
  enum class Progress {
    done,     // everything was taken
    blocked,  // the socket is full: go on when it is writable
    broken,   // the peer is gone
  };

  // To be called only after `done`.
  void start(Answer answer);
  Progress send_to(int fd);

 private:
  std::string_view present() const;
  void next_part();

  enum class Part { head, block, end, done };

  Answer answer_;
  Part part_ = Part::done;
  std::size_t sent_ = 0;  // of the present part
};

}  // namespace mcphttp::bench
