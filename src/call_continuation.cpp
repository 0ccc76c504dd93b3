#include "call_continuation.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "make_error.hpp"
#include "protocol.hpp"

namespace mcphttp {
namespace {

constexpr std::int64_t header_mismatch = -32020;

// A server that only hands out state is polled no faster than this, and soon slower.
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{250};

bool is_input_required(const Message& answer) {
  const auto type = json::Value(answer.result()).find("resultType");
  return type && type->string() == "input_required";
}

Error fault(ErrorCode code, std::string detail) {
  return make_error(code, std::move(detail), Delivery::answered);
}

tl::unexpected<Error> malformed_inputs(std::string detail) {
  return tl::unexpected(fault(ErrorCode::malformed_message, std::move(detail)));
}

// Handlers know requests of the other era: the same, with an id.
Result<Message> to_request(json::RawString key, json::Value input) {
  const auto method = input.find("method").value_or(json::Value());
  const auto params = input.find("params");
  return Message::parse(
      fmt::format(R"({{"jsonrpc":"2.0","id":"{}","method":{}{}{}}})", key.raw(), method.raw(),
                  params ? R"(,"params":)" : "", params ? params->raw() : ""),
      json::greatest_depth);
}

// What a result asks for; nothing if it only hands out state.
Result<std::vector<InputRequest>> read_input_requests(std::optional<json::Value> inputs) {
  std::vector<InputRequest> requests;
  if (!inputs) return requests;
  if (inputs->type() != json::Type::object) {
    return malformed_inputs("the inputRequests of a result are no object");
  }
  std::set<std::string> keys;
  for (json::Cursor members(*inputs); members.next();) {
    if (requests.size() == CallContinuation::max_inputs) {
      return malformed_inputs(fmt::format("the server asked for more than {} inputs at once",
                                          CallContinuation::max_inputs));
    }
    if (!keys.insert(members.name().unescaped()).second) {
      return malformed_inputs("the inputRequests of a result have a key twice");
    }
    auto request = to_request(members.name(), members.value());
    if (!request) {
      return malformed_inputs("an input request of a result: " + request.error().detail);
    }
    requests.push_back({std::string(members.name().raw()), std::move(*request)});
  }
  return requests;
}

}  // namespace

// The inputs of one round, until the last one is in.
class CallContinuation::Inputs {
 public:
  Inputs(std::shared_ptr<CallContinuation> call, std::string state, Proceed proceed)
      : call_(std::move(call)), state_(std::move(state)), proceed_(std::move(proceed)) {}
  ~Inputs() {
    if (refused_) {
      proceed_(tl::unexpected(
          fault(ErrorCode::input_refused, "an input that the server asked for was not given")));
    } else {
      proceed_(call_->next_round(responses_.empty() ? "{}" : responses_ + "}", state_));
    }
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  // `key` is a raw string; `body` as in Responder.
  void add(std::string_view key, std::string_view body) {
    constexpr std::string_view result = "\"result\":";
    const std::lock_guard lock(mutex_);
    if (body.substr(0, result.size()) != result) {
      refused_ = true;
      return;
    }
    responses_ += responses_.empty() ? "{" : ",";
    responses_ += fmt::format("\"{}\":{}", key, body.substr(result.size()));
  }

 private:
  const std::shared_ptr<CallContinuation> call_;
  const std::string state_;
  const Proceed proceed_;
  std::mutex mutex_;
  std::string responses_;
  bool refused_ = false;
};

CallContinuation::CallContinuation(CallContinuationHost host, std::string method,
                                   std::string params, bool fulfils_inputs)
    : host_(std::move(host)),
      method_(std::move(method)),
      params_(std::move(params)),
      fulfils_inputs_(fulfils_inputs) {}

bool CallContinuation::wants(const Message& answer) const {
  if (answer.kind() == Message::Kind::error) {
    return method_ == "tools/call" && answer.error_code() == header_mismatch && !headers_refreshed_;
  }
  return fulfils_inputs_ && protocol::may_ask_for_input(method_) && is_input_required(answer);
}

void CallContinuation::go_on(Message answer, Proceed proceed) {
  if (answer.kind() == Message::Kind::error) return retry_with_fresh_headers(proceed);
  if (++rounds_ > max_rounds) {
    return proceed(tl::unexpected(
        fault(ErrorCode::malformed_message,
              fmt::format("the server asked for input more than {} times", max_rounds))));
  }
  gather_inputs(answer, proceed);
}

void CallContinuation::retry_with_fresh_headers(const Proceed& proceed) {
  headers_refreshed_ = true;
  host_.refresh_tools([self = shared_from_this(), proceed](Result<void> listed) {
    if (!listed) return proceed(tl::unexpected(std::move(listed.error())));
    proceed(self->host_.make_request(self->method_, self->params_));
  });
}

void CallContinuation::gather_inputs(const Message& answer, const Proceed& proceed) {
  const json::Value result(answer.result());
  const auto state = result.find("requestState");
  std::string raw_state = state ? std::string(state->raw()) : std::string();
  auto requests = read_input_requests(result.find("inputRequests"));
  if (!requests) return proceed(tl::unexpected(std::move(requests.error())));
  if (requests->empty()) return proceed(next_round({}, raw_state));
  rounds_without_input_ = 0;
  ask(std::move(*requests), std::move(raw_state), proceed);
}

// Asks nobody if one of them will not be answered: the others would be troubled for nothing.
void CallContinuation::ask(std::vector<InputRequest> requests, std::string state,
                           const Proceed& proceed) {
  const ServerRequests::Handlers& handlers = *host_.handlers;
  for (const InputRequest& each : requests) {
    if (handlers.find(each.request.method()) == handlers.end()) {
      return proceed(tl::unexpected(
          fault(ErrorCode::input_refused, "no handler for an input that the server asked for")));
    }
  }
  // Goes on, as it is destroyed, once the last handler has answered or dropped its share.
  const auto inputs = std::make_shared<Inputs>(shared_from_this(), std::move(state), proceed);
  for (InputRequest& each : requests) {
    auto responder = std::make_shared<Responder>(
        [inputs, key = each.key](const std::string& body) { inputs->add(key, body); });
    host_.worker->post(
        [handle = handlers.find(each.request.method())->second, request = std::move(each.request),
         responder = std::move(responder)] { handle(request, std::move(*responder)); });
  }
}

Result<NextRequest> CallContinuation::next_round(std::string_view input_responses,
                                                 std::string_view request_state) {
  std::string params = params_.empty() ? "{}" : params_;
  if (!input_responses.empty())
    params = json::set_member(params, "inputResponses", input_responses);
  if (!request_state.empty()) params = json::set_member(params, "requestState", request_state);
  NextRequest next = host_.make_request(method_, params);
  if (input_responses.empty()) {
    next.delay = std::min(longest_pause, first_pause * (1 << std::min(rounds_without_input_++, 3)));
  }
  return next;
}

}  // namespace mcphttp
