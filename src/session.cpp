#include "session.hpp"

#include <utility>

#include <fmt/format.h>

#include "http_fields.hpp"
#include "json.hpp"
#include "make_error.hpp"
#include "protocol.hpp"

namespace mcphttp {
namespace {

// Of a revision's name, which is a date.
constexpr std::size_t max_version_size = 64;

Session::Snapshot with_header_lines(Session::Snapshot session) {
  std::vector<std::string> lines;
  if (!session.id.empty()) lines.push_back("MCP-Session-Id: " + session.id);
  const protocol::Revision* revision = protocol::find(session.version);
  if (revision != nullptr && revision->has_version_header) {
    lines.push_back("MCP-Protocol-Version: " + session.version);
  }
  session.header_lines = std::make_shared<const std::vector<std::string>>(std::move(lines));
  return session;
}

}  // namespace

Session::Snapshot Session::snapshot() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void Session::set(Snapshot session) {
  session = with_header_lines(std::move(session));
  const std::lock_guard lock(mutex_);
  current_ = std::move(session);
}

std::optional<Error> Session::adopt(const ResponseHead& head, const Message& answer,
                                    std::size_t max_size) {
  if (answer.kind() != Message::Kind::result) return std::nullopt;
  Snapshot agreed;
  const std::string* id = head.find("MCP-Session-Id");
  if (id != nullptr && max_size != 0) {
    if (!http::is_visible_ascii(*id) || id->size() > max_size) {
      Error error = make_error(ErrorCode::bad_session_id,
                               fmt::format("MCP-Session-Id of {} bytes must be 1 to {} "
                                           "(max_event_id_size) visible ASCII characters",
                                           id->size(), max_size),
                               Delivery::answered);
      error.http_status = head.status;
      return error;
    }
    agreed.id = *id;
  }
  const auto version = json::Value(answer.result()).find("protocolVersion");
  // Only a value that can stand in a header is sent back; whether it is one of ours is the caller's
  // to judge.
  if (const auto text = version ? version->as_string() : std::nullopt;
      text && http::is_visible_ascii(*text) && text->size() <= max_version_size) {
    agreed.version = *text;
  }
  set(std::move(agreed));
  return std::nullopt;
}

void Session::drop(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (current_.id == id) current_ = with_header_lines({{}, current_.version});
}

}  // namespace mcphttp
