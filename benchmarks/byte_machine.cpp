#include "byte_machine.hpp"

namespace mcphttp::bench {

void ByteMachine::feed(std::string_view bytes, SseSink& sink) {
  for (const char byte : bytes) read(byte, sink);
}

void ByteMachine::read(char byte, SseSink& sink) {
  const bool second_half = after_cr_ && byte == '\n';
  after_cr_ = byte == '\r';
  if (second_half) return;
  if (byte == '\r' || byte == '\n') {
    end_line(sink);
    return;
  }
  switch (state_) {
    case State::name:
      if (byte == ':') {
        state_ = State::value_start;
      } else {
        name_ += byte;
      }
      return;
    case State::value_start:
      state_ = State::value;
      if (byte != ' ') value_ += byte;
      return;
    case State::value:
      value_ += byte;
      return;
  }
}

void ByteMachine::end_line(SseSink& sink) {
  if (state_ == State::name && name_.empty()) {
    dispatch(sink);
  } else {
    end_field();
  }
  state_ = State::name;
  name_.clear();
  value_.clear();
}

void ByteMachine::end_field() {
  if (name_ == "data") {
    if (has_data_) data_ += '\n';
    data_ += value_;
    has_data_ = true;
  } else if (name_ == "event") {
    type_ = value_;
  } else if (name_ == "id") {
    id_ = value_;
  }
}

void ByteMachine::dispatch(SseSink& sink) {
  if (has_data_) {
    SseEvent event;
    event.type = type_.empty() ? std::string_view("message") : std::string_view(type_);
    event.data = data_;
    event.last_event_id = id_;
    sink.on_event(event);
  }
  has_data_ = false;
  type_.clear();
  data_.clear();
}

}  // namespace mcphttp::bench
