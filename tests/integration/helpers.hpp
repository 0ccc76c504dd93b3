// What the integration tests share: messages, scripted answers, and a handler that records what it
// is told. A scripted handler never asserts: it runs on a server thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <mcphttp/client.hpp>
#include <mcphttp/transport.hpp>

#include "support/gate.hpp"
#include "support/scripted_server.hpp"
#include "support/seen.hpp"

namespace mcphttp::test {

using Clock = std::chrono::steady_clock;

// How long a test waits for what must happen; long enough for a sanitizer build on a busy machine.
inline constexpr std::chrono::seconds guard{20};

// Waits for something that happens soon without a signal.
bool eventually(const std::function<bool()>& condition);

// --- Messages

std::string call_json(int id, std::string_view params = "{}");
inline constexpr std::string_view notification_json =
    R"({"jsonrpc":"2.0","method":"notifications/test"})";
std::string result_json(std::string_view id, std::string_view result = "{}");
std::string progress_json(std::string_view token, int progress);

// Of a request as the server got it: the id as raw JSON, "null" if absent; and the method.
std::string id_of(const Request& request);
std::string method_of(const Request& request);

// --- Answers

// By HTTP or JSON-RPC method.
using Methods = std::map<std::string, ScriptedServer::Handler>;

// One event of that data.
std::string event(std::string_view data);
void answer_json(Connection& connection, const Request& request, std::string_view result = "{}");
// One event in a chunked stream, its terminator right behind.
void answer_events(Connection& connection, const Request& request, std::string_view result = "{}");
void accept_message(Connection& connection);
// Each message by its method; of the others requests as said, while notifications are accepted.
ScriptedServer::Handler dispatch(Methods methods, ScriptedServer::Handler otherwise);
// As one JSON message.
ScriptedServer::Handler answers(std::string result);
// As an event stream: an event of that data, then the result. The second form keeps the result back
// until `gate` opens, and notes if it waited in vain.
ScriptedServer::Handler answers_after(std::string first);
ScriptedServer::Handler answers_after(std::string first, Gate& gate, std::atomic<bool>& in_vain);
// The head of a chunked event stream.
bool begin_stream(Connection& connection);
bool send_event(Connection& connection, std::string_view data);
// Goes on writing the same bytes until the client is gone.
void write_for_ever(Connection& connection, std::string_view bytes);

// --- The client's side

TransportOptions options_for(const ScriptedServer& server);
// Throws std::runtime_error if the options are refused.
Transport make_transport(TransportOptions options);
Transport make_transport(TransportOptions options, EventLoop loop);
Transport make_transport(const ScriptedServer& server);

// A client of this server. Throws std::runtime_error if it does not connect.
Client connect(ClientOptions options, EventLoop loop = EventLoop());

// The code of a call's error, noted as met; nothing if it has none.
template <class Value>
std::optional<ErrorCode> code_of(const Result<Value>& result) {
  if (result) return std::nullopt;
  note_seen(result.error());
  return result.error().code;
}

// Posts and waits for the message.
Result<Message> exchange(Transport& transport, std::string json, SendOptions options = {});

// Starts the loop's thread, for tests of what is different then: an asynchronous exchange that
// `server` answers.
void start_loop_thread(Transport& transport);

// Records an exchange. Thread-safe.
class Recorder final : public ResponseHandler {
 public:
  // Called inside on_event and inside on_end. To be set before the exchange is started.
  std::function<Flow(const Event&)> each_event;
  std::function<void()> at_end;

  void on_headers(const ResponseHead& head) override;
  Flow on_event(Event&& event) override;
  void on_message(Message&& message) override;
  void on_end(const ExchangeEnd& end) override;

  bool wait_headers() const { return headers_.wait(guard); }
  bool wait_events(std::size_t count) const { return event_.wait_for(count, guard); }
  bool wait_end() const { return end_.wait(guard); }

  std::size_t ends() const { return end_.times_opened(); }
  // True if the handler was called during another call of it, or after on_end.
  bool misused() const { return misused_; }
  std::vector<std::string> events() const;
  std::optional<std::string> message() const;
  // Of the last on_end.
  std::optional<ExchangeEnd> end() const;
  // The code of the end's error; nothing if it has none.
  std::optional<ErrorCode> error() const;
  std::set<std::thread::id> threads() const;

 private:
  class Visit;

  mutable std::mutex mutex_;
  std::vector<std::string> data_;
  std::optional<std::string> message_;
  std::optional<ExchangeEnd> ended_;
  std::set<std::thread::id> threads_;
  std::atomic<int> inside_{0};
  std::atomic<bool> misused_{false};
  Gate headers_;
  Gate event_;
  Gate end_;
};

}  // namespace mcphttp::test
