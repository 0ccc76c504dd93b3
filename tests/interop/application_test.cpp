// One application, unchanged, against servers of either era.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "peer.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

namespace {

struct Findings {
  bool has_echo = false;
  std::string echoed;
  bool fails_by_name = false;  // a tool that does not exist is an error of the call
  bool closed = false;
};

// Nothing here knows what the server speaks.
Findings exercise(const std::string& url) {
  Client client = connect(options_for(url));
  Findings findings;
  const auto tools = client.list_tools();
  findings.has_echo = tools && std::any_of(tools->begin(), tools->end(),
                                           [](const Tool& tool) { return tool.name == "echo"; });
  findings.echoed = text_of(client.call_tool("echo", R"({"message":"hello"})"));
  const auto unknown = client.call_tool("no-such-tool", "{}");
  findings.fails_by_name = unknown ? unknown->is_error : unknown.error().rpc_code != 0;
  findings.closed = client.ping() && client.close();
  return findings;
}

void check_application(const std::string& url) {
  CAPTURE(url);
  const Findings findings = exercise(url);
  CHECK(findings.has_echo);
  CHECK_THAT(findings.echoed, Catch::EndsWith("hello"));
  CHECK(findings.fails_by_name);
  CHECK(findings.closed);
}

}  // namespace

TEST_CASE("The same application runs against server-everything") {
  Peer everything(Peer::Kind::everything);
  check_application(everything.url("/mcp"));
}

TEST_CASE("The same application runs against the modern era and against sessions") {
  Peer bed(Peer::Kind::bed);
  check_application(bed.url("/modern"));
  check_application(bed.url("/session"));
}
