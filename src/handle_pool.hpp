// HandlePool: easy handles between two transfers. To make one and set it up costs a sixth of a
// small call. Loop context.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <curl/curl.h>

#include <mcphttp/options.hpp>

#include "url.hpp"

namespace mcphttp {

class Transfer;

// An easy handle, and what libcurl keeps a pointer to as long as it lives.
struct EasyHandle {
  explicit EasyHandle(const std::shared_ptr<const TransportOptions>& of);
  ~EasyHandle();
  EasyHandle(const EasyHandle&) = delete;
  EasyHandle& operator=(const EasyHandle&) = delete;

  CURL* const curl;  // null if there is no memory
  // Whose connection options it was set up with. Not owned: they hold objects of the application.
  const std::weak_ptr<const TransportOptions> options;
  std::array<char, CURL_ERROR_SIZE> error_text{};
  Transfer* transfer = nullptr;  // whom its callbacks are for

  // Sends the next request there; costs nothing if the one before went there too.
  void aim_at(const std::shared_ptr<const http::Target>& target);

 private:
  std::shared_ptr<const http::Target> target_;
};

class HandlePool {
 public:
  HandlePool() { kept_.reserve(max_kept); }

  // A handle that was given back with those very options, and still has all that was set on it;
  // null if there is none.
  std::unique_ptr<EasyHandle> take(const std::shared_ptr<const TransportOptions>& options);
  // Of a transfer that has ended in order. Whatever belongs to one transfer alone is set anew by
  // the next.
  void give_back(std::unique_ptr<EasyHandle> handle) noexcept;
  // Before the multi handle goes.
  void clear() noexcept { kept_.clear(); }

 private:
  static constexpr std::size_t max_kept = 64;  // of some 6 KiB each

  std::vector<std::unique_ptr<EasyHandle>> kept_;
};

}  // namespace mcphttp
