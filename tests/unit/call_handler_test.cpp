#include "call_handler.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace mcphttp;

namespace {

Message parse(const std::string& text) {
  auto message = Message::parse(text);
  REQUIRE(message);
  return std::move(*message);
}

Message notification(const std::string& method, const std::string& params) {
  return parse(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}");
}

Message progress(const std::string& params) {
  return notification("notifications/progress", params);
}

const std::string result = R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})";
const std::string failure =
    R"({"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"n\u006f","data":{"d": 1}}})";

// What the callbacks of a call were told.
struct Told {
  std::vector<Progress> progress;
  std::vector<std::string> notifications;

  CallOptions options() {
    CallOptions options;
    options.on_progress = [this](const Progress& p) { progress.push_back(p); };
    options.on_notification = [this](const Message& m) { notifications.emplace_back(m.method()); };
    return options;
  }
};

Event event_with(const std::string& text, bool answers) {
  return Event(Event::Parts(), parse(text), answers);
}

ExchangeEnd ended_by(ErrorCode code) {
  Error error;
  error.code = code;
  return {ExchangeEnd::Reason::failed, error, {}};
}

ExchangeEnd answered() { return {ExchangeEnd::Reason::answered, std::nullopt, {}}; }

// A call without handlers for requests of the server.
const ServerRequests& no_requests() {
  static const ServerRequests::Handlers none;
  static const ServerRequests requests(none, std::make_shared<Worker>(nullptr),
                                       [](std::string, std::function<void()>) {});
  return requests;
}

const Notifier::Observer nobody = [](const Message&) {};

void notice(const CallOptions& options, const Message& message) {
  Notifier(options, 7, no_requests(), nobody).notice(message, nullptr);
}

}  // namespace

TEST_CASE("progress goes to its callback if the token is ours") {
  struct Case {
    std::string params;
    bool ours;
  };
  const std::vector<Case> cases = {
      {R"({"progressToken":7,"progress":1})", true},
      {R"({"progress":1,"progressToken": 7 })", true},
      {R"({"progressToken":"7","progress":1})", false},
      {R"({"progressToken":8,"progress":1})", false},
      {R"({"progressToken":70,"progress":1})", false},
      {R"({"progress":1})", false},
      {"[7]", false},
  };
  for (const Case& c : cases) {
    Told told;
    const CallOptions options = told.options();
    notice(options, progress(c.params));
    CAPTURE(c.params);
    CHECK(told.progress.size() == (c.ours ? 1 : 0));
    CHECK(told.notifications.size() == (c.ours ? 0 : 1));
  }
}

TEST_CASE("progress is read as far as it is well-formed") {
  Told told;
  const CallOptions options = told.options();
  notice(options, progress(R"({"progressToken":7,"progress":0.5,"total":2,"message":"a\tb"})"));
  notice(options, progress(R"({"progressToken":7,"progress":"x","total":null,"message":5})"));
  notice(options, progress(R"({"progressToken":7})"));
  REQUIRE(told.progress.size() == 3);
  CHECK(told.progress[0].progress == 0.5);
  CHECK(told.progress[0].total == 2.0);
  CHECK(told.progress[0].message == "a\tb");
  for (const std::size_t i : {1U, 2U}) {
    CHECK(told.progress[i].progress == 0);
    CHECK_FALSE(told.progress[i].total);
    CHECK(told.progress[i].message.empty());
  }
}

TEST_CASE("other notifications go to their callback; responses to none") {
  Told told;
  const CallOptions options = told.options();
  notice(options, notification("notifications/message", "{}"));
  notice(options, parse(result));
  CHECK(told.notifications == std::vector<std::string>{"notifications/message"});
}

TEST_CASE("an observer is told of notifications, those without a callback and progress included") {
  std::vector<std::string> seen;
  const Notifier::Observer observer = [&seen](const Message& message) {
    seen.emplace_back(message.method());
  };
  const CallOptions none;
  const Notifier notifier(none, 7, no_requests(), observer);
  notifier.notice(progress(R"({"progressToken":7})"), nullptr);
  notifier.notice(notification("notifications/tools/list_changed", "{}"), nullptr);
  notifier.notice(parse(result), nullptr);
  CHECK(seen ==
        std::vector<std::string>{"notifications/progress", "notifications/tools/list_changed"});
}

TEST_CASE("callbacks that are not set are not called") {
  const CallOptions none;
  notice(none, progress(R"({"progressToken":7,"progress":1})"));
  Told told;
  CallOptions only_notifications = told.options();
  only_notifications.on_progress = nullptr;
  notice(only_notifications, progress(R"({"progressToken":7,"progress":1})"));
  CHECK(told.notifications.size() == 1);
}

TEST_CASE("an asynchronous call hands out notifications, then its result once") {
  Told told;
  std::vector<Result<Message>> done;
  CallHandler handler(told.options(), 7, no_requests(), nobody,
                      [&done](Result<Message> r) { done.push_back(std::move(r)); });
  ResponseHead head;
  head.status = 200;
  handler.on_headers(head);
  handler.on_event(event_with(
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7}})",
      false));
  handler.on_event(Event(Event::Parts()));
  handler.on_event(event_with(R"({"jsonrpc":"2.0","method":"n"})", false));
  CHECK(told.progress.size() == 1);
  CHECK(told.notifications.size() == 1);
  CHECK(handler.on_event(event_with(result, true)) == Flow::proceed);
  CHECK(done.empty());
  handler.on_end(answered());
  REQUIRE(done.size() == 1);
  REQUIRE(done[0]);
  CHECK(done[0]->json() == result);
}

TEST_CASE("an asynchronous call takes its answer from a JSON body too") {
  std::optional<Result<Message>> done;
  CallHandler handler({}, 7, no_requests(), nobody,
                      [&done](Result<Message> r) { done = std::move(r); });
  ResponseHead head;
  head.status = 400;
  handler.on_headers(head);
  handler.on_message(parse(failure));
  handler.on_end(answered());
  REQUIRE(done);
  REQUIRE_FALSE(*done);
  CHECK(done->error().code == ErrorCode::rpc_error);
  CHECK(done->error().http_status == 400);
}

TEST_CASE("an asynchronous call that fails reports the failure") {
  std::optional<Result<Message>> done;
  CallHandler handler({}, 7, no_requests(), nobody,
                      [&done](Result<Message> r) { done = std::move(r); });
  handler.on_end(ended_by(ErrorCode::timeout_total));
  REQUIRE(done);
  REQUIRE_FALSE(*done);
  CHECK(done->error().code == ErrorCode::timeout_total);
}
