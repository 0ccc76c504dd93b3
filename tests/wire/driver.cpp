#include "wire/driver.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include <mcphttp/transport.hpp>

#include "wire/case_server.hpp"
#include "wire/client_setup.hpp"
#include "wire/recorder.hpp"

namespace mcphttp::test::wire {
namespace {

// Beyond the times of the case, for what must happen in the end.
constexpr Milliseconds guard{15'000};
// After the outcome, for requests that must not come, where the case does not say how long.
constexpr Milliseconds shortest_watch{30};

Milliseconds now_since(TimePoint start) {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - start);
}

bool has_ended(const Recording& recording) { return recording.end.has_value(); }

// Everything a run has: servers, the client, what was seen.
class Run {
 public:
  Run(const Script& script, double time_scale)
      : script_(script),
        scale_(time_scale),
        recorder_(std::make_shared<Recorder>()),
        server_(script, time_scale, script.expect.value("connection", "") == "closed_by_client") {
    recorder_->pause_after_events = script.config.pause_after_events;
    if (script.config.consumer_pause.count() != 0) {
      recorder_->pause_after_events = std::max<std::size_t>(recorder_->pause_after_events, 1);
    }
  }
  virtual ~Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Observation run() {
    set_up();
    server_.begin_case();
    seen_.started_at = std::chrono::steady_clock::now();
    start();
    send_companions(true);
    pause_consumer();
    await_outcome();
    send_companions(false);
    watch();
    conclude();
    return std::move(seen_);
  }

 protected:
  virtual void set_up() = 0;
  virtual void start() = 0;
  virtual void resume() = 0;
  // Sends another request and waits for its answer: why there is none, or nothing.
  virtual std::string send(const RequestPattern& request) = 0;
  virtual std::string session() const = 0;

  const RequestPattern& request() const { return script_.replies.front().request; }
  TransportOptions options() {
    TransportOptions made = make_options(script_, server_.url(), scale_);
    made.on_warning = [recorder = recorder_](const Warning& warning) {
      recorder->note_warning(warning);
    };
    return made;
  }

  const Script& script_;
  const double scale_;
  const std::shared_ptr<Recorder> recorder_;
  CaseServer server_;
  Observation seen_;

 private:
  Milliseconds patience() const { return scaled(script_.limits.total + guard, scale_); }

  // Parallel ones go out while the case's own request is under way, the others after it.
  void send_companions(bool parallel) {
    for (std::size_t i = 1; i < script_.replies.size(); ++i) {
      const Reply& reply = script_.replies[i];
      if (reply.parallel != parallel || !is_sent_by_harness(script_, reply)) continue;
      server_.wait_for_requests(parallel ? i : 1, patience());
      Companion& companion = seen_.companions.emplace_back();
      companion.rpc = reply.request.rpc;
      companion.started_at = std::chrono::steady_clock::now();
      companion.failure = send(reply.request);
      companion.ended_at = std::chrono::steady_clock::now();
    }
  }

  void pause_consumer() {
    const std::size_t events = recorder_->pause_after_events;
    if (events == 0) return;
    recorder_->wait(
        [events](const Recording& recording) {
          return recording.events.size() >= events || has_ended(recording);
        },
        patience());
    std::this_thread::sleep_for(scaled(script_.config.consumer_pause, scale_));
    resume();
  }

  void await_outcome() {
    const bool settles = request().method == "GET" && !request().id;
    if (!settles) {
      recorder_->wait(has_ended, patience());
      return;
    }
    const std::string stream = script_.expect.value("stream", "");
    const std::size_t heads = stream == "reopened" ? 2U : 1U;
    const std::size_t events = script_.expect.value("events", Json::array()).size();
    const auto waiting_since = std::chrono::steady_clock::now();
    if (stream != "not_offered" && script_.expect.value("outcome", "") == "accepted") {
      server_.wait_for_all_ends(patience());
    }
    recorder_->wait(
        [&](const Recording& recording) {
          return has_ended(recording) ||
                 (recording.heads >= heads && recording.events.size() >= events &&
                  script_.expect.value("outcome", "") == "accepted");
        },
        std::max(patience() - now_since(waiting_since), Milliseconds{0}));
  }

  // Waits for what must not come, and for what takes longer than the outcome.
  void watch() {
    const Milliseconds asked{script_.expect.value("watch_ms", 0)};
    std::this_thread::sleep_for(scaled(std::max(asked, shortest_watch), scale_));
    if (script_.expect.contains("connection")) server_.wait_for_first_end(patience());
    if (script_.expect.contains("follow_ups")) {
      server_.wait_for_requests(1 + script_.expect["follow_ups"].size(),
                                scaled(Milliseconds{1000}, scale_));
    }
  }

  void conclude() {
    seen_.recording = recorder_->snapshot();
    seen_.session = session();
    seen_.requests = server_.requests();
    seen_.other_origin_requests = server_.other_origin_requests();
    seen_.port = server_.port();
    seen_.other_port = server_.other_port();
    seen_.faults = server_.faults();
    judge_end();
    server_.begin_probes();
    if (script_.expect.contains("next_initialize")) seen_.next_initialize = probe("initialize");
    if (script_.expect.contains("scope")) seen_.next_call = probe("tools/list");
  }

  // The outcome, in the words of the cases.
  void judge_end() {
    const Recording& recording = seen_.recording;
    const bool is_stream = request().method == "GET" && !request().id;
    if (is_stream) seen_.stream = recording.heads > 1 ? "reopened" : "open";
    if (!recording.end) {
      if (is_stream && recording.heads > 0) seen_.outcome = "accepted";
      return;
    }
    const ExchangeEnd& end = *recording.end;
    if (end.reason == ExchangeEnd::Reason::answered && !recording.answers.empty()) {
      const Json answer = Json::parse(recording.answers.back(), nullptr, false);
      seen_.outcome = answer.is_object() && answer.contains("error") ? "rpc_error" : "result";
    } else if (end.reason == ExchangeEnd::Reason::accepted) {
      seen_.outcome = "accepted";
    } else if (end.reason == ExchangeEnd::Reason::not_offered) {
      seen_.outcome = "accepted";
      seen_.stream = "not_offered";
    } else {
      seen_.outcome = "transport_error";
      seen_.stream.clear();
      seen_.error = end.error;
    }
  }

  Probe probe(const std::string& rpc) {
    RequestPattern pattern;
    pattern.method = "POST";
    pattern.rpc = rpc;
    pattern.id = Json("probe");
    Probe made;
    made.failure = send(pattern);
    for (const Request& received : server_.all_requests()) {
      if (rpc_of(received) == rpc) made.request = received;
    }
    return made;
  }
};

std::string failure_of(const std::optional<ExchangeEnd>& end) {
  if (!end) return "no outcome in time";
  return end->error ? end->error->to_string() : std::string();
}

class TransportRun final : public Run {
 public:
  TransportRun(const Script& script, double time_scale) : Run(script, time_scale) {}

 private:
  void set_up() override {
    auto made = Transport::create(options());
    if (!made) throw std::runtime_error(made.error().to_string());
    transport_ = std::make_unique<Transport>(std::move(*made));
    if (script_.setup != Setup::session) return;
    RequestPattern handshake;
    handshake.rpc = "initialize";
    handshake.id = Json(0);
    auto answer = transport_->post(make_message(script_, handshake));
    if (!answer || !answer->message()) throw std::runtime_error("the handshake failed");
    handshake.rpc = "notifications/initialized";
    handshake.id.reset();
    if (!transport_->post(make_message(script_, handshake))) {
      throw std::runtime_error("notifications/initialized was refused");
    }
  }

  void start() override {
    recorder_->on_request = [this](const Message& asked) {
      transport_->start_post(make_answer(script_, asked), {}, std::make_shared<Recorder>())
          .detach();
    };
    if (request().method == "GET") {
      start_stream();
    } else if (request().method == "DELETE") {
      const auto ended = transport_->end_session(send_options(request()));
      if (ended) recorder_->note_end(ExchangeEnd::Reason::accepted, std::nullopt);
      if (!ended) recorder_->note_end(ExchangeEnd::Reason::failed, ended.error());
    } else {
      call_ = transport_->start_post(make_message(script_, request()), send_options(request()),
                                     recorder_);
    }
  }

  void start_stream() {
    StreamOptions stream;
    for (const Header& header : request().headers) {
      if (header.name == "Last-Event-ID") {
        stream.last_event_id = header.value;
      } else {
        stream.send.headers.push_back(header);
      }
    }
    if (request().id) stream.request_id = request().id->dump();
    call_ = transport_->start_stream(std::move(stream), recorder_);
  }

  static SendOptions send_options(const RequestPattern& pattern) {
    SendOptions send;
    send.headers = pattern.headers;
    return send;
  }

  void resume() override { call_.resume(); }

  std::string send(const RequestPattern& pattern) override {
    const auto recorder = std::make_shared<Recorder>();
    const Call call =
        transport_->start_post(make_message(script_, pattern), send_options(pattern), recorder);
    recorder->wait(has_ended, scaled(script_.limits.total + guard, scale_));
    return failure_of(recorder->snapshot().end);
  }

  std::string session() const override { return transport_->session().id; }

  std::unique_ptr<Transport> transport_;
  Call call_;
};

class ClientRun final : public Run {
 public:
  ClientRun(const Script& script, double time_scale) : Run(script, time_scale) {
    seen_.through_client = true;
  }

 private:
  void set_up() override {
    ClientOptions made;
    static_cast<TransportOptions&>(made) = options();
    made.protocol_version.clear();
    made.era = script_.setup == Setup::stateless ? Era::modern : Era::legacy;
    add_handlers(made);
    const bool opens_stream = !made.request_handlers.empty() && made.era == Era::legacy;
    auto client = Client::connect(std::move(made));
    if (!client) throw std::runtime_error(client.error().to_string());
    client_ = std::make_unique<Client>(std::move(*client));
    // The handshake's two requests, and the stream that the harness does not offer.
    const auto deadline = std::chrono::steady_clock::now() + guard;
    while (opens_stream && server_.all_requests().size() < 3 &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(Milliseconds{1});
    }
  }

  // Only where the case says what the application answers: handlers make the client open a stream.
  void add_handlers(ClientOptions& options) {
    const Json follow_ups = script_.expect.value("follow_ups", Json::array());
    const bool answers =
        std::any_of(follow_ups.begin(), follow_ups.end(), [](const Json& follow_up) {
          const Json body = follow_up.is_object() ? follow_up.value("body", Json()) : Json();
          return body.is_object() && body.contains("result") && !body["result"].empty();
        });
    if (!answers) return;
    for (const char* method : {"sampling/createMessage", "elicitation/create", "roots/list"}) {
      options.request_handlers[method] = [this](const Message& asked, Responder responder) {
        const Json answer = find_answer(script_, asked);
        if (!answer.is_object() || !answer.contains("result")) {
          return responder.error(-32601, "Method not found");
        }
        static_cast<void>(responder.result(answer["result"].dump()));
      };
    }
  }

  void start() override {
    if (request().method != "POST" || request().rpc == "initialize") {
      throw std::runtime_error("cannot be sent through Client");
    }
    const std::string params = make_params(script_, request()).dump();
    if (!request().id) {
      const auto accepted = client_->notify(request().rpc, params);
      if (accepted) return recorder_->note_end(ExchangeEnd::Reason::accepted, std::nullopt);
      return recorder_->note_end(ExchangeEnd::Reason::failed, accepted.error());
    }
    CallOptions call;
    call.headers = request().headers;
    call.on_notification = [recorder = recorder_](const Message& message) {
      recorder->note_message(message);
    };
    call_ = client_->start_request(
        request().rpc, params, std::move(call),
        [recorder = recorder_](const Result<Message>& answer) { note_answer(*recorder, answer); });
  }

  static void note_answer(Recorder& recorder, const Result<Message>& answer) {
    if (answer) {
      recorder.note_message(*answer);
      recorder.note_end(ExchangeEnd::Reason::answered, std::nullopt);
    } else if (answer.error().code == ErrorCode::rpc_error) {
      const Error& error = answer.error();
      Json object = {{"code", error.rpc_code}, {"message", error.rpc_message}};
      if (!error.rpc_data.empty()) object["data"] = Json::parse(error.rpc_data, nullptr, false);
      auto message =
          Message::parse(Json{{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", object}}.dump());
      if (message) recorder.note_message(*message);
      recorder.note_end(ExchangeEnd::Reason::answered, error);
    } else {
      recorder.note_end(ExchangeEnd::Reason::failed, answer.error());
    }
  }

  void resume() override { call_.resume(); }

  std::string send(const RequestPattern& pattern) override {
    const std::string params = make_params(script_, pattern).dump();
    if (!pattern.id) {
      const auto accepted = client_->notify(pattern.rpc, params);
      return accepted ? std::string() : accepted.error().to_string();
    }
    const auto answer = client_->request(pattern.rpc, params);
    return answer ? std::string() : answer.error().to_string();
  }

  std::string session() const override { return client_->session_id(); }

  std::unique_ptr<Client> client_;
  Call call_;
};

}  // namespace

Observation drive(const Script& script, double time_scale) {
  if (needs_client(script)) return ClientRun(script, time_scale).run();
  return TransportRun(script, time_scale).run();
}

}  // namespace mcphttp::test::wire
