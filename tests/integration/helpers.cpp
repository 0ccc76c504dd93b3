#include "helpers.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace mcphttp::test {

bool eventually(const std::function<bool()>& condition) {
  for (const auto deadline = Clock::now() + guard; Clock::now() < deadline;
       std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    if (condition()) return true;
  }
  return condition();
}

// --- Messages

std::string call_json(int id, std::string_view params) {
  return std::string(R"({"jsonrpc":"2.0","id":)")
      .append(std::to_string(id))
      .append(R"(,"method":"tools/call","params":)")
      .append(params)
      .append("}");
}

std::string result_json(std::string_view id, std::string_view result) {
  return std::string(R"({"jsonrpc":"2.0","id":)")
      .append(id)
      .append(R"(,"result":)")
      .append(result)
      .append("}");
}

std::string progress_json(std::string_view token, int progress) {
  return std::string(
             R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)")
      .append(token)
      .append(R"(,"progress":)")
      .append(std::to_string(progress))
      .append(R"(,"total":5,"message":"step"}})");
}

std::string id_of(const Request& request) {
  const auto json = nlohmann::json::parse(request.body, nullptr, false);
  return json.contains("id") ? json["id"].dump() : "null";
}

std::string method_of(const Request& request) {
  return nlohmann::json::parse(request.body, nullptr, false).value("method", "");
}

// --- Answers

std::string event(std::string_view data) {
  return std::string("data: ").append(data).append("\n\n");
}

void answer_json(Connection& connection, const Request& request, std::string_view result) {
  connection.write_response(200, {{"Content-Type", "application/json"}},
                            result_json(id_of(request), result));
}

void answer_events(Connection& connection, const Request& request, std::string_view result) {
  if (!begin_stream(connection)) return;
  send_event(connection, result_json(id_of(request), result));
  connection.end_chunks();
}

void accept_message(Connection& connection) { connection.write_response(202, {}, ""); }

ScriptedServer::Handler answers(std::string result) {
  return [result = std::move(result)](Connection& connection, const Request& request) {
    answer_json(connection, request, result);
  };
}

ScriptedServer::Handler dispatch(Methods methods, ScriptedServer::Handler otherwise) {
  return [methods = std::move(methods), otherwise = std::move(otherwise)](Connection& connection,
                                                                          const Request& request) {
    const auto found = methods.find(method_of(request));
    if (found != methods.end()) return found->second(connection, request);
    if (id_of(request) == "null") return accept_message(connection);
    otherwise(connection, request);
  };
}

ScriptedServer::Handler answers_after(std::string first) {
  return [first = std::move(first)](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, first);
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  };
}

ScriptedServer::Handler answers_after(std::string first, Gate& gate, std::atomic<bool>& in_vain) {
  return
      [first = std::move(first), &gate, &in_vain](Connection& connection, const Request& request) {
        begin_stream(connection);
        send_event(connection, first);
        if (!gate.wait()) in_vain = true;
        send_event(connection, result_json(id_of(request)));
        connection.end_chunks();
      };
}

bool begin_stream(Connection& connection) {
  return connection.write_head(
      200, {{"Content-Type", "text/event-stream"}, {"Transfer-Encoding", "chunked"}});
}

bool send_event(Connection& connection, std::string_view data) {
  return connection.write_chunk(event(data));
}

void write_for_ever(Connection& connection, std::string_view bytes) {
  while (connection.write(bytes)) {
  }
}

// --- The client's side

TransportOptions options_for(const ScriptedServer& server) {
  TransportOptions options;
  options.url = server.url();
  options.on_warning = [](const Warning& warning) { note_seen(warning); };
  return options;
}

Transport make_transport(TransportOptions options) {
  return make_transport(std::move(options), EventLoop());
}

Transport make_transport(TransportOptions options, EventLoop loop) {
  auto transport = Transport::create(std::move(options), std::move(loop));
  if (!transport) throw std::runtime_error(transport.error().to_string());
  return std::move(*transport);
}

Transport make_transport(const ScriptedServer& server) {
  return make_transport(options_for(server));
}

Client connect(ClientOptions options, EventLoop loop) {
  auto client = Client::connect(std::move(options), std::move(loop));
  if (!client) throw std::runtime_error(client.error().to_string());
  return std::move(*client);
}

Result<Message> exchange(Transport& transport, std::string json, SendOptions options) {
  auto response = transport.post(std::move(json), std::move(options));
  auto message = response ? response->message() : tl::unexpected(response.error());
  static_cast<void>(code_of(message));
  return message;
}

void start_loop_thread(Transport& transport) {
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(9999), {}, recorder);
  if (!recorder->wait_end()) throw std::runtime_error("the loop thread does not answer");
}

// --- Recorder

// One call of the handler.
class Recorder::Visit {
 public:
  explicit Visit(Recorder& recorder) : recorder_(recorder) {
    if (recorder_.inside_++ != 0 || recorder_.ends() != 0) recorder_.misused_ = true;
    const std::lock_guard lock(recorder_.mutex_);
    recorder_.threads_.insert(std::this_thread::get_id());
  }
  ~Visit() { --recorder_.inside_; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  Recorder& recorder_;
};

void Recorder::on_headers(const ResponseHead& /*head*/) {
  const Visit visit(*this);
  headers_.open();
}

Flow Recorder::on_event(Event&& event) {
  const Visit visit(*this);
  {
    const std::lock_guard lock(mutex_);
    data_.emplace_back(event.data());
  }
  event_.open();
  return each_event ? each_event(event) : Flow::proceed;
}

void Recorder::on_message(Message&& message) {
  const Visit visit(*this);
  const std::lock_guard lock(mutex_);
  message_ = std::move(message).release();
}

void Recorder::on_end(const ExchangeEnd& end) {
  {
    const Visit visit(*this);
    if (end.error) note_seen(*end.error);
    if (at_end) at_end();
    const std::lock_guard lock(mutex_);
    ended_ = end;
  }
  end_.open();
}

std::vector<std::string> Recorder::events() const {
  const std::lock_guard lock(mutex_);
  return data_;
}

std::optional<std::string> Recorder::message() const {
  const std::lock_guard lock(mutex_);
  return message_;
}

std::optional<ExchangeEnd> Recorder::end() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::optional<ErrorCode> Recorder::error() const {
  const std::lock_guard lock(mutex_);
  if (!ended_ || !ended_->error) return std::nullopt;
  return ended_->error->code;
}

std::set<std::thread::id> Recorder::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_;
}

}  // namespace mcphttp::test
