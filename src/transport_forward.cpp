// Requests that are passed on as they came.
#include <utility>

#include "forwarding.hpp"
#include "option_checks.hpp"
#include "transport_state.hpp"

namespace mcphttp {

using Milliseconds = std::chrono::milliseconds;

Result<ExchangeRequest> Transport::State::prepare_forward(ForwardRequest forward) const {
  if (auto error = check_forwarded(forward)) return tl::unexpected(std::move(*error));
  if (auto error = check_timeouts(forward.timeouts)) return tl::unexpected(std::move(*error));
  // A body that is none is passed on all the same: what is wrong with it the server will say.
  const auto message = Message::parse(forward.body, options->limits.max_json_depth);
  const bool is_request = message && message->kind() == Message::Kind::request;

  Timeouts times = times_of(is_request, forward.timeouts);
  // As for open_stream(): a stream of server messages may be quiet.
  if (forward.method == "GET") {
    times.idle = forward.timeouts.idle.value_or(Milliseconds{0});
    times.total = forward.timeouts.total.value_or(Milliseconds{0});
  }
  SendOptions send;
  send.own_connection = forward.own_connection;
  send.extras = forward.extras;
  ExchangeRequest request =
      make_request(forward.method, is_request ? Awaits::response : Awaits::stream, {}, send, times);
  request.context.forwarded = true;
  request.context.is_bodiless = forward.method == "HEAD";
  if (is_request) request.context.request_id = std::string(message->id());
  request.header_lines =
      std::make_shared<const std::vector<std::string>>(forwarded_header_lines(forward, *options));
  const bool says_its_length =
      forward.method == "POST" || forward.method == "PUT" || forward.method == "PATCH";
  if (says_its_length || !forward.body.empty()) {
    request.body = std::make_shared<const std::string>(std::move(forward.body));
  }
  return request;
}

Result<Response> Transport::forward(ForwardRequest request) {
  std::stop_token stop = std::move(request.stop);
  return state_->send(state_->prepare_forward(std::move(request)), std::move(stop));
}

Call Transport::start_forward(ForwardRequest request, std::shared_ptr<ResponseHandler> handler) {
  std::stop_token stop = std::move(request.stop);
  auto inbox = state_->open(std::move(handler));
  state_->launch(inbox, state_->prepare_forward(std::move(request)), std::move(stop));
  return Call(std::move(inbox));
}

}  // namespace mcphttp
