// The connection is cut after every byte of an answer, by FIN and by RST, for each form of call: it
// comes to the right answer or to an error that names the cut, once, and never hangs.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "era_server.hpp"
#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

enum class End { fin, rst };
enum class CallForm { blocking, pulled, asynchronous };

std::string name_of(End end) { return end == End::fin ? "FIN" : "RST"; }
std::string name_of(CallForm form) {
  switch (form) {
    case CallForm::blocking:
      return "blocking";
    case CallForm::pulled:
      return "pulled";
    case CallForm::asynchronous:
      break;
  }
  return "asynchronous";
}

// Writes the beginning of an answer, and cuts. On loopback what was written has arrived by then; a
// reset does not take it back.
void write_and_cut(Connection& connection, std::string_view answer, std::size_t size, End end) {
  const std::string_view beginning = answer.substr(0, size);
  if (end == End::fin) {
    connection.write_last(beginning);
    connection.close();
  } else {
    connection.write(beginning);
    connection.reset();
  }
}

const std::string result = result_json("1");
const std::string sse_head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
const std::string chunked_head = sse_head + "Transfer-Encoding: chunked\r\n\r\n";

struct Answer {
  const char* name;
  std::string bytes;
  std::size_t complete_at;  // from here on the answer is right
  std::set<ErrorCode> errors;
  std::size_t slack = 0;  // bytes more that only some versions of libcurl want to see
};

std::vector<Answer> answers() {
  const std::string json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                           std::to_string(result.size()) + "\r\n\r\n" + result;
  const std::string until_close =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + result;
  const std::string chunked_json =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n" +
      chunk(result.substr(0, 10)) + chunk(result.substr(10)) + std::string(last_chunk);
  const std::string progress = event(progress_json("1", 1));
  const std::string events = sse_head + "\r\n" + progress + event(result);
  const std::string chunked_events =
      chunked_head + chunk(progress) + chunk(event(result)) + std::string(last_chunk);
  const std::string sized_events =
      sse_head + "Content-Length: " + std::to_string(progress.size() + event(result).size()) +
      "\r\n\r\n" + progress + event(result);
  using enum ErrorCode;
  return {
      {"JSON of known length", json, json.size(), {connection_lost, body_truncated}},
      {"JSON up to the close",
       until_close,
       until_close.size(),
       {connection_lost, malformed_json, body_truncated}},
      {"JSON in chunks, after a 1xx",
       chunked_json,
       chunked_json.size() - 1,  // libcurl 7.88 does not miss the very last LF
       {connection_lost, body_truncated},
       1},
      // Its last event is taken although the blank line is missing, see rule 1.
      {"events up to the close",
       events,
       events.size() - 2,
       {connection_lost, stream_ended_without_response, malformed_json}},
      {"events in chunks",
       chunked_events,
       chunked_events.size() - last_chunk.size() - 2,
       {connection_lost, stream_ended_without_response}},
      {"events of known length",
       sized_events,
       sized_events.size(),
       {connection_lost, stream_ended_without_response}},
  };
}

// What an exchange came to: the answer, or why there is none.
struct Outcome {
  std::optional<std::string> answer;
  std::optional<ErrorCode> error;
};

Outcome outcome_of(const Result<Message>& message) {
  if (message) return {std::string(message->json()), std::nullopt};
  return {std::nullopt, message.error().code};
}

Outcome pull(Transport& transport) {
  auto response = transport.post(call_json(1));
  if (!response) return {std::nullopt, response.error().code};
  EventStream* const events = response->events();
  if (events == nullptr) return outcome_of(response->message());
  Outcome outcome;
  while (auto event = events->next()) {
    if (event->is_response()) outcome.answer = std::string(event->data());
  }
  CHECK_FALSE(events->next());
  if (events->end().error) outcome.error = events->end().error->code;
  if (outcome.error || outcome.answer) return outcome;
  return outcome_of(response->message());  // rescued from an unfinished event
}

// Keeps what listened, to be asked once nothing can come any more.
class Listeners {
 public:
  Outcome listen(Transport& transport) {
    const auto recorder = std::make_shared<Recorder>();
    all_.push_back(recorder);
    const Call call = transport.start_post(call_json(1), {}, recorder);
    REQUIRE(recorder->wait_end());
    const auto events = recorder->events();
    Outcome outcome{recorder->message(), recorder->error()};
    if (!outcome.answer && !events.empty() && events.back() == result) outcome.answer = result;
    return outcome;
  }
  void check() const {
    for (const auto& recorder : all_) {
      if (recorder->ends() != 1 || recorder->misused()) FAIL("called again after its end");
    }
  }

 private:
  std::vector<std::shared_ptr<Recorder>> all_;
};

Outcome run(Transport& transport, CallForm form, Listeners& listeners) {
  switch (form) {
    case CallForm::blocking:
      return outcome_of(exchange(transport, call_json(1)));
    case CallForm::pulled:
      return pull(transport);
    case CallForm::asynchronous:
      break;
  }
  return listeners.listen(transport);
}

// The answer or an error, and the right one of the two.
void check_outcome(const Outcome& outcome, const Answer& answer, std::size_t cut, End end) {
  CAPTURE(cut);
  if (outcome.error && !outcome.answer) {
    CAPTURE(to_string(*outcome.error));
    CHECK(answer.errors.count(*outcome.error) == 1);
    // A reset is seen as such where only an orderly end completes the body.
    const bool had_all = cut >= answer.complete_at + answer.slack && end == End::fin;
    CHECK_FALSE(had_all);
  } else {
    REQUIRE(outcome.answer);
    CHECK_FALSE(outcome.error);
    CHECK(*outcome.answer == result);
    CHECK(cut >= answer.complete_at);
  }
}

}  // namespace

TEST_CASE("an answer cut after any byte is right or names the cut, in each form of call") {
  const auto end = GENERATE(End::fin, End::rst);
  const auto form = GENERATE(CallForm::blocking, CallForm::pulled, CallForm::asynchronous);
  for (const Answer& answer : answers()) {
    INFO(answer.name << ", " << name_of(end) << ", " << name_of(form));
    std::atomic<std::size_t> cut{0};
    ScriptedServer server([&](Connection& connection, const Request&) {
      write_and_cut(connection, answer.bytes, cut, end);
    });
    Listeners listeners;
    {
      Transport transport = make_transport(server);
      for (cut = 0; cut <= answer.bytes.size(); ++cut)
        check_outcome(run(transport, form, listeners), answer, cut, end);
    }
    listeners.check();
    CHECK(server.requests().size() == answer.bytes.size() + 1);
    CHECK(server.faults().empty());
  }
}

namespace {

const std::string priming = "id: 1\nretry: 1\ndata:\n\n";
const std::string second_event = "id: 2\n" + event(progress_json("1", 1));
const std::string last_event = "id: 3\n" + event(result);

// A legacy stream whose events can be had again by their ids. Cuts the request of that number; the
// others are answered whole.
class ResumableServer {
 public:
  ResumableServer(std::size_t cut_request, End end)
      : cut_request_(cut_request),
        end_(end),
        server_([this](Connection& connection, const Request& request) {
          serve(connection, request);
        }) {}

  void cut_at(std::size_t size) {
    cut_ = size;
    served_ = 0;
  }
  std::size_t served() const { return served_; }
  const ScriptedServer& http() const { return server_; }

  // What is sent from the event after that one on.
  static std::string after(const std::string& id) {
    std::string bytes = chunked_head;
    if (id.empty()) bytes += chunk(priming);
    if (id.empty() || id == "1") bytes += chunk(second_event);
    return bytes + chunk(last_event) + std::string(last_chunk);
  }

 private:
  void serve(Connection& connection, const Request& request) {
    const std::size_t number = served_++;
    const std::string bytes = after(request.header("Last-Event-ID").value_or(""));
    // The first stream always breaks off, so that there is something to take up again.
    const std::size_t first = chunked_head.size() + chunk(priming).size();
    if (number < cut_request_) return write_and_cut(connection, bytes, first, End::fin);
    if (number == cut_request_) return write_and_cut(connection, bytes, cut_, end_);
    connection.write(bytes);
  }

  const std::size_t cut_request_;
  const End end_;
  std::atomic<std::size_t> cut_{0};
  std::atomic<std::size_t> served_{0};
  ScriptedServer server_;
};

TransportOptions resuming_options(const ScriptedServer& server) {
  auto options = options_for(server);
  options.protocol_version = "2025-11-25";
  options.reconnection = {1ms, 2ms, 3};
  return options;
}

}  // namespace

TEST_CASE("a resumable stream cut after any byte is taken up again as soon as it has an event id") {
  struct Way {
    CallForm form;
    End end;
  };
  const auto way = GENERATE(Way{CallForm::blocking, End::fin}, Way{CallForm::pulled, End::fin},
                            Way{CallForm::asynchronous, End::rst});
  INFO(name_of(way.end) << ", " << name_of(way.form));
  ResumableServer server(0, way.end);
  Listeners listeners;
  {
    Transport transport = make_transport(resuming_options(server.http()));
    const std::size_t has_id = (chunked_head + chunk(priming)).size() - 2;  // but for the CRLF
    const std::size_t size = ResumableServer::after("").size();
    const std::size_t complete = size - last_chunk.size() - 2;
    for (std::size_t cut = 0; cut <= size; ++cut) {
      CAPTURE(cut);
      server.cut_at(cut);
      const Outcome outcome = run(transport, way.form, listeners);
      CHECK(outcome.answer.has_value() == (cut >= has_id));
      if (outcome.answer) {
        CHECK(*outcome.answer == result);
        CHECK(server.served() == (cut >= complete ? 1 : 2));
      } else {
        const bool in_head = cut < chunked_head.size();
        CHECK(outcome.error ==
              (in_head ? ErrorCode::connection_lost : ErrorCode::stream_ended_without_response));
        CHECK(server.served() == 1);
      }
    }
  }
  listeners.check();
}

namespace {

// One of several calls at a time: each has to wait for a while before it goes on.
struct Lane {
  explicit Lane(End end)
      : server(1, end), transport(make_transport(resuming_options(server.http()))) {}

  void start(std::size_t cut) {
    server.cut_at(cut);
    recorder = std::make_shared<Recorder>();
    call = transport.start_post(call_json(1), {}, recorder);
  }

  ResumableServer server;
  Transport transport;
  std::shared_ptr<Recorder> recorder;
  Call call;
};

}  // namespace

TEST_CASE("a stream cut again after any byte while it is taken up brings each event once") {
  const auto end = GENERATE(End::fin, End::rst);
  INFO(name_of(end));
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < 16; ++i) lanes.push_back(std::make_unique<Lane>(end));
  for (std::size_t first = 0; first <= ResumableServer::after("1").size(); first += lanes.size()) {
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i]->start(first + i);
    for (const auto& lane : lanes) {
      INFO("cut after about " << first);
      const Recorder& recorder = *lane->recorder;
      REQUIRE(recorder.wait_end());
      CHECK(recorder.end()->reason == ExchangeEnd::Reason::answered);
      CHECK(recorder.events() == std::vector<std::string>{"", progress_json("1", 1), result});
      CHECK(recorder.ends() == 1);
      CHECK_FALSE(recorder.misused());
    }
  }
}

namespace {

constexpr std::string_view agreement =
    R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}})";
constexpr std::string_view discovery =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}})";

// Cuts the answers to one method, and gives the others whole.
struct Handshake {
  Era era;
  std::string cut_method;
  std::size_t cut = 0;
  End end = End::fin;

  std::string answer(const Request& request) const {
    if (id_of(request) == "null") return "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
    const auto message = result_json(id_of(request), era == Era::modern ? discovery : agreement);
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMCP-Session-Id: s\r\n"
           "Content-Length: " +
           std::to_string(message.size()) + "\r\n\r\n" + message;
  }
};

}  // namespace

TEST_CASE("a client whose connection is cut after any byte of the handshake connects or says why") {
  const auto end = GENERATE(End::fin, End::rst);
  struct Step {
    Era era;
    const char* method;
  };
  const auto step =
      GENERATE(Step{Era::legacy, "initialize"}, Step{Era::legacy, "notifications/initialized"},
               Step{Era::modern, "server/discover"}, Step{Era::automatic, "server/discover"});
  INFO(step.method << ", " << name_of(end));
  const Era answers_as = step.era == Era::legacy ? Era::legacy : Era::modern;
  Handshake handshake{answers_as, step.method, 0, end};
  std::atomic<std::size_t> size{1};
  for (std::size_t cut = 0; cut <= size; ++cut) {
    CAPTURE(cut);
    handshake.cut = cut;
    ScriptedServer server([&](Connection& connection, const Request& request) {
      const std::string answer = handshake.answer(request);
      if (method_of(request) != handshake.cut_method)
        return static_cast<void>(connection.write(answer));
      size = answer.size();
      write_and_cut(connection, answer, handshake.cut, end);
    });
    ClientOptions options;
    options.url = server.url();
    options.era = step.era;
    const auto client = Client::connect(std::move(options));
    // After a reset the answer may be there, and the connection gone for what is sent next.
    if (end == End::fin || cut < size) CHECK(client.has_value() == (cut == size));
    if (!client) {
      const ErrorCode code = client.error().code;
      CHECK((code == ErrorCode::connection_lost || code == ErrorCode::body_truncated));
    }
    // A cut is no sign of an era: nobody is asked to `initialize` for it.
    if (answers_as == Era::modern) {
      for (const Request& request : server.requests()) CHECK(method_of(request) != "initialize");
    }
  }
}
