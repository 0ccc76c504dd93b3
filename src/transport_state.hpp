// What a Transport consists of.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/transport.hpp>

#include "exchange.hpp"
#include "inbox.hpp"
#include "session.hpp"
#include "url.hpp"
#include "worker.hpp"

namespace mcphttp {

struct Transport::State {
  State(TransportOptions checked, http::Url parsed, std::shared_ptr<LoopCore> on);

  static Result<std::shared_ptr<State>> create(TransportOptions options,
                                               std::shared_ptr<LoopCore> loop);

  // A message as its sender knows it, well-formed without a check; views.
  struct Outgoing {
    Message::Kind kind;
    std::string_view id;  // raw
    std::string_view method;
    std::string_view params;  // raw
  };

  Result<ExchangeRequest> prepare_post(std::string json, const SendOptions& send) const;
  // The same of a message that is known; but for the body, and what mirrors it in header lines.
  Result<ExchangeRequest> prepare_message(const Outgoing& message, const SendOptions& send) const;
  Result<ExchangeRequest> prepare_stream(const StreamOptions& stream) const;
  Result<ExchangeRequest> prepare_forward(ForwardRequest forward) const;
  ExchangeRequest prepare_delete(const Session::Snapshot& session, const SendOptions& send) const;

  // An inbox that ends with this transport; `handler` null: pulled.
  std::shared_ptr<Inbox> open(std::shared_ptr<ResponseHandler> handler,
                              Inbox::Handler kind = Inbox::Handler::of_application);
  // Sends the request; what comes back goes to `inbox`, a refusal too.
  void launch(const std::shared_ptr<Inbox>& inbox, Result<ExchangeRequest>&& request,
              std::stop_token stop);
  // Sends and waits for the head.
  Result<Response> send(Result<ExchangeRequest> request, std::stop_token stop);
  Result<void> end_session(SendOptions options);
  // Ends all exchanges, and those that come later at once. Idempotent.
  void close_all();

  const std::shared_ptr<const TransportOptions> options;
  const std::shared_ptr<const http::Target> target;
  const std::shared_ptr<LoopCore> loop;
  const std::shared_ptr<Endpoint> endpoint;
  const std::shared_ptr<Worker> worker;

 private:
  ExchangeRequest prepare_checked(const Outgoing& message, const SendOptions& send) const;
  ExchangeRequest make_request(std::string method, Awaits awaits, Session::Snapshot session,
                               const SendOptions& send, const Timeouts& times) const;
  // The lines of every request of a kind, which begin with `first`.
  HeaderLines usual_header_lines(std::vector<std::string> first) const;
  static HeaderLines with_headers(const HeaderLines& usual, const SendOptions& send);
  // Every field set. `is_request`: a JSON-RPC request is sent, whose answer may take long.
  Timeouts times_of(bool is_request, const Timeouts& over) const;

  void forget_ended();  // lock held

  const HeaderLines post_lines_;
  const HeaderLines stream_lines_;

  std::mutex mutex_;
  std::vector<std::weak_ptr<Inbox>> inboxes_;  // guarded; with a tail of ended ones
  std::size_t next_look_ = 0;                  // guarded
  bool closing_ = false;                       // guarded
};

}  // namespace mcphttp
