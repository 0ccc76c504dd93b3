// A call is ended from outside in every state it can be in, in each way there is, as a call of a
// Transport and of a Client: one end, nothing after it, nothing left behind.
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "helpers.hpp"
#include "support/memory.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

enum class Moment {
  before_start,
  connecting,
  request_sent,
  after_interim,
  in_headers,
  headers_in,
  mid_json,
  mid_event,
  paused,
  in_callback,
  waiting_to_resume,
  resuming,
  waiting_for_session,
  waiting_for_credentials,
  waiting_for_refresh,
  waiting_for_input,
  draining,
  ended,
};
enum class Owner { transport, client };
enum class Way { stop_token, cancel, destroy_call, destroy_owner, flow_cancel };

std::string name_of(Moment moment) {
  static const std::vector<std::string> names = {"before it is started",
                                                 "while it connects",
                                                 "once the request is sent",
                                                 "after a 1xx block",
                                                 "inside the headers",
                                                 "when the headers are in",
                                                 "inside a JSON body",
                                                 "inside an event",
                                                 "while it is paused, with events queued",
                                                 "inside a callback",
                                                 "while it waits to resume",
                                                 "while it resumes",
                                                 "while it waits for a new session",
                                                 "while it waits for credentials",
                                                 "while it waits for fresh credentials",
                                                 "while it waits for input",
                                                 "while it drains",
                                                 "after its end"};
  return names[static_cast<std::size_t>(moment)];
}

std::string name_of(Way way) {
  static const std::vector<std::string> names = {"stop token", "cancel()", "Call destroyed",
                                                 "owner destroyed", "Flow::cancel"};
  return names[static_cast<std::size_t>(way)];
}

// Never decides anything by itself: the test does, later than all is over.
class SlowAuthorizer final : public Authorizer {
 public:
  SlowAuthorizer(bool holds_first, Gate& asked) : holds_first_(holds_first), asked_(asked) {}

  void authorize(const std::string&, std::function<void(std::string)> done) override {
    if (!holds_first_) return done("Bearer first");
    hold([done = std::move(done)] { done("Bearer late"); });
  }
  void refused(const AuthorizationRefusal&, std::function<void(bool)> done) override {
    hold([done = std::move(done)] { done(true); });
  }
  void decide() {
    const std::lock_guard lock(mutex_);
    if (decide_) decide_();
  }

 private:
  void hold(std::function<void()> decide) {
    {
      const std::lock_guard lock(mutex_);
      decide_ = std::move(decide);
    }
    asked_.open();
  }

  const bool holds_first_;
  Gate& asked_;
  std::mutex mutex_;
  std::function<void()> decide_;
};

// Records what a Client's call tells; misuse as a Recorder sees it.
class Outcome {
 public:
  void hear() {
    if (ends() != 0) misused_ = true;
  }
  void finish(const Result<Message>& answer) {
    hear();
    if (!answer) error_ = answer.error().code;
    end_.open();
  }
  bool wait_end() const { return end_.wait(guard); }
  std::size_t ends() const { return end_.times_opened(); }
  bool misused() const { return misused_; }
  std::optional<ErrorCode> error() const { return error_; }

 private:
  std::atomic<bool> misused_{false};
  std::optional<ErrorCode> error_;
  Gate end_;
};

constexpr std::string_view discovery =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}})";
constexpr std::string_view input_required =
    R"({"resultType":"input_required","inputRequests":{"who":)"
    R"({"method":"elicitation/create","params":{"message":"name?"}}}})";

// One call, and a server that leads it to the moment and stays there.
class Scene {
 public:
  Scene(Moment moment, Owner owner)
      : moment_(moment),
        owner_(owner),
        server_([this](Connection& connection, const Request& request) {
          serve(connection, request);
        }) {
    if (owner_ == Owner::transport) {
      recorder_->each_event = [this](const Event&) { return on_event(); };
      transport_ = make_transport(options<TransportOptions>());
    } else {
      auto client = Client::connect(options<ClientOptions>());
      REQUIRE(client);
      client_ = std::move(*client);
    }
  }

  void play(Way way) {
    way_ = way;
    if (moment_ == Moment::before_start && way == Way::stop_token) stop_.request_stop();
    start();
    reach();
    if (moment_ != Moment::in_callback) act();
  }

  bool wait_end() const { return is_client() ? outcome_->wait_end() : recorder_->wait_end(); }
  std::size_t ends() const { return is_client() ? outcome_->ends() : recorder_->ends(); }
  bool misused() const { return is_client() ? outcome_->misused() : recorder_->misused(); }
  std::optional<ErrorCode> error() const {
    return is_client() ? outcome_->error() : recorder_->error();
  }
  std::vector<std::string> faults() const { return server_.faults(); }
  // What others still owed the call comes now.
  void answer_late() {
    if (authorizer_) authorizer_->decide();
    const std::lock_guard lock(mutex_);
    if (responder_) responder_->result(R"({"action":"accept"})");
  }

 private:
  bool is_client() const { return owner_ == Owner::client; }
  bool is_modern() const { return moment_ == Moment::waiting_for_input; }

  template <class Options>
  Options options() {
    Options options;
    options.url = moment_ == Moment::connecting
                      ? "https://127.0.0.1:" + std::to_string(local_port(mute_)) + "/mcp"
                      : server_.url();
    options.reconnection = {10s, 10s, 5};
    if (moment_ == Moment::resuming) options.reconnection = {1ms, 1ms, 5};
    if (!is_modern()) {
      options.session_id = "s";
      options.protocol_version = "2025-11-25";
    }
    const bool at_first = moment_ == Moment::waiting_for_credentials;
    if (at_first || moment_ == Moment::waiting_for_refresh) {
      authorizer_ = std::make_shared<SlowAuthorizer>(at_first, reached_);
      options.authorizer = authorizer_;
    }
    if constexpr (std::is_same_v<Options, ClientOptions>) {
      options.era = is_modern() ? Era::modern : Era::legacy;
      if (is_modern()) options.request_handlers["elicitation/create"] = holder();
    }
    return options;
  }

  RequestHandler holder() {
    return [this](const Message&, Responder responder) {
      {
        const std::lock_guard lock(mutex_);
        responder_.emplace(std::move(responder));
      }
      reached_.open();
    };
  }

  void start() {
    if (!is_client()) {
      SendOptions send;
      send.stop = stop_.get_token();
      call_ = transport_->start_post(call_json(1), send, recorder_);
    } else {
      CallOptions call;
      call.stop = stop_.get_token();
      call.on_progress = [this](const Progress&) {
        outcome_->hear();
        on_event();
      };
      call_ = client_->start_request(
          "tools/call", R"({"name":"t"})", call,
          [outcome = outcome_](const Result<Message>& answer) { outcome->finish(answer); });
    }
    started_.open();
  }

  // --- The server

  void serve(Connection& connection, const Request& request) {
    // A stream that is not taken up again, a session that does not come.
    if (request.method == "GET") return write_and_stay(connection, "");
    const std::string method = method_of(request);
    if (method == "initialize") return write_and_stay(connection, "");
    if (method == "server/discover") return answer_json(connection, request, discovery);
    if (method == "tools/call") return serve_call(connection, request);
    accept_message(connection);
  }

  void serve_call(Connection& connection, const Request& request) {
    started_.wait();
    switch (moment_) {
      case Moment::after_interim:
        return write_and_stay(connection, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
      case Moment::in_headers:
        return write_and_stay(connection, "HTTP/1.1 200 OK\r\nContent-Type: text/ev");
      case Moment::mid_json:
        return write_and_stay(connection,
                              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                              "Content-Length: 100\r\n\r\n{\"jsonrpc\"");
      case Moment::waiting_for_session:
        return static_cast<void>(connection.write_response(404, {}, ""));
      case Moment::waiting_for_refresh:
        return static_cast<void>(
            connection.write_response(401, {{"WWW-Authenticate", "Bearer"}}, ""));
      case Moment::waiting_for_input:
        return answer_json(connection, request, input_required);
      case Moment::ended:
        return answer_json(connection, request);
      case Moment::before_start:
      case Moment::connecting:
      case Moment::request_sent:
      case Moment::waiting_for_credentials:
        return write_and_stay(connection, "");
      case Moment::headers_in:
      case Moment::mid_event:
      case Moment::paused:
      case Moment::in_callback:
      case Moment::waiting_to_resume:
      case Moment::resuming:
      case Moment::draining:
        break;
    }
    stream(connection, request);
  }

  void stream(Connection& connection, const Request& request) {
    begin_stream(connection);
    const std::string progress = progress_json(is_client() ? id_of(request) : "1", 1);
    if (moment_ == Moment::mid_event) connection.write_chunk("data: {\"jsonrpc\"");
    if (moment_ == Moment::paused || moment_ == Moment::in_callback) {
      for (int i = 0; i < 3; ++i) send_event(connection, progress);
    }
    if (moment_ == Moment::draining) send_event(connection, result_json(id_of(request)));
    const bool breaks = moment_ == Moment::waiting_to_resume || moment_ == Moment::resuming;
    if (!breaks) return write_and_stay(connection, "");
    connection.write_chunk("id: 1\ndata:\n\n");
    connection.close();
    if (moment_ == Moment::waiting_to_resume) reached_.open();
  }

  void write_and_stay(Connection& connection, std::string_view bytes) {
    connection.write(bytes);
    reached_.open();
    stay(connection);
  }
  static void stay(Connection& connection) { connection.peer_closed(guard); }

  // --- The client

  Flow on_event() {
    if (moment_ == Moment::paused) {
      inside_.open();
      return Flow::pause;
    }
    if (moment_ != Moment::in_callback || inside_.times_opened() != 0) return Flow::proceed;
    if (way_ != Way::flow_cancel) act();
    inside_.open();
    return way_ == Way::flow_cancel ? Flow::cancel : Flow::proceed;
  }

  void reach() {
    if (moment_ == Moment::before_start || moment_ == Moment::connecting) return;
    if (moment_ == Moment::ended || moment_ == Moment::draining) REQUIRE(wait_end());
    if (moment_ == Moment::in_callback || (moment_ == Moment::paused && !is_client())) {
      REQUIRE(inside_.wait());
    } else if (moment_ != Moment::ended) {
      REQUIRE(reached_.wait());
    }
    if (moment_ == Moment::headers_in && !is_client()) REQUIRE(recorder_->wait_headers());
    std::this_thread::sleep_for(3ms);  // for the client to read what the server has written
  }

  void act() {
    switch (way_) {
      case Way::stop_token:
        stop_.request_stop();
        return;
      case Way::cancel:
        call_.cancel();
        return;
      case Way::destroy_call:
        call_ = Call();
        return;
      case Way::destroy_owner:
        transport_.reset();
        client_.reset();
        return;
      case Way::flow_cancel:
        return;
    }
  }

  const Moment moment_;
  const Owner owner_;
  Way way_ = Way::cancel;
  Gate started_;
  Gate reached_;
  Gate inside_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::optional<Responder> responder_;  // guarded
  std::shared_ptr<SlowAuthorizer> authorizer_;
  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  const std::shared_ptr<Outcome> outcome_ = std::make_shared<Outcome>();
  const Socket mute_ = listen_loopback(AF_INET, 0);  // the kernel accepts, nobody speaks TLS
  ScriptedServer server_;
  std::optional<Transport> transport_;
  std::optional<Client> client_;
  Call call_;
};

bool waits_for_application(Moment moment) {
  return moment == Moment::waiting_for_credentials || moment == Moment::waiting_for_refresh ||
         moment == Moment::waiting_for_input;
}

bool can_be(Moment moment, Owner owner, Way way) {
  if (way == Way::flow_cancel && (moment != Moment::in_callback || owner == Owner::client))
    return false;
  const bool is_clients =
      moment == Moment::waiting_for_session || moment == Moment::waiting_for_input;
  return owner == Owner::client || !is_clients;
}

// `late`: the application still gives what it was asked for; else it keeps what it could answer by.
void check(Moment moment, Owner owner, Way way, bool late) {
  Scene scene(moment, owner);
  scene.play(way);

  const bool by_destructor = way == Way::destroy_call || way == Way::destroy_owner;
  if (by_destructor) CHECK(scene.ends() == 1);  // on return already
  REQUIRE(scene.wait_end());
  if (late) scene.answer_late();
  std::this_thread::sleep_for(5ms);
  CHECK(scene.ends() == 1);
  // An on_end inside the callback that asked for it is the one overlap there can be.
  if (!(by_destructor && moment == Moment::in_callback)) CHECK_FALSE(scene.misused());
  const bool was_over = moment == Moment::draining || moment == Moment::ended;
  CHECK(scene.faults().empty());
  CHECK(scene.error() == (was_over ? std::nullopt : std::optional(ErrorCode::cancelled)));
}

}  // namespace

TEST_CASE("a call that is ended from outside, in any state and way, ends once and leaves nothing") {
  const std::size_t sockets = open_sockets();
  std::thread([] {}).join();  // a sanitizer's own thread begins with the first
  const std::size_t threads = thread_count();
  for (int i = 0; i <= static_cast<int>(Moment::ended); ++i) {
    for (const Owner owner : {Owner::transport, Owner::client}) {
      for (int j = 0; j <= static_cast<int>(Way::flow_cancel); ++j) {
        const auto moment = static_cast<Moment>(i);
        const auto way = static_cast<Way>(j);
        if (!can_be(moment, owner, way)) continue;
        INFO((owner == Owner::client ? "Client, " : "Transport, ")
             << name_of(moment) << ", " << name_of(way));
        check(moment, owner, way, true);
        if (waits_for_application(moment)) check(moment, owner, way, false);
        CHECK(eventually([&] { return open_sockets() == sockets; }));
        CHECK(eventually([&] { return thread_count() == threads; }));
      }
    }
  }
}

namespace {

enum class PulledWay { stop_token, stream_cancel, destroy_response, destroy_transport };

// A server that leaves a pulled stream in that state, after `taken` events.
ScriptedServer::Handler leaves_in(Moment moment) {
  return [moment](Connection& connection, const Request& request) {
    if (request.method == "GET") return static_cast<void>(connection.peer_closed(guard));
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    send_event(connection, progress_json("1", 2));
    if (moment == Moment::draining) send_event(connection, result_json(id_of(request)));
    if (moment == Moment::mid_event) connection.write_chunk("data: {");
    if (moment != Moment::waiting_to_resume) {
      connection.peer_closed(guard);
      return;
    }
    connection.write_chunk("id: 1\ndata:\n\n");
    connection.close();
  };
}

}  // namespace

TEST_CASE("a pulled stream that is ended from outside gives nothing more, and leaves nothing") {
  const std::size_t sockets = open_sockets();
  const auto moment = GENERATE(Moment::headers_in, Moment::mid_event, Moment::paused,
                               Moment::waiting_to_resume, Moment::draining);
  const auto way = GENERATE(PulledWay::stop_token, PulledWay::stream_cancel,
                            PulledWay::destroy_response, PulledWay::destroy_transport);
  INFO(name_of(moment) << ", way " << static_cast<int>(way));
  {
    ScriptedServer server(leaves_in(moment));
    auto options = options_for(server);
    options.protocol_version = "2025-11-25";
    options.reconnection = {10s, 10s, 5};
    if (moment == Moment::paused) options.limits.max_queued_size = 0;
    std::optional<Transport> transport = make_transport(options);
    std::stop_source stop;
    SendOptions send;
    send.stop = stop.get_token();
    std::optional<Response> response;
    {
      auto posted = transport->post(call_json(1), send);
      REQUIRE(posted);
      response.emplace(std::move(*posted));
    }
    EventStream* const events = response->events();
    if (moment != Moment::headers_in) REQUIRE(events->next());
    if (way == PulledWay::stop_token) stop.request_stop();
    if (way == PulledWay::stream_cancel) events->cancel();
    if (way == PulledWay::destroy_transport) transport.reset();
    if (way == PulledWay::destroy_response) {
      response.reset();
    } else {
      std::size_t more = 0;
      while (events->next()) ++more;
      const bool answered = events->end().reason == ExchangeEnd::Reason::answered;
      // The answer may have been queued before; what is cancelled drops its queue.
      CHECK((answered ? moment == Moment::draining : more == 0));
      if (!answered) CHECK(events->end().reason == ExchangeEnd::Reason::cancelled);
      CHECK_FALSE(events->next());
    }
  }
  CHECK(eventually([&] { return open_sockets() == sockets; }));
}
