// A legacy server that at random drops connections before and after the head and in the middle of
// an event, stalls, forgets its session, replays events, and answers in either form.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "dice.hpp"
#include "helpers.hpp"

namespace mcphttp::test {

class FlakyServer {
 public:
  struct Counts {
    std::uint64_t carried_out = 0;        // tools/call
    std::uint64_t carried_out_again = 0;  // with a number that had been carried out before
    std::uint64_t restarts = 0;
    std::uint64_t resumptions = 0;
  };

  explicit FlakyServer(std::uint64_t seed);

  std::string url() const { return server_.url(); }
  Counts counts() const;

 private:
  // Where the stream of a call is: all that must be known to go on with it, and so its event id.
  struct Place {
    std::string id;  // of the request, and its progress token
    std::uint64_t number = 0;
    int next = 0;
    int last = 0;
  };
  static std::string to_string(const Place& place);
  static Place to_place(const std::string& event_id);

  void serve(Connection& connection, const Request& request);
  void initialize(Connection& connection, const Request& request);
  void call(Connection& connection, const Request& request, std::uint64_t number);
  void send_messages(Connection& connection);
  void resume(Connection& connection, Place place);
  void go_on(Connection& connection, Place place);
  bool send_step(Connection& connection, const Place& place, const std::string& data);
  void break_off(Connection& connection);
  bool stall(const Connection& connection);
  void note(std::uint64_t number);
  std::string session_id() const { return "s-" + std::to_string(session_); }

  Dice dice_;
  std::atomic<std::uint64_t> session_{1};
  std::atomic<std::uint64_t> resumptions_{0};
  mutable std::mutex mutex_;
  std::vector<bool> seen_;               // guarded; by number
  std::uint64_t carried_out_ = 0;        // guarded
  std::uint64_t carried_out_again_ = 0;  // guarded
  ScriptedServer server_;                // last: its threads use the others
};

}  // namespace mcphttp::test
