// ResultCache: what servers of the modern era allow to be kept.
#pragma once

#include <cstddef>
#include <memory>

#include <mcphttp/export.hpp>

namespace mcphttp {

class ResultStore;

// Results of lists, page by page, of resources/read and of server/discover, for as long as the
// server's ttlMs says (MCP 2026-07-28, Caching). Thread-safe; may be shared by any number of
// clients: a result of scope "public" serves all of them that use the same URL, any other only
// those that send the same credentials and headers. With an Authorizer, whose credentials may
// change from request to request, only public results are kept. What the server says has changed
// (list_changed, resources/updated) is dropped.
class MCPHTTP_EXPORT ResultCache {
 public:
  static constexpr std::size_t default_max_size = std::size_t{4} * 1024 * 1024;

  // `max_size`: bytes of all that is kept; what was stored first goes first. 0 keeps nothing.
  explicit ResultCache(std::size_t max_size = default_max_size);
  ~ResultCache();
  ResultCache(const ResultCache&) = delete;
  ResultCache& operator=(const ResultCache&) = delete;

  void clear();
  // Bytes kept at present, stale ones included.
  std::size_t size() const;

 private:
  friend class Client;
  const std::unique_ptr<ResultStore> store_;
};

}  // namespace mcphttp
