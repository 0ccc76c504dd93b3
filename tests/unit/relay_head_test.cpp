#include "relay_head.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "support/seen.hpp"

using namespace mcphttp;

namespace {

const Header json{"Content-Type", "application/json; charset=utf-8"};
const Header events{"Content-Type", "text/event-stream"};
const Header html{"Content-Type", "text/html"};

std::string reason(int status, ResponseKind kind, std::vector<Header> headers,
                   bool heed_no_transform = true) {
  RelayOptions options;
  options.max_whole_size = 100;
  options.heed_no_transform = heed_no_transform;
  const auto error = why_not_inspectable({status, kind, std::move(headers)}, options);
  if (!error) return "";
  test::note_seen(*error);
  CHECK(error->code == ErrorCode::not_inspectable);
  return error->detail;
}

Error error_of(ErrorCode code, std::string detail = {}) {
  Error error;
  error.code = code;
  error.detail = std::move(detail);
  return error;
}

}  // namespace

TEST_CASE("what cannot be inspected is refused with the reason's name") {
  using Kind = ResponseKind;
  CHECK(reason(200, Kind::message, {json}).empty());
  CHECK(reason(404, Kind::message, {json}).empty());
  CHECK(reason(200, Kind::stream, {events}).empty());
  CHECK(reason(200, Kind::message, {json, {"Content-Encoding", "identity"}}).empty());
  CHECK(reason(200, Kind::body, {json, {"Content-Encoding", "gzip"}}) == "Content-Encoding");
  CHECK(reason(200, Kind::body, {events, {"content-encoding", "br"}}) == "Content-Encoding");
  CHECK(reason(206, Kind::body, {json}) == "HTTP 206, a part of a body");
  CHECK(reason(400, Kind::body, {events}) == "an event stream under HTTP 400");
  CHECK(reason(200, Kind::message, {json, {"Content-Length", "100"}}).empty());
  CHECK(reason(200, Kind::message, {json, {"Content-Length", "101"}}) ==
        "a Content-Length over max_whole_size (100 bytes)");
}

TEST_CASE("no-transform forbids to inspect, unless it is ignored on purpose") {
  const std::vector<Header> headers{events, {"Cache-Control", "no-cache, No-Transform"}};
  CHECK(reason(200, ResponseKind::stream, headers) == "Cache-Control: no-transform");
  CHECK(reason(200, ResponseKind::stream, headers, false).empty());
}

TEST_CASE("a type that some client could take for JSON or an event stream is in doubt") {
  const auto doubt = [](std::vector<Header> headers) {
    const auto error = why_type_in_doubt({200, ResponseKind::body, std::move(headers)});
    if (!error) return std::string();
    test::note_seen(*error);
    CHECK(error->code == ErrorCode::not_inspectable);
    return error->detail;
  };
  for (const char* plain : {"text/html", "text/plain; charset=utf-8", "application/octet-stream"}) {
    CHECK(doubt({{"Content-Type", plain}}).empty());
  }
  CHECK(doubt({}) == "a body without a Content-Type");
  CHECK(doubt({html, json}) == "more than one Content-Type");
  CHECK(doubt({html, {"content-type", "text/html"}}) == "more than one Content-Type");
  for (const char* malformed : {"", "html", "text/plain, application/json", "application /json",
                                "application/json/x", "application/json\x0b"}) {
    CAPTURE(malformed);
    CHECK(doubt({{"Content-Type", malformed}}) == "a Content-Type that is no media type");
  }
  for (const char* alike : {"application/json-seq", "application/vnd.x+JSON", "application/json",
                            "text/plain; x=application/json"}) {
    CAPTURE(alike);
    CHECK(doubt({{"Content-Type", alike}}) ==
          "a Content-Type that names json, with a body that is not read as such");
  }
  CHECK(doubt({{"Content-Type", "text/Event-StreamX"}}) ==
        "a Content-Type that names event-stream, with a body that is not read as such");
  CHECK(reason(200, ResponseKind::message, {json, html}) == "more than one Content-Type");
  CHECK(reason(200, ResponseKind::stream, {events, events}) == "more than one Content-Type");
}

TEST_CASE("where no message can be, there is nothing to inspect") {
  const std::vector<Header> coded{html, {"Content-Encoding", "gzip"}};
  CHECK(reason(200, ResponseKind::body, coded).empty());
  CHECK(reason(404, ResponseKind::body, {html}).empty());
  CHECK(reason(202, ResponseKind::body, {}).empty());
  CHECK(reason(304, ResponseKind::body, {json}).empty());
  CHECK(reason(204, ResponseKind::body, {json}).empty());
}

TEST_CASE("a body that is another loses what was said of its bytes") {
  ResponseHead head;
  head.headers = {{"etag", "x"},         {"Digest", "x"},      {"Content-Digest", "x"},
                  {"Repr-Digest", "x"},  {"Content-MD5", "x"}, {"Content-Length", "9"},
                  {"Content-Type", "y"}, {"X-ETag", "z"}};
  forget_bytes(head);
  set_length(head, 12);
  REQUIRE(head.headers.size() == 3);
  CHECK(*head.find("Content-Length") == "12");
  CHECK(head.find("X-ETag") != nullptr);
}

TEST_CASE("an error answer is a JSON-RPC error of the right length, and tells no server text") {
  Error error = error_of(ErrorCode::event_too_large, "max_sse_event_size (5 bytes) exceeded");
  error.diagnostic.text = "secret";
  const ErrorAnswer answer = error_answer(error, "\"a\"");
  CHECK(answer.body ==
        R"({"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"event_too_large: )"
        R"(max_sse_event_size (5 bytes) exceeded"}})");
  CHECK(*answer.head.find("Content-Type") == "application/json");
  CHECK(*answer.head.find("Content-Length") == std::to_string(answer.body.size()));
}

TEST_CASE("an inspector's reason and code are shown as they are") {
  Error error = error_of(ErrorCode::stopped_by_inspector, "ours");
  error.rpc_code = -32050;
  error.rpc_message = "not \"today\"";
  CHECK(error_answer(error, "").body ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32050,"message":"not \"today\""}})");
}

TEST_CASE("the status of an error answer says whose fault it is") {
  const auto status = [](ErrorCode code, std::string_view id = "1") {
    return error_answer(error_of(code), id).head.status;
  };
  CHECK(status(ErrorCode::stopped_by_inspector) == 200);
  CHECK(status(ErrorCode::stopped_by_inspector, "") == 403);
  CHECK(status(ErrorCode::not_inspectable) == 502);
  CHECK(status(ErrorCode::cancelled) == 503);
  CHECK(status(ErrorCode::invalid_argument) == 400);
  CHECK(status(ErrorCode::connect_failed) == 502);
  CHECK(status(ErrorCode::timeout_header) == 504);
  CHECK(status(ErrorCode::json_too_large) == 502);
  CHECK(status(ErrorCode::bad_content_encoding) == 502);
  CHECK(status(ErrorCode::http_error) == 502);
  CHECK(status(ErrorCode::callback_threw) == 500);
}
