// Against servers made with the official TypeScript SDK (bed-v2.mjs): every shape of answer, in
// both eras.
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "peer.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view elicited = R"({"action":"accept","content":{"ok":true}})";
constexpr std::string_view sampled =
    R"({"role":"assistant","model":"m","content":{"type":"text","text":"sampled"}})";

Peer& bed() {
  static Peer peer(Peer::Kind::bed);
  return peer;
}

ClientOptions bed_options(const std::string& path) { return options_for(bed().url(path)); }

ClientOptions answering(ClientOptions options) {
  options.request_handlers = {{"elicitation/create", answer_with(std::string(elicited))},
                              {"sampling/createMessage", answer_with(std::string(sampled))}};
  return options;
}

struct Steps {
  std::string text;
  std::vector<double> seen;
};

// One call of a tool that reports its steps.
Steps call_progress(Client& client, const std::string& arguments) {
  Steps steps;
  CallOptions call;
  call.on_progress = [&](const Progress& progress) { steps.seen.push_back(progress.progress); };
  steps.text = text_of(client.call_tool("progress", arguments, call));
  return steps;
}

bool eventually(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

}  // namespace

TEST_CASE("A subscription hears what is published, and ends with its handle") {
  // Sessions of the bed are servers of their own, which nobody else's call publishes to.
  const std::string path = GENERATE("/mcp", "/sse", "/modern");
  CAPTURE(path);
  Client client = connect(bed_options(path));
  std::mutex mutex;
  std::vector<std::string> told;
  bool acknowledged = false;
  SubscriptionOptions options;
  options.on_acknowledged = [&](const SubscriptionFilter& honoured) {
    const std::lock_guard lock(mutex);
    acknowledged = honoured.tools_list_changed;
  };
  options.on_notification = [&](const Message& message) {
    const std::lock_guard lock(mutex);
    told.emplace_back(message.method());
  };
  SubscriptionFilter filter;
  filter.tools_list_changed = true;
  const Call call = client.subscribe(filter, std::move(options));
  REQUIRE(eventually([&] {
    const std::lock_guard lock(mutex);
    return acknowledged;
  }));
  if (path != "/mcp") return;  // only its subscriptions are those that `publish` knows
  REQUIRE(text_of(client.call_tool("publish", "")) == "published");
  CHECK(eventually([&] {
    const std::lock_guard lock(mutex);
    return told == std::vector<std::string>{"notifications/tools/list_changed"};
  }));
}

TEST_CASE("Every path of the bed answers a call") {
  const std::string path =
      GENERATE("/mcp", "/json", "/sse", "/modern", "/session", "/session-json", "/session-plain");
  CAPTURE(path);
  Client client = connect(bed_options(path));
  const bool has_session = path.rfind("/session", 0) == 0;
  CHECK(client.server().protocol_version == (has_session ? "2025-11-25" : "2026-07-28"));
  CHECK(client.session_id().empty() != has_session);
  CHECK(text_of(client.call_tool("echo", R"({"message":"hello"})")) == "hello");
  CHECK(client.close());
}

TEST_CASE("Progress is seen in order wherever the answer is a stream") {
  const std::string path = GENERATE("/mcp", "/sse", "/modern", "/session", "/session-plain");
  CAPTURE(path);
  Client client = connect(bed_options(path));
  const Steps steps = call_progress(client, R"({"n":4,"delayMs":50})");
  CHECK(steps.text == "done");
  CHECK(steps.seen == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("A call on a server without streams ends without progress") {
  const std::string path = GENERATE("/json", "/session-json");
  CAPTURE(path);
  Client client = connect(bed_options(path));
  const Steps steps = call_progress(client, R"({"n":2,"delayMs":20})");
  CHECK(steps.text == "done");
  CHECK(steps.seen.empty());
}

TEST_CASE("A stream closed by the server in the middle of a call is resumed, nothing twice") {
  Client client = connect(bed_options("/session"));
  const Steps steps = call_progress(client, R"({"n":4,"delayMs":50,"close":true})");
  CHECK(steps.text == "done");
  CHECK(steps.seen == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("The server asks back in the middle of a call") {
  const std::string path =
      GENERATE("/mcp", "/json", "/sse", "/modern", "/session", "/session-json", "/session-plain");
  CAPTURE(path);
  Client client = connect(answering(bed_options(path)));
  CHECK_THAT(text_of(client.call_tool("elicit", "{}")), Catch::Contains(R"("ok":true)"));
  if (path.rfind("/session", 0) == 0)
    CHECK_THAT(text_of(client.call_tool("sample", "{}")), Catch::Contains("sampled"));
}

TEST_CASE("A server restarted in mid-session gets a new session, and the call succeeds") {
  const std::string path = GENERATE("/session", "/session-json", "/session-plain");
  CAPTURE(path);
  std::mutex mutex;
  int restarts = 0;
  ClientOptions options = bed_options(path);
  options.on_warning = [&](const Warning& warning) {
    const std::lock_guard lock(mutex);
    restarts += warning.kind == WarningKind::session_restarted ? 1 : 0;
  };
  Client client = connect(std::move(options));
  const std::string first = client.session_id();
  bed().restart();
  CHECK(text_of(client.call_tool("echo", R"({"message":"again"})")) == "again");
  CHECK(client.session_id() != first);
  const std::lock_guard lock(mutex);
  CHECK(restarts == 1);
}

TEST_CASE("Arguments are mirrored into headers, whether or not the tools were listed before") {
  const bool listed = GENERATE(true, false);
  CAPTURE(listed);
  Client client = connect(bed_options("/modern"));
  if (listed) REQUIRE(client.list_tools());
  CHECK(text_of(client.call_tool("headers", R"({"region":"eu"})")) == "eu");
}

TEST_CASE("A result over the limit is refused, and accepted once the limit is raised") {
  struct Case {
    const char* path;
    ErrorCode code;
  };
  const auto [path, code] =
      GENERATE(Case{"/modern", ErrorCode::json_too_large}, Case{"/json", ErrorCode::json_too_large},
               Case{"/sse", ErrorCode::event_too_large});
  CAPTURE(path);
  const std::string arguments = R"({"bytes":16777216})";
  Client bounded = connect(bed_options(path));
  const auto refused = bounded.call_tool("big", arguments);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == code);
  CHECK(text_of(bounded.call_tool("echo", R"({"message":"still"})")) == "still");

  ClientOptions options = bed_options(path);
  options.limits.max_json_response_size = 17 * 1024 * 1024;
  options.limits.max_sse_event_size = 17 * 1024 * 1024;
  Client raised = connect(std::move(options));
  CHECK(text_of(raised.call_tool("big", arguments)).size() == 16777216);
}

TEST_CASE("The server sees that a call was cancelled") {
  const std::string path = GENERATE("/modern", "/session");
  CAPTURE(path);
  Client client = connect(bed_options(path));
  const std::size_t seen = bed().log().size();
  std::stop_source stop;
  CallOptions call;
  call.stop = stop.get_token();
  call.on_progress = [&](const Progress&) { stop.request_stop(); };
  const auto result = client.call_tool("progress", R"({"n":100,"delayMs":100})", call);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::cancelled);
  CHECK(
      eventually([&] { return bed().log().find("progress: aborted", seen) != std::string::npos; }));
}
