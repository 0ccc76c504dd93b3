#include "relay_head.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "header_reader.hpp"
#include "http_fields.hpp"
#include "make_error.hpp"
#include "rpc.hpp"

namespace mcphttp {
namespace {

// RFC 9110 8.8.3, RFC 3230, RFC 9530, RFC 1864.
constexpr std::array fields_of_bytes{"ETag",        "Digest",      "Content-Digest",
                                     "Repr-Digest", "Content-MD5", "Content-Length"};

constexpr const char* several_types = "more than one Content-Type";

void drop_field(ResponseHead& head, std::string_view name) {
  std::erase_if(head.headers,
                [name](const Header& header) { return http::iequals(header.name, name); });
}

bool forbids_transformation(const ResponseHead& head) {
  for (const Header& header : head.headers) {
    if (!http::iequals(header.name, "Cache-Control")) continue;
    for (const std::string_view directive : http::split_list(header.value)) {
      if (http::iequals(directive, "no-transform")) return true;
    }
  }
  return false;
}

bool has_no_body(int status) noexcept { return status == 204 || status == 205 || status == 304; }

int status_of(const Error& error, bool has_id) {
  if (error.code == ErrorCode::stopped_by_inspector) return has_id ? 200 : 403;
  if (error.code == ErrorCode::cancelled) return 503;
  switch (group(error.code)) {
    case ErrorGroup::usage:
      return 400;
    case ErrorGroup::timeout:
      return 504;
    case ErrorGroup::internal:
      return 500;
    case ErrorGroup::cancelled:
    case ErrorGroup::network:
    case ErrorGroup::limit:
    case ErrorGroup::http:
    case ErrorGroup::protocol:
      break;
  }
  return 502;
}

}  // namespace

std::optional<Error> why_not_inspectable(const ResponseHead& head, const RelayOptions& options) {
  const std::string* type = head.find("Content-Type");
  const auto media = type != nullptr ? http::parse_media_type(*type) : std::nullopt;
  const bool is_stream = media && media->essence == "text/event-stream";
  if (!media || (!is_stream && media->essence != "application/json") || has_no_body(head.status)) {
    return std::nullopt;
  }
  if (is_coded(head, "Content-Encoding", "identity")) return not_inspectable("Content-Encoding");
  if (http::count_fields(head.headers, "Content-Type") > 1) return not_inspectable(several_types);
  if (head.status == 206) return not_inspectable("HTTP 206, a part of a body");
  if (is_stream && head.kind != ResponseKind::stream) {
    return not_inspectable(fmt::format("an event stream under HTTP {}", head.status));
  }
  if (options.heed_no_transform && forbids_transformation(head)) {
    return not_inspectable("Cache-Control: no-transform");
  }
  const std::string* value = head.find("Content-Length");
  const auto length = value != nullptr ? http::parse_content_length(*value) : std::nullopt;
  if (head.kind == ResponseKind::message && length && *length > options.max_whole_size) {
    return not_inspectable(
        fmt::format("a Content-Length over max_whole_size ({} bytes)", options.max_whole_size));
  }
  return std::nullopt;
}

std::optional<Error> why_type_in_doubt(const ResponseHead& head) {
  const std::string* type = head.find("Content-Type");
  if (type == nullptr) return not_inspectable("a body without a Content-Type");
  if (http::count_fields(head.headers, "Content-Type") > 1) return not_inspectable(several_types);
  if (!http::parse_media_type(*type)) {
    return not_inspectable("a Content-Type that is no media type");
  }
  // Parameters too: there are clients that look for a type's name anywhere in the value.
  const std::string value = http::to_lower(*type);
  for (const char* name : {"json", "event-stream"}) {
    if (value.find(name) == std::string::npos) continue;
    return not_inspectable(
        fmt::format("a Content-Type that names {}, with a body that is not read as such", name));
  }
  return std::nullopt;
}

Error not_inspectable(std::string why) {
  return make_error(ErrorCode::not_inspectable, std::move(why), Delivery::answered);
}

void forget_bytes(ResponseHead& head) {
  for (const char* name : fields_of_bytes) drop_field(head, name);
}

void drop_forbidden_length(ResponseHead& head) {
  if (head.status == 204) drop_field(head, "Content-Length");
}

void set_length(ResponseHead& head, std::size_t size) {
  drop_field(head, "Content-Length");
  head.headers.push_back({"Content-Length", std::to_string(size)});
}

ErrorAnswer error_answer(const Error& error, std::string_view request_id) {
  const bool has_reason = !error.rpc_message.empty();
  std::string text = has_reason ? error.rpc_message : std::string(to_string(error.code));
  if (!has_reason && !error.detail.empty()) text.append(": ").append(error.detail);
  const std::int64_t code = error.rpc_code != 0 ? error.rpc_code : rpc::internal_error;
  ErrorAnswer answer;
  answer.body = rpc::make_response(request_id.empty() ? "null" : request_id,
                                   rpc::make_error_body(code, text));
  answer.head.status = status_of(error, !request_id.empty());
  answer.head.kind = ResponseKind::message;
  answer.head.headers = {{"Content-Type", "application/json"}};
  set_length(answer.head, answer.body.size());
  return answer;
}

}  // namespace mcphttp
