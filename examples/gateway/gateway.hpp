// What the gateway does with one request, whatever HTTP server it has come through.
#pragma once

#include <httplib.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>

#include <mcphttp/transport.hpp>

#include "approval.hpp"
#include "audit.hpp"
#include "options.hpp"
#include "passage.hpp"
#include "policy.hpp"

namespace gateway {

// Thread-safe.
class Gateway {
 public:
  Gateway(const Options& options, mcphttp::Transport upstream);

  void post(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader& read);
  // GET and DELETE.
  void pass(const httplib::Request& request, httplib::Response& response);
  // A request that is not read any further.
  void refuse(const httplib::Request& request, httplib::Response& response, int status,
              const char* reason);

  // Ends the streams of GET, and lets none begin; the second also all else.
  void stop_streams() { streams_.request_stop(); }
  void stop_all() { all_.request_stop(); }

 private:
  Trail begin(const httplib::Request& request);
  std::optional<mcphttp::Error> judge(const Call& call, const Trail& trail);
  void forward(const httplib::Request& request, httplib::Response& response, std::string body,
               const Call& call, const Trail& trail);
  std::shared_ptr<void> take_stream_place();
  static void fail(const mcphttp::Error& error, const Call& call, const Trail& trail,
                   httplib::Response& response);

  const std::size_t max_request_size_;
  const std::size_t max_streams_;
  const Policy policy_;
  const Approval approval_;
  Audit audit_;
  mcphttp::Transport upstream_;
  std::atomic<std::size_t> streams_open_{0};
  std::stop_source streams_;
  std::stop_source all_;
};

}  // namespace gateway
