// Session: what `initialize` agreed on with one endpoint, and sends along from then on (MCP
// 2025-11-25, Session Management and Protocol Version Header). Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <mcphttp/error.hpp>
#include <mcphttp/message.hpp>
#include <mcphttp/response.hpp>

namespace mcphttp {

class Session {
 public:
  struct Snapshot {
    std::string id;       // empty: none
    std::string version;  // empty: not agreed yet
    // What a request in this session carries; null: nothing. Made here from the other two.
    std::shared_ptr<const std::vector<std::string>> header_lines = {};
  };
  Snapshot snapshot() const;
  void set(Snapshot session);

  // Takes id and revision from the answer to `initialize`, if that is a result. Fails with
  // bad_session_id, changing nothing, if the id is not visible ASCII or longer than `max_size`
  // bytes. With 0 no id is taken at all.
  std::optional<Error> adopt(const ResponseHead& head, const Message& answer, std::size_t max_size);
  // The server no longer knows `id`; no effect if another one is in use by now.
  void drop(const std::string& id);

 private:
  mutable std::mutex mutex_;
  Snapshot current_;
};

}  // namespace mcphttp
