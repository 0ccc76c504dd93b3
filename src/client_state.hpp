// What a Client consists of: JSON-RPC ids, the session and its recovery, the stream of server
// messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <mcphttp/client.hpp>
#include <mcphttp/transport.hpp>

#include "call_continuation.hpp"
#include "call_handler.hpp"
#include "json.hpp"
#include "legacy_subscriptions.hpp"
#include "result_cache.hpp"
#include "server_requests.hpp"
#include "session_keeper.hpp"
#include "stream_opening.hpp"
#include "tool_headers.hpp"
#include "transport_state.hpp"

namespace mcphttp {

struct Client::State final : public SessionKeeper,
                             public std::enable_shared_from_this<Client::State> {
  State(ClientOptions chosen, std::shared_ptr<Transport::State> over);
  ~State() override;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  using Done = CallHandler::Done;

  Result<void> connect();
  // Ends all calls; nothing of this client runs afterwards. Idempotent.
  void end();
  Result<void> close();

  // Params are checked.
  Result<Message> request(std::string_view method, std::string_view params, const CallOptions& call,
                          bool idempotent = false);
  // The same past the cache; what it brings is kept under `key`, if it may be.
  Result<Message> ask(std::string_view method, std::string_view params, const CallOptions& call,
                      bool idempotent, const std::optional<CacheKey>& key = {});
  Call start(std::string_view method, Result<void> checked, std::string_view params,
             CallOptions call, Done done);
  Result<void> subscribe_resource(std::string_view uri, const CallOptions& call);
  Result<void> unsubscribe_resource(std::string_view uri, const CallOptions& call);
  Call subscribe(const SubscriptionFilter& filter, SubscriptionOptions chosen);
  Result<void> notify(std::string_view method, std::string_view params, const CallOptions& call);

  // Visits every element of `member` over all pages of a list. `begin` comes before the first one,
  // and again if pages that were kept turn out to be out of date, and the list is read anew.
  Result<void> list(std::string_view method, std::string_view member, const CallOptions& call,
                    const std::function<void()>& begin,
                    const std::function<void(json::Value)>& visit);
  // The tool of a definition, and what of its calls is mirrored into headers; nothing, but a
  // warning, if the definition is invalid.
  std::optional<Tool> take_tool(json::Value definition);
  // `levels`: arrays and objects around `params` in the message.
  Result<void> check(std::string_view what, std::string_view params, std::size_t levels) const;
  Result<void> set_log_level(std::string_view level, const CallOptions& call);
  Result<void> ping(const CallOptions& call);
  std::string session_id() const;

  const ClientOptions options;
  ServerInfo server;

 private:
  struct Prepared {
    std::int64_t id = 0;
    Result<ExchangeRequest> request = {};
  };
  Prepared prepare(std::string_view method, std::string_view params, const CallOptions& call,
                   bool idempotent);
  Prepared prepare_checked(std::string_view method, std::string_view params,
                           const CallOptions& call, bool idempotent);
  // A request; in the modern era with the client's metadata, and its mirror in header lines.
  NextRequest make_request(std::int64_t id, std::string_view method, std::string_view params);
  std::shared_ptr<Continuation> make_continuation(std::string_view method, std::string params,
                                                  const CallOptions& call);
  void adopt(ExchangeRequest& request);
  SendOptions send_options(const CallOptions& call, bool idempotent) const;
  // Sends without a waiting caller; the outcome is nobody's. `done`, if any, is called at the end.
  void send_detached(std::string json, std::function<void()> done = {});
  void tell_cancelled(std::string_view method, std::int64_t id, const Error& error);

  // --- era_choice.cpp ----------------------------------------------------------------------------

  Result<void> choose_era();
  Result<void> probe(bool may_fall_back);
  Result<void> shake_hands();
  bool is_http_with_sse();
  void refresh_tools(const std::string& cursor, std::size_t pages,
                     std::function<void(Result<void>)> done);

  // --- session_recovery.cpp ----------------------------------------------------------------------

  bool has_lost_session() override;
  void restore(const std::string& lost, SessionKeeper::Done done) override;
  // Sends on behalf of the library, in the loop context.
  void send_inside(std::string json, bool is_handshake, Done done);
  void send_initialize();
  void send_initialized();
  void finish_restoring(const Result<void>& result);
  void set_up_new_session();

  // --- server_messages.cpp -----------------------------------------------------------------------

  void prepare_for_server_messages();
  // Unless it is open.
  std::shared_ptr<StreamOpening> open_server_stream();
  Result<ExchangeRequest> prepare_subscription(const SubscriptionFilter& filter,
                                               const CallOptions& call);

  // --- lists.cpp ---------------------------------------------------------------------------------

  struct Fetched {
    Result<Message> answer;
    bool was_kept;
  };
  Fetched fetch(std::string_view method, std::string_view params, const CallOptions& call,
                bool idempotent);
  Result<void> list_pages(std::string_view method, std::string_view member, const CallOptions& call,
                          const std::function<void(json::Value)>& visit, bool& any_kept);
  // Warns of it; nothing.
  std::nullopt_t leave_out(const Tool& tool, std::string_view why) const;

  // Nothing if there is no cache, or nothing of that request may be kept.
  std::optional<CacheKey> cache_key(std::string_view method, std::string_view params,
                                    const CallOptions& call) const;
  std::optional<Message> find_kept(const std::optional<CacheKey>& key) const;
  // `id`: that of the first request of the call, which another round would not have.
  void keep(const std::optional<CacheKey>& key, const Result<Message>& answer, std::int64_t id,
            std::uint64_t epoch) const;
  std::uint64_t cache_epoch() const;

  const std::shared_ptr<Transport::State> transport_;
  std::unique_ptr<ServerRequests> server_requests_;
  std::shared_ptr<LegacySubscriptions> legacy_subscriptions_;
  // Drops from the cache what has changed.
  const Notifier::Observer observer_;
  std::atomic<std::int64_t> next_id_{1};
  std::atomic<bool> closed_{false};
  std::atomic<bool> has_session_{false};
  std::atomic<bool> is_modern_{false};
  std::atomic<bool> server_stream_is_open_{false};  // or is being opened
  ToolHeaderTable tool_headers_;

  std::mutex mutex_;
  bool restoring_ = false;                                   // guarded
  std::vector<SessionKeeper::Done> waiting_;                 // guarded; the first one started it
  std::string log_level_;                                    // guarded; empty: never set
  std::set<std::string, std::less<>> subscribed_resources_;  // guarded
  Call server_stream_;                                       // guarded
};

}  // namespace mcphttp
