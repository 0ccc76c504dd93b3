#include "relay_writer.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "make_error.hpp"
#include "support/seen.hpp"

using namespace mcphttp;

namespace {

using Reason = ExchangeEnd::Reason;

const std::string step = R"({"jsonrpc":"2.0","method":"step"})";
const std::string other = R"({"jsonrpc":"2.0","method":"other"})";
const std::string answer = R"({"jsonrpc":"2.0","id":1,"result":{}})";

// Writes down what it is told; what it says is looked up by method, "answer" or "end".
class Watcher final : public Inspector {
 public:
  Verdict on_message(const Message* message, bool last) override {
    lasts += last ? 1 : 0;
    const std::string what = message == nullptr       ? "end"
                             : message->is_response() ? "answer"
                                                      : std::string(message->method());
    seen += what + (last ? "! " : " ");
    if (what != acts_on) return Verdict::pass();
    if (throws) throw std::runtime_error("of the application");
    return verdict;
  }

  std::string acts_on;
  Verdict verdict;
  bool throws = false;
  std::string seen;
  int lasts = 0;
};

Message message_of(const std::string& json) { return std::move(*Message::parse(json)); }

Event event_of(const std::string& json, Event::Parts parts = {}) {
  Message message = message_of(json);
  const bool answers = message.is_response();
  return {std::move(parts), std::move(message), answers};
}

ExchangeEnd end_of(Reason reason, ErrorCode code = ErrorCode::internal) {
  ExchangeEnd end;
  end.reason = reason;
  if (reason != Reason::answered) end.error = make_error(code, "why");
  return end;
}

std::vector<BodyItem> stream_items() {
  std::vector<BodyItem> items;
  items.emplace_back(Event({"", " alive", "", false, {}, Event::Kind::comment}));
  items.emplace_back(event_of(step, {"", "", "7", true, 5}));
  items.emplace_back(event_of(answer));
  return items;
}

std::vector<BodyItem> json_items(const std::string& json = answer) {
  std::vector<BodyItem> items;
  items.emplace_back(message_of(json));
  return items;
}

struct Downstream {
  int status = 0;
  std::string length;  // "none" if there is no Content-Length
  bool has_etag = false;
  std::string body;
  RelayEnding ending{};
  std::string error;
};

// What Relay does, without a connection.
Downstream relay(ResponseKind kind, std::vector<BodyItem> items, const ExchangeEnd& end,
                 RelayOptions options = {}, bool head_first = true, std::string id = "1") {
  const char* type = kind == ResponseKind::stream ? "text/event-stream" : "application/json";
  ResponseHead head{
      200, kind, {{"Content-Type", type}, {"ETag", "x"}, {"Transfer-Encoding", "chunked"}}};
  RelayWriter writer(std::move(head), std::move(id), std::move(options), 128);
  std::size_t next = 0;
  if (const auto whole = writer.wants_whole()) {
    std::size_t size = 0;
    for (const BodyItem& item : items) size += frame_of(item).size();
    Collected collected;
    if (size > whole->max) {
      collected.outcome = Collected::Outcome::too_large;
    } else if (end.reason == Reason::answered) {
      collected.outcome = Collected::Outcome::complete;
      for (; next < items.size(); ++next) {
        auto* event = std::get_if<Event>(&items[next]);
        auto* message = std::get_if<Message>(&items[next]);
        if (event != nullptr) collected.events.push_back(std::move(*event));
        if (message != nullptr) collected.message = std::move(*message);
        if (auto* piece = std::get_if<BodyPiece>(&items[next])) collected.body += piece->bytes;
      }
    }
    writer.take_whole(std::move(collected), end);
  }
  Downstream seen;
  const auto look_at_head = [&] {
    writer.commit();
    seen.status = writer.head().status;
    const std::string* length = writer.head().find("Content-Length");
    seen.length = length != nullptr ? *length : "none";
    seen.has_etag = writer.head().find("ETag") != nullptr;
  };
  const auto write = [&] {
    const std::string bytes = writer.take_output();
    if (!bytes.empty()) writer.commit();
    seen.body += bytes;
  };
  if (head_first) look_at_head();
  write();
  for (; next < items.size() && !writer.is_over(); ++next) {
    writer.take(std::move(items[next]));
    write();
  }
  if (!writer.is_over()) writer.finish(end);
  write();
  if (!head_first) look_at_head();
  seen.ending = writer.ending();
  if (!writer.error()) return seen;
  const bool is_of_test = end.error && end.error->code == writer.error()->code;
  if (!is_of_test) test::note_seen(*writer.error());
  seen.error = to_string(writer.error()->code);
  return seen;
}

std::shared_ptr<Watcher> watcher(std::string acts_on = {}, Verdict verdict = {}) {
  auto made = std::make_shared<Watcher>();
  made->acts_on = std::move(acts_on);
  made->verdict = std::move(verdict);
  return made;
}

RelayOptions inspected_by(std::shared_ptr<Inspector> inspector) {
  RelayOptions options;
  options.inspector = std::move(inspector);
  return options;
}

RelayOptions held_back(std::shared_ptr<Inspector> inspector) {
  RelayOptions options = inspected_by(std::move(inspector));
  options.streams = RelayOptions::Streams::whole;
  return options;
}

std::string frames(const std::string& middle) {
  return ": alive\n\nid: 7\nretry: 5\ndata: " + middle + "\n\n" + "data: " + answer + "\n\n";
}

const ExchangeEnd answered = end_of(Reason::answered);

}  // namespace

TEST_CASE("without an inspector everything passes as it is") {
  const Downstream stream = relay(ResponseKind::stream, stream_items(), answered);
  CHECK(stream.body == frames(step));
  CHECK(stream.length == "none");
  CHECK_FALSE(stream.has_etag);  // framed anew
  CHECK(stream.ending == RelayEnding::clean);
  const Downstream body = relay(ResponseKind::message, json_items(), answered);
  CHECK(body.body == answer);
  CHECK(body.length == std::to_string(answer.size()));
  CHECK(body.has_etag);
  CHECK(body.ending == RelayEnding::clean);
}

TEST_CASE("an inspector sees each message of a stream and then the end, or a JSON body at once") {
  const auto live = watcher();
  CHECK(relay(ResponseKind::stream, stream_items(), answered, inspected_by(live)).body ==
        frames(step));
  CHECK(live->seen == "step answer end! ");
  const auto whole = watcher();
  const Downstream held = relay(ResponseKind::stream, stream_items(), answered, held_back(whole));
  CHECK(held.body == frames(step));
  CHECK(held.length == std::to_string(frames(step).size()));
  CHECK(whole->seen == "step answer end! ");
  const auto body = watcher();
  CHECK(relay(ResponseKind::message, json_items(), answered, inspected_by(body)).has_etag);
  CHECK(body->seen == "answer! ");
}

TEST_CASE("a replaced message keeps its event's frame, a replaced body gets its own length") {
  const auto options = GENERATE(&inspected_by, &held_back);
  CHECK(relay(ResponseKind::stream, stream_items(), answered,
              options(watcher("step", Verdict::replace(other))))
            .body == frames(other));
  const std::string longer = R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})";
  const Downstream body = relay(ResponseKind::message, json_items(), answered,
                                options(watcher("answer", Verdict::replace(longer))));
  CHECK(body.body == longer);
  CHECK(body.length == std::to_string(longer.size()));
  CHECK_FALSE(body.has_etag);
  CHECK(body.ending == RelayEnding::clean);
}

TEST_CASE("a stop before the head becomes a whole error answer") {
  const std::string refusal =
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not today"}})";
  const std::string at = GENERATE("step", "answer", "end");
  const auto inspector = watcher(at, Verdict::stop("not today"));
  const Downstream stream =
      relay(ResponseKind::stream, stream_items(), answered, held_back(inspector));
  CHECK(stream.status == 200);
  CHECK(stream.body == refusal);
  CHECK(stream.length == std::to_string(refusal.size()));
  CHECK(stream.ending == RelayEnding::clean);
  CHECK(stream.error == "stopped_by_inspector");
  CHECK(inspector->lasts == 1);
  if (at != "answer") return;
  CHECK(relay(ResponseKind::message, json_items(), answered,
              inspected_by(watcher(at, Verdict::stop("not today"))))
            .body == refusal);
}

TEST_CASE("a live stream whose head has not been sent can still be answered instead") {
  std::vector<BodyItem> items;
  items.emplace_back(event_of(step));
  const auto stop = inspected_by(watcher("step", Verdict::stop("no")));
  const Downstream seen = relay(ResponseKind::stream, std::move(items), answered, stop, false);
  CHECK(seen.ending == RelayEnding::clean);
  CHECK(seen.body.find("\"no\"") != std::string::npos);
}

TEST_CASE("a stop after the head breaks downstream off, the answer never sent") {
  const std::string at = GENERATE("step", "answer", "end");
  const auto inspector = watcher(at, Verdict::stop("no"));
  const Downstream seen =
      relay(ResponseKind::stream, stream_items(), answered, inspected_by(inspector));
  CHECK(seen.ending == RelayEnding::abort);
  CHECK(seen.body.find("result") == std::string::npos);
  CHECK(seen.error == "stopped_by_inspector");
  CHECK(inspector->lasts == 1);
}

TEST_CASE("what an inspector cannot have meant counts as stop") {
  const auto refused = [](const std::shared_ptr<Watcher>& inspector) {
    const Downstream seen =
        relay(ResponseKind::stream, stream_items(), answered, inspected_by(inspector));
    CHECK(seen.ending == RelayEnding::abort);
    CHECK(inspector->lasts == 1);
    return seen.error;
  };
  CHECK(refused(watcher("step", Verdict::replace("{"))) == "stopped_by_inspector");
  CHECK(refused(watcher("step", Verdict::replace("[]"))) == "stopped_by_inspector");
  CHECK(refused(watcher("end", Verdict::replace(other))) == "stopped_by_inspector");
  const auto thrower = watcher("step");
  thrower->throws = true;
  CHECK(refused(thrower) == "callback_threw");
}

TEST_CASE("an inspector hears of the end exactly once, whatever the end") {
  struct Case {
    Reason reason;
    ErrorCode code;
    RelayEnding live;
  };
  const auto end = GENERATE(
      Case{Reason::answered, ErrorCode::internal, RelayEnding::clean},
      Case{Reason::unanswered, ErrorCode::stream_ended_without_response, RelayEnding::clean},
      Case{Reason::cut, ErrorCode::body_truncated, RelayEnding::abort},
      Case{Reason::cancelled, ErrorCode::cancelled, RelayEnding::abort},
      Case{Reason::limit, ErrorCode::event_too_large, RelayEnding::clean},
      Case{Reason::failed, ErrorCode::timeout_idle, RelayEnding::clean},
      Case{Reason::failed, ErrorCode::session_expired, RelayEnding::abort});
  CAPTURE(to_string(end.code));
  for (const ResponseKind kind : {ResponseKind::stream, ResponseKind::message}) {
    for (const bool holds : {false, true}) {
      const auto inspector = watcher();
      std::vector<BodyItem> items;
      if (end.reason == Reason::answered) {
        items = kind == ResponseKind::stream ? stream_items() : json_items();
      } else if (kind == ResponseKind::stream) {
        items.emplace_back(event_of(step));
      }
      const Downstream seen = relay(kind, std::move(items), end_of(end.reason, end.code),
                                    holds ? held_back(inspector) : inspected_by(inspector));
      CHECK(inspector->lasts == 1);
      if (kind == ResponseKind::stream && !holds) CHECK(seen.ending == end.live);
      if (kind == ResponseKind::message || holds) CHECK(seen.ending == RelayEnding::clean);
    }
  }
}

TEST_CASE("the end is heard of even if nobody reads") {
  const auto inspector = watcher();
  { const RelayWriter writer({200, ResponseKind::stream, {}}, "1", inspected_by(inspector), 128); }
  CHECK(inspector->seen == "end! ");
}

TEST_CASE("a limit and a time-out inside a stream are told by an error for its request") {
  std::vector<BodyItem> items;
  items.emplace_back(event_of(step));
  const Downstream seen = relay(ResponseKind::stream, std::move(items),
                                end_of(Reason::limit, ErrorCode::event_too_large));
  CHECK(seen.body == "data: " + step + "\n\n" +
                         R"(data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":)" +
                         R"("event_too_large: why"}})" + "\n\n");
  CHECK(seen.error == "event_too_large");
}

TEST_CASE("a stream that waits for nothing is broken off at a limit") {
  const Downstream seen = relay(ResponseKind::stream, {},
                                end_of(Reason::limit, ErrorCode::event_too_large), {}, true, "");
  CHECK(seen.ending == RelayEnding::abort);
  CHECK(seen.body.empty());
}

TEST_CASE("what is too long to be inspected follows the rule, never half of each") {
  const ResponseKind kind = GENERATE(ResponseKind::stream, ResponseKind::message);
  const auto items = [kind] {
    return kind == ResponseKind::stream ? stream_items() : json_items();
  };
  const auto inspector = watcher("answer", Verdict::replace(other));
  RelayOptions options = held_back(inspector);
  options.max_whole_size = 10;
  SECTION("refused") {
    const Downstream seen = relay(kind, items(), answered, options);
    CHECK(seen.status == 502);
    CHECK(seen.error == "not_inspectable");
    CHECK(seen.body.find("result") == std::string::npos);
    CHECK(seen.ending == RelayEnding::clean);
  }
  SECTION("passed on untouched") {
    options.uninspected = RelayOptions::Uninspected::pass;
    const Downstream seen = relay(kind, items(), answered, options);
    CHECK(seen.body == (kind == ResponseKind::stream ? frames(step) : answer));
    CHECK(seen.has_etag == (kind == ResponseKind::message));
    CHECK(seen.ending == RelayEnding::clean);
  }
  CHECK(inspector->seen == "end! ");
}

TEST_CASE(
    "a JSON body that its head says cannot be inspected passes unseen where the rule is to pass") {
  const Header field =
      GENERATE(Header{"Content-Length", "1000"}, Header{"Cache-Control", "no-transform"});
  const auto watcher = std::make_shared<Watcher>();
  watcher->acts_on = "answer";
  watcher->verdict = Verdict::replace(other);
  RelayOptions options;
  options.inspector = watcher;
  options.max_whole_size = 999;
  options.uninspected = RelayOptions::Uninspected::pass;
  RelayWriter writer({200, ResponseKind::message, {{"Content-Type", "application/json"}, field}},
                     "1", options, 128);
  Collected collected;
  collected.outcome = Collected::Outcome::complete;
  collected.message = message_of(answer);
  writer.take_whole(std::move(collected), end_of(Reason::answered));
  CHECK(writer.take_output() == answer);
  CHECK(watcher->seen == "end! ");
}

TEST_CASE("an event that only looks like a message cannot slip past the inspector") {
  const auto items = [] {
    std::vector<BodyItem> made;
    made.emplace_back(Event({"", R"({"id":1,"id":2})", "", false, {}}));
    made.emplace_back(Event({"x", "text of another type is none", "", false, {}}));
    made.emplace_back(event_of(answer));
    return made;
  };
  const auto inspector = watcher();
  RelayOptions options = inspected_by(inspector);
  SECTION("refused") {
    const Downstream seen = relay(ResponseKind::stream, items(), answered, options);
    CHECK(seen.ending == RelayEnding::abort);
    CHECK(seen.body.empty());
    CHECK(seen.error == "not_inspectable");
  }
  SECTION("passed") {
    options.uninspected = RelayOptions::Uninspected::pass;
    CHECK(relay(ResponseKind::stream, items(), answered, options).ending == RelayEnding::clean);
    CHECK(inspector->seen == "answer end! ");
  }
}

TEST_CASE("a message in an event of another type is seen by the inspector too") {
  const auto items = [] {
    std::vector<BodyItem> made;
    made.emplace_back(Event({"other", step, "7", true, {}}));
    made.emplace_back(Event({"other", "ping", "", false, {}}));
    made.emplace_back(Event({"", step, "", false, {}, Event::Kind::comment}));
    made.emplace_back(event_of(answer));
    return made;
  };
  const auto replacing = watcher("step", Verdict::replace(other));
  CHECK(relay(ResponseKind::stream, items(), answered, inspected_by(replacing)).body ==
        "event: other\nid: 7\ndata: " + other + "\n\nevent: other\ndata: ping\n\n:" + step +
            "\n\ndata: " + answer + "\n\n");
  CHECK(replacing->seen == "step answer end! ");
  const auto stopping = watcher("step", Verdict::stop("no"));
  CHECK(relay(ResponseKind::stream, items(), answered, inspected_by(stopping)).body.empty());
}

TEST_CASE("a body whose type is in doubt is refused at its first byte, and passes without one") {
  const ResponseHead head{200, ResponseKind::body, {{"Content-Type", "application/json-seq"}}};
  const auto inspector = watcher();
  RelayOptions options = inspected_by(inspector);
  SECTION("refused") {
    RelayWriter writer(head, "1", options, 128);
    CHECK(writer.wants_first_part());
    writer.take(BodyPiece{answer});
    REQUIRE(writer.error());
    test::note_seen(*writer.error());
    CHECK(writer.error()->code == ErrorCode::not_inspectable);
    CHECK(writer.head().status == 502);
    CHECK(writer.take_output().find("result") == std::string::npos);
  }
  SECTION("refused too where the client is not to see the type") {
    RelayWriter writer(
        {200, ResponseKind::body, {{"Content-Type", "text/html"}, {"Connection", "content-type"}}},
        "1", options, 128);
    CHECK(writer.wants_first_part());
  }
  SECTION("nothing to refuse") {
    RelayWriter writer(head, "1", options, 128);
    writer.finish(answered);
    CHECK(writer.head().status == 200);
    CHECK(writer.ending() == RelayEnding::clean);
  }
  SECTION("passed on") {
    options.uninspected = RelayOptions::Uninspected::pass;
    RelayWriter writer(head, "1", options, 128);
    CHECK_FALSE(writer.wants_first_part());
    writer.take(BodyPiece{answer});
    CHECK(writer.take_output() == answer);
  }
  SECTION("not inspected, or of a type that is plainly another") {
    CHECK_FALSE(RelayWriter(head, "1", {}, 128).wants_first_part());
    const ResponseHead page{200, ResponseKind::body, {{"Content-Type", "text/html"}}};
    CHECK_FALSE(RelayWriter(page, "1", options, 128).wants_first_part());
  }
}

TEST_CASE("no Content-Length goes with a 204, and every other length is upstream's") {
  const auto length_under = [](int status) {
    ResponseHead head{status, ResponseKind::body, {{"content-length", "0"}, {"ETag", "x"}}};
    RelayWriter writer(std::move(head), "1", {}, 128);
    writer.finish(answered);
    CHECK(writer.head().find("ETag") != nullptr);
    return writer.head().find("Content-Length") != nullptr;
  };
  CHECK_FALSE(length_under(204));
  for (const int status : {200, 202, 205, 304}) CHECK(length_under(status));
}

TEST_CASE("JSON that is no message is refused or passed by the same rule") {
  const auto items = [] {
    std::vector<BodyItem> made;
    made.emplace_back(BodyPiece{"[]"});
    return made;
  };
  RelayOptions options = inspected_by(watcher());
  CHECK(relay(ResponseKind::message, items(), answered, options).error == "not_inspectable");
  options.uninspected = RelayOptions::Uninspected::pass;
  CHECK(relay(ResponseKind::message, items(), answered, options).body == "[]");
  CHECK(relay(ResponseKind::message, items(), answered).body == "[]");
}
