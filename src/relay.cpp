#include <mcphttp/relay.hpp>

#include <utility>

#include "relay_writer.hpp"
#include "response_state.hpp"

namespace mcphttp {

struct Relay::State {
  State(Response from, RelayOptions options)
      : response(std::move(from)),
        writer(response.head(), std::string(response.request_id()), std::move(options),
               response.state_->intake->max_json_depth()) {}

  // Has what must be whole collected, once.
  void prepare() {
    if (std::exchange(prepared, true)) return;
    if (const auto whole = writer.wants_whole()) {
      Collected collected = response.collect(whole->max, whole->within);
      writer.take_whole(std::move(collected), response.end());
    }
    if (writer.wants_first_part()) read_on();
  }

  void read_on() {
    if (auto item = response.state_->intake->next()) {
      writer.take(std::move(*item));
    } else {
      writer.finish(response.end());
    }
  }

  // What is over here need not go on upstream.
  void settle() {
    if (response.state_->intake->is_over()) return;
    response.cancel();
    while (response.state_->intake->next()) {
    }
  }

  Response response;
  RelayWriter writer;
  bool prepared = false;
};

Relay::Relay(Response response, RelayOptions options)
    : state_(std::make_unique<State>(std::move(response), std::move(options))) {}
Relay::Relay(Relay&&) noexcept = default;

Relay& Relay::operator=(Relay&& other) noexcept {
  Relay(std::move(other)).state_.swap(state_);
  return *this;
}

Relay::~Relay() = default;

const ResponseHead& Relay::head() {
  state_->prepare();
  state_->writer.commit();
  return state_->writer.head();
}

std::optional<std::string> Relay::next() {
  RelayWriter& writer = state_->writer;
  state_->prepare();
  while (true) {
    std::string bytes = writer.take_output();
    if (!bytes.empty()) {
      writer.commit();
      return bytes;
    }
    if (writer.is_over()) break;
    state_->read_on();
  }
  state_->settle();
  return std::nullopt;
}

RelayEnding Relay::ending() const noexcept { return state_->writer.ending(); }

const Error* Relay::error() const noexcept {
  const auto& error = state_->writer.error();
  return error ? &*error : nullptr;
}

const ExchangeEnd& Relay::upstream_end() const noexcept { return state_->response.end(); }

void Relay::cancel() { state_->response.cancel(); }

}  // namespace mcphttp
