// Against the official server-everything: sessions, requests of the server, a resumption that is
// faulty on its side.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "peer.hpp"
#include "support/gate.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

Peer& everything() {
  static Peer peer(Peer::Kind::everything);
  return peer;
}

ClientOptions everything_options() { return options_for(everything().url("/mcp")); }

}  // namespace

TEST_CASE("server-everything is recognised as legacy, and its tools are listed and called") {
  Client client = connect(everything_options());
  CHECK(client.server().protocol_version == "2025-11-25");
  CHECK_FALSE(client.session_id().empty());
  auto tools = client.list_tools();
  REQUIRE(tools);
  CHECK(std::any_of(tools->begin(), tools->end(), [](const Tool& t) { return t.name == "echo"; }));
  CHECK(text_of(client.call_tool("echo", R"({"message":"hello"})")) == "Echo: hello");
  CHECK(client.close());
}

TEST_CASE("server-everything reports every step of a long operation, in order") {
  Client client = connect(everything_options());
  std::vector<double> steps;
  CallOptions call;
  call.on_progress = [&](const Progress& progress) { steps.push_back(progress.progress); };
  const auto result =
      client.call_tool("trigger-long-running-operation", R"({"duration":1,"steps":5})", call);
  REQUIRE(result);
  CHECK(steps == std::vector<double>{1, 2, 3, 4, 5});
}

TEST_CASE("server-everything asks back in the middle of a call") {
  ClientOptions options = everything_options();
  options.request_handlers = {
      {"sampling/createMessage",
       answer_with(
           R"({"role":"assistant","model":"m","content":{"type":"text","text":"sampled"}})")},
      {"elicitation/create", answer_with(R"({"action":"accept","content":{"name":"Ada"}})")},
      {"roots/list", answer_with(R"({"roots":[]})")}};
  Client client = connect(std::move(options));
  CHECK_THAT(text_of(client.call_tool("trigger-sampling-request", R"({"prompt":"hi"})")),
             Catch::Contains("sampled"));
  const auto filled = client.call_tool("trigger-elicitation-request", "{}");
  REQUIRE(filled);
  CHECK_THAT(filled->json, Catch::Contains("Name: Ada"));
}

TEST_CASE("server-everything logs on the stream of its own messages") {
  Gate logged;
  ClientOptions options = everything_options();
  options.on_notification = [&](const Message& message) {
    if (message.method() == "notifications/message") logged.open();
  };
  Client client = connect(std::move(options));
  REQUIRE(client.set_log_level("debug"));
  REQUIRE(client.call_tool("toggle-simulated-logging", "{}"));
  CHECK(logged.wait(30s));
}

TEST_CASE("2,000 calls in a row use one connection") {
  Relay relay(everything().port());
  Client client = connect(options_for(relay.url("/mcp"), Era::legacy));
  for (int i = 0; i < 2000; ++i) {
    const std::string number = std::to_string(i);
    REQUIRE(text_of(client.call_tool("echo", R"({"message":")" + number + "\"}")) ==
            "Echo: " + number);
  }
  CHECK(relay.accepted() == 1);
}

TEST_CASE("A call that is cut off from server-everything ends in time, one way or the other") {
  Relay relay(everything().port());
  ClientOptions options = options_for(relay.url("/mcp"), Era::legacy);
  options.timeouts.total = 20s;
  options.timeouts.idle = 4s;  // the first resumption brings silence
  options.reconnection.initial_delay = 100ms;
  Client client = connect(std::move(options));
  CallOptions call;
  call.on_progress = [&](const Progress& progress) {
    if (progress.progress == 2) relay.cut();
  };
  const auto began = std::chrono::steady_clock::now();
  const auto result =
      client.call_tool("trigger-long-running-operation", R"({"duration":2,"steps":4})", call);
  CHECK(std::chrono::steady_clock::now() - began < 25s);
  if (!result) CHECK(result.error().delivery == Delivery::unknown);
  CHECK(text_of(client.call_tool("echo", R"({"message":"still"})")) == "Echo: still");
}
