// What the modern era adds to a call: rounds of input (MCP 2026-07-28, Multi Round-Trip Requests),
// and another try when the server finds that the mirrored headers do not fit (HeaderMismatch).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/client.hpp>

#include "continuation.hpp"
#include "json.hpp"
#include "server_requests.hpp"
#include "worker.hpp"

namespace mcphttp {

// What a call needs of its client to go on. All of it may be used from any thread, and none of it
// blocks.
struct CallContinuationHost {
  // The next request: a new id, with the metadata of the client.
  std::function<NextRequest(std::string_view method, std::string_view params)> make_request;
  // Asks for the list of tools anew; calls back once its headers are known.
  std::function<void(std::function<void(Result<void>)> done)> refresh_tools;
  // The handlers of input requests, and where they run; live as long as the client.
  const ServerRequests::Handlers* handlers;
  std::shared_ptr<Worker> worker;
};

// One input that the server asks for.
struct InputRequest {
  std::string key;  // what stands between its quotes
  Message request;
};

class CallContinuation final : public Continuation,
                               public std::enable_shared_from_this<CallContinuation> {
 public:
  static constexpr int max_rounds = 10;
  static constexpr std::size_t max_inputs = 64;  // in one round

  CallContinuation(CallContinuationHost host, std::string method, std::string params,
                   bool fulfils_inputs);

  bool wants(const Message& answer) const override;
  void go_on(Message answer, Proceed proceed) override;

 private:
  class Inputs;

  void retry_with_fresh_headers(const Proceed& proceed);
  void gather_inputs(const Message& answer, const Proceed& proceed);
  void ask(std::vector<InputRequest> requests, std::string state, const Proceed& proceed);
  Result<NextRequest> next_round(std::string_view input_responses, std::string_view request_state);

  const CallContinuationHost host_;
  const std::string method_;
  const std::string params_;  // the caller's; empty for none
  const bool fulfils_inputs_;
  int rounds_ = 0;
  int rounds_without_input_ = 0;
  bool headers_refreshed_ = false;
};

}  // namespace mcphttp
