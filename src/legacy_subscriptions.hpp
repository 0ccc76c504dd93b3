// Subscriptions on servers of the legacy era, which know resources/subscribe and one stream of
// server messages: each subscription takes its share of that stream, with a queue of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/client.hpp>

#include "call_handler.hpp"
#include "inbox.hpp"

namespace mcphttp {

class LegacySubscriptions final : public std::enable_shared_from_this<LegacySubscriptions> {
 public:
  // What it needs of the client; called in the loop context, if nothing else is said.
  struct Host {
    std::function<void(std::string_view method, const std::string& params, CallHandler::Done done)>
        send;
    // Opens the stream of server messages, unless it is open.
    std::function<void()> open_stream;
    // The stream was paused for a subscription that has room again.
    std::function<void()> resume_stream;
    // The server's, a raw JSON object; empty if they are not known.
    std::function<std::string()> capabilities;
    // Has the task run in the loop context; from any thread.
    std::function<void(std::function<void()> task)> in_loop;
  };
  explicit LegacySubscriptions(Host host);
  ~LegacySubscriptions();

  // The source of what `inbox` will bring.
  std::shared_ptr<Upstream> make(SubscriptionFilter filter, std::shared_ptr<Inbox> inbox);

  // --- Where the stream is consumed: any thread, one at a time -----------------------------------

  void stream_opened();
  // A notification of the stream, to every subscription that covers it. pause: one of them has no
  // room.
  Flow distribute(const Message& notification);
  // The stream will bring nothing more.
  void stream_ended(const ExchangeEnd& end);

  // --- Loop context ------------------------------------------------------------------------------

  // A new session knows nothing of what was subscribed to.
  void renew();

 private:
  class Subscription;
  using Subscriptions = std::vector<std::shared_ptr<Subscription>>;

  void add(std::shared_ptr<Subscription> subscription);
  void remove(const Subscription& subscription);
  // The resources among `uris` that no subscription asks for.
  std::vector<std::string> unwanted(std::vector<std::string> uris);
  Subscriptions all();

  const Host host_;
  bool stream_is_open_ = false;  // loop context
  std::mutex mutex_;
  Subscriptions subscriptions_;  // guarded
};

}  // namespace mcphttp
