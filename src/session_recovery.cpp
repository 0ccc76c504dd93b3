// How a Client replaces a session that the server has lost. All of it runs in the loop context, so
// that a blocking caller who waits for the new session is at the same time the one who brings it
// about.
#include <utility>

#include "client_state.hpp"
#include "handshake.hpp"
#include "rpc.hpp"

namespace mcphttp {
namespace {

// Takes the answer of one exchange inside the library.
class InsideHandler final : public ResponseHandler {
 public:
  explicit InsideHandler(CallHandler::Done done) : done_(std::move(done)) {}
  void on_headers(const ResponseHead& head) override {
    status_ = head.status;
    accepted_ = head.kind == ResponseKind::accepted;
  }
  Flow on_event(Event&& event) override {
    if (event.is_response()) answer_ = std::move(event).take_message();
    return Flow::proceed;
  }
  void on_message(Message&& message) override { answer_ = std::move(message); }
  void on_end(const ExchangeEnd& end) override {
    if (end.error) {
      done_(tl::unexpected(*end.error));
    } else if (accepted_) {
      done_(*Message::parse(R"({"jsonrpc":"2.0","id":0,"result":{}})"));
    } else {
      done_(rpc::to_result(std::move(*answer_), status_));
    }
  }

 private:
  const CallHandler::Done done_;
  int status_ = 0;
  bool accepted_ = false;
  std::optional<Message> answer_;
};

}  // namespace

bool Client::State::has_lost_session() { return has_session_ && !closed_ && session_id().empty(); }

void Client::State::restore(const std::string& lost, SessionKeeper::Done done) {
  const std::string present = session_id();
  if (!present.empty() && present != lost) return done({}, false);
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(done));
    if (std::exchange(restoring_, true)) return;
  }
  send_initialize();
}

void Client::State::send_inside(std::string json, bool is_handshake, Done done) {
  SendOptions send;
  send.timeouts.total = options.timeouts.headers;
  auto inbox = transport_->open(std::make_shared<InsideHandler>(std::move(done)),
                                Inbox::Handler::of_library);
  auto request = transport_->prepare_post(std::move(json), send);
  if (request) request->is_initialize = is_handshake;
  transport_->launch(inbox, std::move(request), {});
}

void Client::State::send_initialize() {
  send_inside(rpc::make_request(next_id_++, "initialize", handshake::make_params(options)), true,
              [self = shared_from_this()](Result<Message> answer) {
                if (!answer)
                  return self->finish_restoring(tl::unexpected(std::move(answer.error())));
                auto info = handshake::read_result(*answer);
                if (!info) return self->finish_restoring(tl::unexpected(std::move(info.error())));
                self->send_initialized();
              });
}

void Client::State::send_initialized() {
  send_inside(rpc::make_notification("notifications/initialized", {}), false,
              [self = shared_from_this()](Result<Message> answer) {
                if (!answer)
                  return self->finish_restoring(tl::unexpected(std::move(answer.error())));
                self->finish_restoring({});
              });
}

void Client::State::finish_restoring(const Result<void>& result) {
  std::vector<SessionKeeper::Done> waiting;
  {
    const std::lock_guard lock(mutex_);
    restoring_ = false;
    waiting.swap(waiting_);
  }
  if (result) set_up_new_session();
  bool restarted = true;
  for (const SessionKeeper::Done& done : waiting) done(result, std::exchange(restarted, false));
}

// What the lost session knew beyond the handshake.
void Client::State::set_up_new_session() {
  std::string level;
  std::vector<std::string> uris;
  {
    const std::lock_guard lock(mutex_);
    level = log_level_;
    uris.assign(subscribed_resources_.begin(), subscribed_resources_.end());
  }
  const auto send = [this](std::string_view method, const std::string& params) {
    send_inside(rpc::make_request(next_id_++, method, params), false,
                [](const Result<Message>&) {});
  };
  if (!level.empty()) send("logging/setLevel", rpc::make_text_params("level", level));
  for (const std::string& uri : uris)
    send("resources/subscribe", rpc::make_text_params("uri", uri));
  legacy_subscriptions_->renew();
}

}  // namespace mcphttp
