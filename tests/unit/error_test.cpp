#include <mcphttp/error.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "text.hpp"

using mcphttp::Delivery;
using mcphttp::Error;
using mcphttp::ErrorCode;
using mcphttp::WarningKind;

namespace {

// Every code with its fixed value: the promise that numbers and names never change.
const std::map<int, std::string> all_codes{
    {100, "invalid_argument"},
    {101, "wrong_thread"},
    {102, "closed"},
    {200, "cancelled"},
    {201, "stopped_by_inspector"},
    {202, "not_inspectable"},
    {203, "input_refused"},
    {300, "resolve_failed"},
    {301, "connect_failed"},
    {302, "tls_failed"},
    {303, "proxy_failed"},
    {304, "connection_lost"},
    {400, "timeout_connect"},
    {401, "timeout_header"},
    {402, "timeout_idle"},
    {403, "timeout_total"},
    {404, "timeout_request"},
    {500, "json_too_large"},
    {501, "json_too_deep"},
    {502, "event_too_large"},
    {503, "headers_too_large"},
    {504, "stream_too_large"},
    {505, "list_too_large"},
    {506, "queue_full"},
    {600, "http_error"},
    {601, "unauthorized"},
    {602, "session_expired"},
    {603, "redirect_refused"},
    {700, "bad_content_type"},
    {701, "bad_content_encoding"},
    {702, "bad_session_id"},
    {703, "malformed_json"},
    {704, "malformed_message"},
    {705, "id_mismatch"},
    {706, "body_truncated"},
    {707, "stream_ended_without_response"},
    {708, "unsupported_version"},
    {709, "rpc_error"},
    {710, "malformed_http"},
    {800, "callback_threw"},
    {801, "out_of_memory"},
    {802, "internal"},
};

Error make(ErrorCode code, std::string detail = {}) {
  Error error;
  error.code = code;
  error.detail = std::move(detail);
  return error;
}

bool retryable(ErrorCode code, Delivery delivery, int http_status = 0) {
  Error error = make(code);
  error.delivery = delivery;
  error.http_status = http_status;
  return is_retryable(error);
}

}  // namespace

TEST_CASE("every error code has its fixed number, its name and a group") {
  for (int value = -1; value < 1000; ++value) {
    const auto code = static_cast<ErrorCode>(value);
    const auto known = all_codes.find(value);
    CHECK(to_string(code) == (known == all_codes.end() ? "unknown" : known->second));
  }
  for (const auto& [value, name] : all_codes) {
    INFO(name);
    CHECK(static_cast<int>(group(static_cast<ErrorCode>(value))) == value / 100);
  }
}

TEST_CASE("deliveries and warnings have names") {
  CHECK(to_string(Delivery::not_sent) == "not_sent");
  CHECK(to_string(Delivery::unknown) == "unknown");
  CHECK(to_string(Delivery::answered) == "answered");
  CHECK(to_string(static_cast<Delivery>(99)) == "unknown");

  const std::vector<std::string> kinds{
      "unterminated_event",  "id_type_changed",   "foreign_message", "malformed_event",
      "session_id_changed",  "session_restarted", "invalid_tool",    "event_id_dropped",
      "stream_not_reopened", "http2_unavailable", "unknown"};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(to_string(static_cast<WarningKind>(i)) == kinds[i]);
  }
}

TEST_CASE("only failures that cannot be repeated twice and are not final are retryable") {
  const std::set<std::string> if_not_sent{
      "resolve_failed",  "connect_failed", "tls_failed",   "proxy_failed",  "connection_lost",
      "timeout_connect", "timeout_header", "timeout_idle", "timeout_total", "timeout_request"};
  for (const auto& [value, name] : all_codes) {
    INFO(name);
    const auto code = static_cast<ErrorCode>(value);
    const bool expired = code == ErrorCode::session_expired;
    CHECK(retryable(code, Delivery::not_sent) == (expired || if_not_sent.count(name) == 1));
    CHECK(retryable(code, Delivery::answered) == expired);
    CHECK_FALSE(retryable(code, Delivery::unknown));
  }
  CHECK_FALSE(retryable(static_cast<ErrorCode>(999), Delivery::not_sent));
}

TEST_CASE("an HTTP status is retryable only if it says that nothing was done") {
  const std::set<int> refusals{408, 425, 429, 503};
  for (int status = 0; status < 1000; ++status) {
    INFO(status);
    CHECK(retryable(ErrorCode::http_error, Delivery::answered, status) ==
          (refusals.count(status) == 1));
    CHECK_FALSE(retryable(ErrorCode::http_error, Delivery::unknown, status));
    CHECK_FALSE(retryable(ErrorCode::unauthorized, Delivery::answered, status));
    CHECK_FALSE(retryable(ErrorCode::redirect_refused, Delivery::answered, status));
    CHECK_FALSE(retryable(ErrorCode::body_truncated, Delivery::answered, status));
  }
}

TEST_CASE("an error prints as its code alone if nothing else is known") {
  CHECK(make(ErrorCode::cancelled).to_string() == "cancelled");
  CHECK(make(ErrorCode::closed, "the client was closed").to_string() ==
        "closed: the client was closed");
}

TEST_CASE("an HTTP error prints status, delay, diagnostic and cause") {
  Error error = make(ErrorCode::http_error, "tools/call was refused");
  error.delivery = Delivery::answered;
  error.http_status = 503;
  error.retry_after = std::chrono::milliseconds(2000);
  error.diagnostic.text = "busy\\n";
  error.cause =
      std::make_shared<const Error>(make(ErrorCode::body_truncated, "2 of 10 bytes came"));
  CHECK(error.to_string() ==
        "http_error: tools/call was refused (HTTP 503, retry after 2000 ms): busy\\n; "
        "caused by body_truncated: 2 of 10 bytes came");
}

TEST_CASE("a status that the detail names is not printed again") {
  Error error = make(ErrorCode::http_error, "HTTP 404 to tools/call");
  error.http_status = 404;
  CHECK(error.to_string() == "http_error: HTTP 404 to tools/call");
}

TEST_CASE("an unknown delivery is printed") {
  Error error = make(ErrorCode::connection_lost, "the connection ended");
  error.delivery = Delivery::unknown;
  CHECK(error.to_string() == "connection_lost: the connection ended (delivery unknown)");
}

TEST_CASE("a JSON-RPC error prints its number and its message, escaped") {
  Error error = make(ErrorCode::rpc_error);
  error.rpc_code = -32602;
  error.rpc_message = "no such\ntool \x1B[2J";
  error.rpc_data = R"({"secret":1})";
  CHECK(error.to_string() == "rpc_error: -32602 no such\\ntool \\x1B[2J");
}

TEST_CASE("the number of a JSON-RPC error is not printed again if the detail names it") {
  Error error = make(ErrorCode::rpc_error, "JSON-RPC error -32602");
  error.rpc_code = -32602;
  error.rpc_message = "no such tool";
  CHECK(error.to_string() == "rpc_error: JSON-RPC error -32602: no such tool");
}

TEST_CASE("a refused redirect prints its target without what may be secret") {
  struct Case {
    std::string location;
    std::string printed;
  };
  const auto c = GENERATE(values<Case>({
      {"http://localhost:8080/steal", "http://localhost:8080/steal"},
      {"/mcp/?code=s3cret#x", "/mcp/"},
      {"#s3cret", ""},
      {"https://user:s3cret@host/a@b", "https://host/a@b"},
      {"https://user:s3@cret@host", "https://host"},
      {"//user:s3cret@host\\@x", "//host\\@x"},
      {"http://host/\r\nX: y", "http://host/\\r\\nX: y"},
      {"user@host", "user@host"},
      {"http://", "http://"},
  }));
  Error error = make(ErrorCode::redirect_refused, "another origin");
  error.location = c.location;
  CHECK(error.to_string() == "redirect_refused: another origin: to " + c.printed);
}

TEST_CASE("challenges are never printed") {
  Error error = make(ErrorCode::unauthorized, "the token was refused");
  error.http_status = 401;
  error.www_authenticate = "Negotiate s3cret";
  CHECK(error.to_string() == "unauthorized: the token was refused (HTTP 401)");
}

TEST_CASE("whatever an error holds, it prints as one clean line of bounded size") {
  const std::string hostile(100000, GENERATE('x', '\n', '\xFF', '\0'));
  Error error = make(GENERATE(ErrorCode::rpc_error, ErrorCode::redirect_refused), hostile);
  error.http_status = 500;
  error.rpc_message = error.location = error.diagnostic.text = error.www_authenticate =
      error.content_type = error.rpc_data = hostile;
  for (int depth = 0; depth < 100; ++depth) {
    Error outer = error;
    outer.cause = std::make_shared<const Error>(std::move(error));
    error = std::move(outer);
  }
  const std::string line = error.to_string();
  CHECK(line.size() <= 1024);
  CHECK(mcphttp::text::escape_printable(line) == line);
}

TEST_CASE("no more than three causes are printed") {
  Error error = make(ErrorCode::internal, "0");
  for (int depth = 1; depth < 6; ++depth) {
    Error outer = make(ErrorCode::internal, std::to_string(depth));
    outer.cause = std::make_shared<const Error>(std::move(error));
    error = std::move(outer);
  }
  CHECK(error.to_string() ==
        "internal: 5; caused by internal: 4; caused by internal: 3; caused by internal: 2");
}
