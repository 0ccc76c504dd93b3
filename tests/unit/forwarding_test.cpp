#include "forwarding.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace mcphttp;

namespace {

using Lines = std::vector<std::string>;

// What libcurl must not add by itself, then the fields.
Lines lines_of(std::vector<Header> headers, const TransportOptions& options = {}) {
  ForwardRequest request;
  request.headers = std::move(headers);
  request.headers.push_back({"Accept", "a/b"});
  request.headers.push_back({"Content-Type", "c/d"});
  Lines lines = forwarded_header_lines(request, options);
  Lines passed;
  for (const std::string& line : lines) {
    if (line != "Expect:" && line != "Accept: a/b" && line != "Content-Type: c/d") {
      passed.push_back(line);
    }
  }
  return passed;
}

}  // namespace

TEST_CASE("fields of the end-to-end message pass, in order, repeated and empty ones too") {
  CHECK(lines_of({{"X-One", "1"}, {"Mcp-Session-Id", "s"}, {"x-one", "2"}, {"X-Empty", ""}}) ==
        Lines{"X-One: 1", "Mcp-Session-Id: s", "x-one: 2", "X-Empty;"});
}

TEST_CASE("fields of one hop do not pass, nor those that Connection names") {
  CHECK(lines_of({{"Connection", "keep-alive, X-Hop"},
                  {"x-hop", "1"},
                  {"connection", "X-Other"},
                  {"X-Other", "2"},
                  {"Keep-Alive", "timeout=5"},
                  {"TE", "trailers"},
                  {"Trailer", "X-T"},
                  {"Transfer-Encoding", "chunked"},
                  {"Upgrade", "h2c"},
                  {"Proxy-Authorization", "Basic x"},
                  {"Proxy-Connection", "close"},
                  {"X-End", "3"}}) == Lines{"X-End: 3"});
}

TEST_CASE("what the next sender says anew does not pass") {
  CHECK(lines_of({{"Host", "a"}, {"Content-Length", "5"}, {"Expect", "100-continue"}}).empty());
}

TEST_CASE("libcurl adds no field of its own") {
  CHECK(forwarded_header_lines(ForwardRequest{}, {}) ==
        Lines{"Accept:", "Content-Type:", "Expect:"});
}

TEST_CASE("the options' headers and credentials take the place of the request's") {
  const std::vector<Header> headers{{"Authorization", "Bearer theirs"}, {"X-One", "theirs"}};
  TransportOptions options;
  CHECK(lines_of(headers, options) == Lines{"Authorization: Bearer theirs", "X-One: theirs"});
  options.headers = {{"x-one", "ours"}};
  options.bearer_token = "ours";
  CHECK(lines_of(headers, options) == Lines{"x-one: ours", "Authorization: Bearer ours"});
}

TEST_CASE("a request that cannot be passed on is refused") {
  const auto refusal = [](ForwardRequest request) {
    const auto error = check_forwarded(request);
    return error ? error->detail : std::string();
  };
  ForwardRequest request;
  CHECK(refusal(request).empty());
  request.method = "M-SEARCH";
  CHECK(refusal(request).empty());
  request.method = "CONNECT";
  CHECK(refusal(request) == "method: CONNECT asks for a tunnel");
  request.method = "GET /x";
  CHECK(refusal(request) == "method: not a token");
  request.method = "HEAD";
  request.body = "x";
  CHECK(refusal(request) == "body: a HEAD has none");
  request = {};
  request.headers = {{"X", "a\r\nEvil: 1"}};
  CHECK(refusal(request) == "headers: the value of X has a forbidden character");
  request.headers = {{"X:", "a"}};
  CHECK(refusal(request) == "headers: a name is not a token");
}

TEST_CASE("a response keeps its Content-Length unless a transfer coding overrides it") {
  const auto left = [](std::vector<Header> headers) {
    drop_response_hop_fields(headers);
    std::string names;
    for (const Header& header : headers) names += header.name + " ";
    return names;
  };
  CHECK(left({{"Content-Length", "5"}, {"ETag", "x"}, {"Connection", "close"}}) ==
        "Content-Length ETag ");
  CHECK(left({{"content-length", "5"}, {"ETag", "x"}, {"transfer-encoding", "chunked"}}) ==
        "ETag ");
  CHECK(left({{"Proxy-Authenticate", "Basic"}, {"Trailer", "x"}, {"WWW-Authenticate", "Bearer"}}) ==
        "WWW-Authenticate ");
}
