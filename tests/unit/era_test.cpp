#include "era.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace mcphttp;
using Kind = ProbeVerdict::Kind;

namespace {

Result<Message> result_of(const std::string& result) {
  auto message = Message::parse(R"({"jsonrpc":"2.0","id":1,"result":)" + result + "}");
  REQUIRE(message);
  return message;
}

Result<Message> rpc_error(std::int64_t code, int status, std::string data = "") {
  Error error;
  error.code = ErrorCode::rpc_error;
  error.rpc_code = code;
  error.rpc_data = std::move(data);
  error.http_status = status;
  return tl::unexpected(std::move(error));
}

Result<Message> failure(ErrorCode code, int status) {
  Error error;
  error.code = code;
  error.http_status = status;
  return tl::unexpected(std::move(error));
}

}  // namespace

TEST_CASE("the answer to server/discover tells modern from legacy by the versions it names") {
  struct Case {
    std::string result;
    Kind kind;
    std::string version;
  };
  const std::vector<Case> cases = {
      {R"({"supportedVersions":["2026-07-28"]})", Kind::modern, "2026-07-28"},
      {R"({"supportedVersions":["2025-11-25","2026-07-28"]})", Kind::modern, "2026-07-28"},
      {R"({"supportedVersions":["2099-01-01","2026-07-\u00328"]})", Kind::modern, "2026-07-28"},
      {R"({"supportedVersions":["2025-11-25"]})", Kind::legacy, ""},
      {R"({"supportedVersions":["2025-03-26","2099-01-01"]})", Kind::legacy, ""},
      {R"({"supportedVersions":["2099-01-01"]})", Kind::incompatible, ""},
      {R"({"supportedVersions":["2024-11-05"]})", Kind::incompatible, ""},
      {R"({"supportedVersions":[]})", Kind::incompatible, ""},
      {R"({"supportedVersions":[20260728,null]})", Kind::incompatible, ""},
      {R"({"supportedVersions":"2026-07-28"})", Kind::incompatible, ""},
      {R"({})", Kind::legacy, ""},
      {R"({"tools":[]})", Kind::legacy, ""},
      {R"([])", Kind::legacy, ""},
      {R"("2026-07-28")", Kind::legacy, ""},
      {R"(null)", Kind::legacy, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.result);
    const ProbeVerdict verdict = judge_probe(result_of(c.result));
    CHECK(verdict.kind == c.kind);
    CHECK(verdict.version == c.version);
  }
}

TEST_CASE("the error codes of the modern era mean modern at any status") {
  for (const int status : {200, 400, 401, 404, 405, 500, 503}) {
    CAPTURE(status);
    CHECK(judge_probe(rpc_error(-32020, status)).kind == Kind::modern_fault);
    CHECK(judge_probe(rpc_error(-32021, status)).kind == Kind::modern_fault);
    const auto again = judge_probe(rpc_error(-32022, status, R"({"supported":["2026-07-28"]})"));
    CHECK(again.kind == Kind::ask_again);
    CHECK(again.version == "2026-07-28");
  }
}

TEST_CASE("an unsupported version leads to one in common, or to none") {
  struct Case {
    std::string data;
    Kind kind;
  };
  const std::vector<Case> cases = {
      {R"({"supported":["2026-07-28","2099-01-01"],"requested":"2098-01-01"})", Kind::ask_again},
      {R"({"supported":["2025-11-25","2025-06-18"]})", Kind::legacy},
      {R"({"supported":["2099-01-01"]})", Kind::incompatible},
      {R"({"supported":[]})", Kind::incompatible},
      {R"({"supported":"2026-07-28"})", Kind::incompatible},
      {R"({})", Kind::incompatible},
      {R"(["2026-07-28"])", Kind::incompatible},
      {"", Kind::incompatible},
  };
  for (const Case& c : cases) {
    CAPTURE(c.data);
    CHECK(judge_probe(rpc_error(-32022, 400, c.data)).kind == c.kind);
  }
}

TEST_CASE("other JSON-RPC errors mean legacy only where a legacy server would say so") {
  struct Case {
    int status;
    Kind kind;
  };
  const std::vector<Case> cases = {
      {200, Kind::legacy},  {201, Kind::legacy},  {400, Kind::legacy},  {404, Kind::legacy},
      {405, Kind::legacy},  {406, Kind::legacy},  {415, Kind::legacy},  {401, Kind::no_sign},
      {403, Kind::no_sign}, {407, Kind::no_sign}, {408, Kind::no_sign}, {409, Kind::no_sign},
      {425, Kind::no_sign}, {429, Kind::no_sign}, {500, Kind::no_sign}, {503, Kind::no_sign},
  };
  for (const Case& c : cases) {
    for (const std::int64_t code : {-32601, -32600, -32602, -32000, -32001, -32700, -32603, 0, 1}) {
      CAPTURE(c.status, code);
      CHECK(judge_probe(rpc_error(code, c.status)).kind == c.kind);
    }
  }
}

TEST_CASE(
    "an HTTP error without JSON-RPC means legacy for the statuses of refused requests alone") {
  for (const int status : {400, 404, 405, 406, 415}) {
    CAPTURE(status);
    CHECK(judge_probe(failure(ErrorCode::http_error, status)).kind == Kind::legacy);
  }
  for (const int status : {401, 402, 403, 407, 408, 409, 410, 425, 429, 500, 501, 502, 503, 504}) {
    CAPTURE(status);
    CHECK(judge_probe(failure(ErrorCode::http_error, status)).kind == Kind::no_sign);
  }
}

TEST_CASE("credentials, limits, time-outs and the network say nothing of the era") {
  struct Case {
    ErrorCode code;
    int status;
  };
  const std::vector<Case> cases = {
      {ErrorCode::unauthorized, 401},     {ErrorCode::unauthorized, 403},
      {ErrorCode::redirect_refused, 302}, {ErrorCode::redirect_refused, 308},
      {ErrorCode::resolve_failed, 0},     {ErrorCode::connect_failed, 0},
      {ErrorCode::tls_failed, 0},         {ErrorCode::proxy_failed, 0},
      {ErrorCode::connection_lost, 0},    {ErrorCode::timeout_connect, 0},
      {ErrorCode::timeout_header, 0},     {ErrorCode::timeout_idle, 200},
      {ErrorCode::timeout_total, 0},      {ErrorCode::timeout_total, 404},
      {ErrorCode::json_too_large, 200},   {ErrorCode::json_too_large, 400},
      {ErrorCode::json_too_large, 404},   {ErrorCode::json_too_deep, 200},
      {ErrorCode::event_too_large, 200},  {ErrorCode::headers_too_large, 404},
      {ErrorCode::bad_content_type, 200}, {ErrorCode::malformed_json, 200},
      {ErrorCode::body_truncated, 200},   {ErrorCode::stream_ended_without_response, 200},
      {ErrorCode::cancelled, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(to_string(c.code), c.status);
    CHECK(judge_probe(failure(c.code, c.status)).kind == Kind::no_sign);
  }
}
