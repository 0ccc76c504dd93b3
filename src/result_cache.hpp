// What a ResultCache consists of. No I/O; takes the time as an argument.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <mcphttp/message.hpp>
#include <mcphttp/result_cache.hpp>

namespace mcphttp {

// What a result depends on.
struct CacheKey {
  std::string url;
  std::string method;
  std::string params;  // as the caller gave them
  // Credentials and headers; nothing if they are not known before the request is sent.
  std::optional<std::string> authorization;
};

// Thread-safe.
class ResultStore {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ResultStore(std::size_t max_size) : max_size_(max_size) {}

  // True for requests whose results may be kept: those of the cacheable methods that carry no input
  // of an earlier round (MCP 2026-07-28, Caching, Cache Key).
  static bool may_keep(std::string_view method, std::string_view params);

  // A result that is still fresh.
  std::optional<Message> find(const CacheKey& key, Time now);

  // Counts what was dropped for a change. A result that was asked for before the latest change may
  // be older than that.
  std::uint64_t epoch() const;
  // Keeps a result for as long as it says, unless something has changed since `epoch`.
  void store(const CacheKey& key, const Message& result, Time now, std::uint64_t epoch);

  // Drops what a notification says has changed at that URL.
  void note(std::string_view url, const Message& notification);
  void drop(std::string_view url, std::string_view method);

  void clear();
  std::size_t size() const;

 private:
  struct Entry {
    std::string index;
    std::string url;
    std::string method;
    std::string params;
    std::string message;
    Time fresh_until;
    std::size_t size() const {
      return sizeof(Entry) + index.size() * 2 + url.size() + method.size() + params.size() +
             message.size();
    }
  };
  using Entries = std::list<Entry>;  // the oldest first

  Entries::iterator erase(Entries::iterator entry);
  template <class Predicate>
  void erase_if(Predicate predicate);

  const std::size_t max_size_;
  mutable std::mutex mutex_;
  Entries entries_;  // guarded, as all below
  std::map<std::string, Entries::iterator> by_index_;
  std::size_t size_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace mcphttp
