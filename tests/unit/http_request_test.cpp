// The request parser of the scripted server: strict, and indifferent to how the bytes are cut.
#include "support/http_request.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using mcphttp::test::Request;
using mcphttp::test::RequestParser;

namespace {

std::vector<Request> parse_in_pieces(std::string_view bytes, std::size_t piece) {
  RequestParser parser;
  std::vector<Request> requests;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    parser.feed(bytes.substr(0, piece));
    while (auto request = parser.next()) requests.push_back(*request);
  }
  return requests;
}

std::string error_of(std::string_view bytes) {
  RequestParser parser;
  parser.feed(bytes);
  while (parser.next()) {
  }
  return parser.error();
}

}  // namespace

TEST_CASE("requests are the same however their bytes are cut") {
  const std::string bytes =
      "POST /mcp?x=1 HTTP/1.1\r\nHost: h\r\nX-Pad: \t a b \t\r\ncontent-length: 5\r\n\r\nhello"
      "POST /mcp HTTP/1.1\r\nTransfer-Encoding: "
      "Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: 1\r\n\r\n"
      "GET /mcp HTTP/1.0\r\nEmpty:\r\n\r\n";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const auto requests = parse_in_pieces(bytes, piece);
    REQUIRE(requests.size() == 3);
    CHECK(requests[0].method == "POST");
    CHECK(requests[0].target == "/mcp?x=1");
    CHECK(requests[0].version == "HTTP/1.1");
    CHECK(requests[0].header("x-pad") == "a b");
    CHECK(requests[0].body == "hello");
    CHECK(requests[1].body == "abc0123456789");
    CHECK(requests[1].header_count("T") == 0);
    CHECK(requests[2].version == "HTTP/1.0");
    CHECK(requests[2].header("empty") == "");
    CHECK(requests[2].header("absent") == std::nullopt);
    CHECK(requests[2].body.empty());
  }
}

TEST_CASE("what RFC 9112 forbids in a request is an error") {
  struct Case {
    std::string bytes;
    std::string error;
  };
  const std::vector<Case> cases{
      {"GET /mcp\r\n\r\n", "bad request line: GET /mcp"},
      {"GET  /mcp HTTP/1.1\r\n\r\n", "bad request line: GET  /mcp HTTP/1.1"},
      {"GET /mcp HTTP/2\r\n\r\n", "bad request line: GET /mcp HTTP/2"},
      {"GET /mcp HTTP/1.1\r\nA : b\r\n\r\n", "bad header line: A : b"},
      {"GET /mcp HTTP/1.1\r\nnothing\r\n\r\n", "bad header line: nothing"},
      {"GET /mcp HTTP/1.1\r\nA: b\nC: d\r\n\r\n", "bad header line: A: b\nC: d"},
      {"GET /mcp HTTP/1.1\r\nContent-Length: 1x\r\n\r\n", "bad Content-Length: 1x"},
      {"GET /mcp HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
       "more than one Content-Length"},
      {"GET /mcp HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       "both Transfer-Encoding and Content-Length"},
      {"GET /mcp HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "unknown Transfer-Encoding: gzip"},
      {"GET /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", "bad chunk size: z"},
      {"GET /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
       "chunk longer than announced"},
  };
  for (const Case& c : cases) CHECK(error_of(c.bytes) == c.error);
}

TEST_CASE("a head without end is refused before it fills the memory") {
  CHECK(error_of("GET /" + std::string(std::size_t{2} * 1024 * 1024, 'a')) ==
        "request head too large");
}

TEST_CASE("nothing is handed out after an error") {
  RequestParser parser;
  parser.feed("bad\r\n\r\nGET /mcp HTTP/1.1\r\n\r\n");
  CHECK_FALSE(parser.next());
  parser.feed("GET /mcp HTTP/1.1\r\n\r\n");
  CHECK_FALSE(parser.next());
  CHECK_FALSE(parser.error().empty());
}
