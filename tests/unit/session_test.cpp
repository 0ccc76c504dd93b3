#include "session.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <thread>
#include <vector>

using namespace mcphttp;

namespace {

constexpr std::size_t max_size = 16;

ResponseHead head_with(const std::vector<Header>& headers) {
  ResponseHead head;
  head.status = 200;
  head.headers = headers;
  return head;
}

Message answer_with(const std::string& member) {
  auto message = Message::parse(R"({"jsonrpc":"2.0","id":1,)" + member + "}");
  REQUIRE(message);
  return std::move(*message);
}

Message agreeing_on(const std::string& version) {
  return answer_with(R"("result":{"protocolVersion":")" + version + "\"}");
}

std::vector<std::string> lines_of(const Session& session) {
  const auto lines = session.snapshot().header_lines;
  return lines != nullptr ? *lines : std::vector<std::string>();
}

}  // namespace

TEST_CASE("a session begins with nothing to send") {
  const Session session;
  CHECK(session.snapshot().id.empty());
  CHECK(session.snapshot().version.empty());
  CHECK(lines_of(session).empty());
}

TEST_CASE("id and revision are taken from the answer to initialize and sent along") {
  Session session;
  const auto head = head_with({{"mcp-session-id", "s-1"}});
  CHECK_FALSE(session.adopt(head, agreeing_on("2025-11-25"), max_size));
  CHECK(lines_of(session) ==
        std::vector<std::string>{"MCP-Session-Id: s-1", "MCP-Protocol-Version: 2025-11-25"});
}

TEST_CASE("the revision header is sent where the revision has one") {
  struct Case {
    std::string version;
    bool sent;
  };
  for (const Case& c : std::vector<Case>{{"2025-11-25", true},
                                         {"2025-06-18", true},
                                         {"2025-03-26", false},
                                         {"2024-11-05", false},
                                         {"2099-01-01", false}}) {
    Session session;
    CHECK_FALSE(session.adopt(head_with({}), agreeing_on(c.version), max_size));
    CAPTURE(c.version);
    CHECK(session.snapshot().version == c.version);
    CHECK(lines_of(session).size() == (c.sent ? 1 : 0));
  }
}

TEST_CASE("an id must be visible ASCII within its limit, else nothing is taken") {
  struct Case {
    std::string id;
    bool good;
  };
  const std::vector<Case> cases = {
      {"a", true},
      {std::string(max_size, 'a'), true},
      {std::string(max_size + 1, 'a'), false},
      {std::string(10000, 'a'), false},
      {"!~", true},
      {"", false},
      {"a b", false},
      {"a\tb", false},
      {"a\x7F", false},
      {"\xC3\xA4", false},
      {"a\r\nX: y", false},
  };
  for (const Case& c : cases) {
    Session session;
    REQUIRE_FALSE(
        session.adopt(head_with({{"MCP-Session-Id", "old"}}), agreeing_on("2025-11-25"), max_size));
    const auto refused =
        session.adopt(head_with({{"MCP-Session-Id", c.id}}), agreeing_on("2025-06-18"), max_size);
    CAPTURE(c.id);
    CHECK(refused.has_value() != c.good);
    CHECK(session.snapshot().id == (c.good ? c.id : "old"));
    CHECK(session.snapshot().version == (c.good ? "2025-06-18" : "2025-11-25"));
    if (!refused) continue;
    CHECK(refused->code == ErrorCode::bad_session_id);
    CHECK(refused->http_status == 200);
    CHECK(refused->delivery == Delivery::answered);
    CHECK((c.id.empty() || refused->detail.find(c.id) == std::string::npos));
  }
}

TEST_CASE("a limit of zero switches sessions off, but not the revision") {
  Session session;
  CHECK_FALSE(session.adopt(head_with({{"MCP-Session-Id", "s"}}), agreeing_on("2025-11-25"), 0));
  CHECK(lines_of(session) == std::vector<std::string>{"MCP-Protocol-Version: 2025-11-25"});
}

TEST_CASE("a small limit on ids does not touch the revision") {
  Session session;
  CHECK_FALSE(session.adopt(head_with({}), agreeing_on("2025-11-25"), 3));
  CHECK(session.snapshot().version == "2025-11-25");
}

TEST_CASE("an error response brings no session") {
  Session session;
  const Message error = answer_with(R"("error":{"code":1,"message":"no"})");
  CHECK_FALSE(session.adopt(head_with({{"MCP-Session-Id", "s"}}), error, max_size));
  CHECK(lines_of(session).empty());
}

TEST_CASE("a revision that cannot stand in a header is not taken") {
  for (const char* result :
       {R"("result":{})", R"("result":{"protocolVersion":5})", R"("result":[])",
        R"("result":{"protocolVersion":""})", R"("result":{"protocolVersion":"a\r\nX: y"})",
        R"("result":{"protocolVersion":"\u00e4"})"}) {
    Session session;
    CHECK_FALSE(session.adopt(head_with({{"MCP-Session-Id", "s"}}), answer_with(result), max_size));
    CAPTURE(result);
    CHECK(session.snapshot().version.empty());
    CHECK(session.snapshot().id == "s");
  }
  Session session;
  CHECK_FALSE(session.adopt(head_with({}), agreeing_on(std::string(10000, '1')), max_size));
  CHECK(session.snapshot().version.empty());
}

TEST_CASE("a new handshake replaces the session, also by none") {
  Session session;
  CHECK_FALSE(
      session.adopt(head_with({{"MCP-Session-Id", "s"}}), agreeing_on("2025-11-25"), max_size));
  CHECK_FALSE(session.adopt(head_with({}), agreeing_on("2025-06-18"), max_size));
  CHECK(lines_of(session) == std::vector<std::string>{"MCP-Protocol-Version: 2025-06-18"});
}

TEST_CASE("only the session that was lost is dropped") {
  Session session;
  CHECK_FALSE(
      session.adopt(head_with({{"MCP-Session-Id", "new"}}), agreeing_on("2025-11-25"), max_size));
  session.drop("old");
  CHECK(session.snapshot().id == "new");
  session.drop("new");
  CHECK(session.snapshot().id.empty());
  CHECK(session.snapshot().version == "2025-11-25");
}

TEST_CASE("a session may be read while it changes") {
  Session session;
  const auto head = head_with({{"MCP-Session-Id", "s"}});
  const Message answer = agreeing_on("2025-11-25");
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) {
      session.adopt(head, answer, max_size);
      session.drop("s");
    }
  });
  bool whole = true;
  for (int i = 0; i < 1000; ++i) {
    const Session::Snapshot seen = session.snapshot();
    whole = whole && (seen.id.empty() || (seen.id == "s" && seen.version == "2025-11-25"));
  }
  writer.join();
  CHECK(whole);
}
