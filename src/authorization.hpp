// Authorization: stands between the exchanges of one endpoint and the application's Authorizer:
// asks it on the worker, never twice at a time for a refresh, and lets all calls that wait for one
// share it. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <mcphttp/options.hpp>

#include "worker.hpp"

namespace mcphttp {

// What a request is sent with.
struct Credential {
  std::string header;            // value of Authorization; empty: none
  std::uint64_t generation = 0;  // how many refreshes came before it
};

class Authorization : public std::enable_shared_from_this<Authorization> {
 public:
  struct Refused {
    std::uint64_t generation;  // of the credential that was refused
    int http_status;
    std::string www_authenticate;
  };

  Authorization(std::shared_ptr<Authorizer> authorizer, std::shared_ptr<Worker> worker,
                std::string url);

  // Calls `done` exactly once, from any thread, perhaps before it returns. A value that cannot be a
  // header counts as none.
  void obtain(std::function<void(Credential)> done);
  // Whether to try again. A credential older than the last refresh needs none: true at once.
  void refresh(const Refused& refused, const std::function<void(bool retry)>& done);

 private:
  enum class Joined { not_needed, as_follower, as_leader };
  Joined join_refresh(const Refused& refused, const std::function<void(bool)>& done);
  void finish_refresh(bool renewed);

  const std::shared_ptr<Authorizer> authorizer_;
  const std::shared_ptr<Worker> worker_;
  const std::string url_;

  std::mutex mutex_;
  std::uint64_t generation_ = 0;
  bool refreshing_ = false;
  std::vector<std::function<void(bool)>> waiting_;
};

}  // namespace mcphttp
