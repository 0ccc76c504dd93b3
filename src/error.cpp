#include <mcphttp/error.hpp>

#include <algorithm>
#include <array>

#include "text.hpp"

namespace mcphttp {
namespace {

// Bounds on what one printed line holds, in bytes: of each quoted part, of the whole, and how many
// inner causes.
constexpr std::size_t max_part_size = 200;
constexpr std::size_t max_line_size = 1000;
constexpr int max_causes = 3;

struct CodeName {
  ErrorCode code;
  std::string_view name;
};

constexpr std::array code_names{
    CodeName{ErrorCode::invalid_argument, "invalid_argument"},
    CodeName{ErrorCode::wrong_thread, "wrong_thread"},
    CodeName{ErrorCode::closed, "closed"},
    CodeName{ErrorCode::cancelled, "cancelled"},
    CodeName{ErrorCode::stopped_by_inspector, "stopped_by_inspector"},
    CodeName{ErrorCode::not_inspectable, "not_inspectable"},
    CodeName{ErrorCode::input_refused, "input_refused"},
    CodeName{ErrorCode::resolve_failed, "resolve_failed"},
    CodeName{ErrorCode::connect_failed, "connect_failed"},
    CodeName{ErrorCode::tls_failed, "tls_failed"},
    CodeName{ErrorCode::proxy_failed, "proxy_failed"},
    CodeName{ErrorCode::connection_lost, "connection_lost"},
    CodeName{ErrorCode::timeout_connect, "timeout_connect"},
    CodeName{ErrorCode::timeout_header, "timeout_header"},
    CodeName{ErrorCode::timeout_idle, "timeout_idle"},
    CodeName{ErrorCode::timeout_total, "timeout_total"},
    CodeName{ErrorCode::timeout_request, "timeout_request"},
    CodeName{ErrorCode::json_too_large, "json_too_large"},
    CodeName{ErrorCode::json_too_deep, "json_too_deep"},
    CodeName{ErrorCode::event_too_large, "event_too_large"},
    CodeName{ErrorCode::headers_too_large, "headers_too_large"},
    CodeName{ErrorCode::stream_too_large, "stream_too_large"},
    CodeName{ErrorCode::list_too_large, "list_too_large"},
    CodeName{ErrorCode::queue_full, "queue_full"},
    CodeName{ErrorCode::http_error, "http_error"},
    CodeName{ErrorCode::unauthorized, "unauthorized"},
    CodeName{ErrorCode::session_expired, "session_expired"},
    CodeName{ErrorCode::redirect_refused, "redirect_refused"},
    CodeName{ErrorCode::bad_content_type, "bad_content_type"},
    CodeName{ErrorCode::bad_content_encoding, "bad_content_encoding"},
    CodeName{ErrorCode::bad_session_id, "bad_session_id"},
    CodeName{ErrorCode::malformed_json, "malformed_json"},
    CodeName{ErrorCode::malformed_message, "malformed_message"},
    CodeName{ErrorCode::id_mismatch, "id_mismatch"},
    CodeName{ErrorCode::body_truncated, "body_truncated"},
    CodeName{ErrorCode::stream_ended_without_response, "stream_ended_without_response"},
    CodeName{ErrorCode::unsupported_version, "unsupported_version"},
    CodeName{ErrorCode::rpc_error, "rpc_error"},
    CodeName{ErrorCode::malformed_http, "malformed_http"},
    CodeName{ErrorCode::callback_threw, "callback_threw"},
    CodeName{ErrorCode::out_of_memory, "out_of_memory"},
    CodeName{ErrorCode::internal, "internal"},
};

// A refused redirect's target without the parts that may carry secrets: user info, query and
// fragment.
std::string without_secrets(std::string_view location) {
  location = location.substr(0, location.find_first_of("?#"));
  const std::size_t slashes = location.find("//");
  if (slashes == std::string_view::npos) return std::string(location);
  const std::size_t authority = slashes + 2;
  // Backslashes end an authority too: some parsers take them for slashes.
  const std::size_t end = std::min(location.find_first_of("/\\", authority), location.size());
  const std::size_t at = location.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < authority) return std::string(location);
  return std::string(location.substr(0, authority)).append(location.substr(at + 1));
}

std::string code_and_detail(const Error& error) {
  std::string line(to_string(error.code));
  if (!error.detail.empty()) line += ": " + text::escape_printable(error.detail, max_part_size * 2);
  return line;
}

// The figures worth a place in the line, as " (HTTP 503, retry after 2000 ms)"; empty if there are
// none.
std::string facts(const Error& error) {
  std::string list;
  const auto add = [&list](std::string_view fact) {
    list += list.empty() ? " (" : ", ";
    list += fact;
  };
  const std::string status = "HTTP " + std::to_string(error.http_status);
  // The detail often begins with the status already.
  if (error.http_status != 0 && error.detail.find(status) == std::string::npos) add(status);
  if (error.retry_after) {
    add("retry after " + std::to_string(error.retry_after->count()) + " ms");
  }
  if (error.delivery == Delivery::unknown) add("delivery unknown");
  return list.empty() ? list : list + ")";
}

// What the server said, each part bounded.
std::string server_text(const Error& error) {
  std::string said;
  if (error.code == ErrorCode::rpc_error) {
    const std::string code = std::to_string(error.rpc_code);
    said += ": ";
    // The detail names it already where the library has made it.
    if (error.detail.find(code) == std::string::npos) said += code + " ";
    said += text::escape_printable(error.rpc_message, max_part_size);
  }
  if (!error.location.empty()) {
    said += ": to " + text::escape_printable(without_secrets(error.location), max_part_size);
  }
  if (!error.diagnostic.text.empty()) {
    said += ": " + text::escape_printable(error.diagnostic.text, max_part_size);
  }
  return said;
}

// True for a status that says the request was turned away before anything was done (RFC
// 9110 15.5.9, RFC 8470 5.2, RFC 6585 4, RFC 9110 15.6.4). Not 502 and 504: a gateway may have
// passed the request on.
bool is_refusal_for_now(int http_status) {
  return http_status == 408 || http_status == 425 || http_status == 429 || http_status == 503;
}

}  // namespace

std::string Error::to_string() const {
  std::string line = code_and_detail(*this) + facts(*this) + server_text(*this);
  const Error* inner = cause.get();
  for (int i = 0; inner != nullptr && i < max_causes; ++i, inner = inner->cause.get()) {
    line += "; caused by " + code_and_detail(*inner) + facts(*inner);
  }
  return text::escape_printable(line, max_line_size);
}

std::string_view to_string(ErrorCode code) noexcept {
  const auto* const found =
      std::find_if(code_names.begin(), code_names.end(),
                   [code](const CodeName& entry) { return entry.code == code; });
  return found == code_names.end() ? "unknown" : found->name;
}

std::string_view to_string(Delivery delivery) noexcept {
  switch (delivery) {
    case Delivery::not_sent:
      return "not_sent";
    case Delivery::unknown:
      return "unknown";
    case Delivery::answered:
      return "answered";
  }
  return "unknown";
}

std::string_view to_string(WarningKind kind) noexcept {
  switch (kind) {
    case WarningKind::unterminated_event:
      return "unterminated_event";
    case WarningKind::id_type_changed:
      return "id_type_changed";
    case WarningKind::foreign_message:
      return "foreign_message";
    case WarningKind::malformed_event:
      return "malformed_event";
    case WarningKind::session_id_changed:
      return "session_id_changed";
    case WarningKind::session_restarted:
      return "session_restarted";
    case WarningKind::invalid_tool:
      return "invalid_tool";
    case WarningKind::event_id_dropped:
      return "event_id_dropped";
    case WarningKind::stream_not_reopened:
      return "stream_not_reopened";
    case WarningKind::http2_unavailable:
      return "http2_unavailable";
  }
  return "unknown";
}

bool is_retryable(const Error& error) noexcept {
  if (error.delivery == Delivery::unknown) return false;
  switch (group(error.code)) {
    case ErrorGroup::network:
    case ErrorGroup::timeout:
      return error.delivery == Delivery::not_sent;
    case ErrorGroup::http:
      return error.code == ErrorCode::session_expired ||
             (error.code == ErrorCode::http_error && is_refusal_for_now(error.http_status));
    case ErrorGroup::usage:
    case ErrorGroup::cancelled:
    case ErrorGroup::limit:
    case ErrorGroup::protocol:
    case ErrorGroup::internal:
      return false;
  }
  return false;
}

}  // namespace mcphttp
