// Requests of the server, answered while its stream goes on: found a handler for, run on the
// worker, their answers sent.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <mcphttp/client.hpp>

#include "inbox.hpp"
#include "worker.hpp"

namespace mcphttp {

// Thread-safe.
class ServerRequests {
 public:
  using Handlers = std::map<std::string, RequestHandler, std::less<>>;
  // Sends one JSON-RPC response; any thread; failures are nobody's business but the server's.
  // `done` is to be called when the server has taken it, or it was given up.
  using Send = std::function<void(std::string json, std::function<void()> done)>;

  ServerRequests(const Handlers& handlers, std::shared_ptr<Worker> worker, Send send);

  // Takes a request that came through `inbox`, which hands out nothing more while too many are
  // unanswered. An answer that the server does not take counts as none.
  void take(const Message& request, const std::shared_ptr<Inbox>& inbox) const;

 private:
  const Handlers& handlers_;  // of the client's options
  const std::shared_ptr<Worker> worker_;
  const Send send_;
};

// `own`, a checked JSON object, with a capability for each handler whose capability it does not
// name.
std::string with_handler_capabilities(std::string own, const ServerRequests::Handlers& handlers);

}  // namespace mcphttp
