// A plain event stream parser that looks at one byte after the other: what a careful programmer
// writes first. The floor for input that comes one byte at a time.
#pragma once

#include <string>
#include <string_view>

#include <mcphttp/sse_parser.hpp>

namespace mcphttp::bench {

// The interface of SseParser, as far as it is measured. No limits, no resumption.
class ByteMachine {
 public:
  void feed(std::string_view bytes, SseSink& sink);

 private:
  void read(char byte, SseSink& sink);
  void end_line(SseSink& sink);
  void end_field();
  void dispatch(SseSink& sink);

  enum class State {
    name,         // before the colon
    value_start,  // right behind it: one space does not count
    value,
  };

  State state_ = State::name;
  bool after_cr_ = false;
  bool has_data_ = false;
  std::string name_;
  std::string value_;
  std::string type_;
  std::string data_;
  std::string id_;
};

}  // namespace mcphttp::bench
