// Whole exchanges against a server that says anything, over a Unix socket: Transport or Client, the
// loop, libcurl, resumption and all. Loop and server take turns on one thread, so that an input
// runs the same way each time. An input is one line of settings, then what the server sends:
//   settings[0]  what is asked, see Form; by its number
//   settings[1]  one of the sets of limits, by its number
// What is sent in answer to each request ends with a record separator. Other control characters
// stand for what happens there:
//   1A  the client cancels
//   1B  the Transport or Client is destroyed
//   1C  the connection is closed
//   1D  a pause of 2 ms; as the last character, silence for ever
//   1E  the next request is waited for
//   1F  the client reads what has been sent so far
// Oracle: there is exactly one end, in time, and nothing after it; its error is one of ErrorCode;
// what is handed out keeps the limits, is made of bytes that the server sent, in their order, and
// is an answer only if it names a request that was sent.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <mcphttp/client.hpp>
#include <mcphttp/transport.hpp>

#include "support/http_request.hpp"
#include "support/socket.hpp"

namespace {

using namespace mcphttp;
using mcphttp::test::Request;
using mcphttp::test::RequestParser;
using mcphttp::test::Socket;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr auto longest_call = 60ms;
// A run that takes longer hangs.
constexpr auto guard = 20s;

void require(bool condition) {
  if (!condition) std::abort();
}

enum class Form : unsigned {
  request,
  request_in_session,
  notification,
  server_messages,      // a GET, taken up again until the server has said all, or for long enough
  resumed_request,      // a GET that waits for the answer to an earlier request
  batches,              // an idempotent request where 2025-03-26 was agreed on
  client_call,          // by a Client that replaces a lost session
  client_call_and_400,  // the same, where 400 means that too
  modern_request,
};
constexpr unsigned forms = 9;

// --- The server's side

// What the server is to do, read once from the beginning to the end.
class Script {
 public:
  explicit Script(std::string_view text) : rest_(text) {}

  bool is_over() const { return rest_.empty(); }
  // The bytes up to the next control character; empty if there stands one.
  std::string_view bytes() const { return rest_.substr(0, rest_.find_first_of(controls)); }
  void sent(std::size_t size) { rest_.remove_prefix(size); }
  char take_control() {
    const char control = rest_.front();
    rest_.remove_prefix(1);
    return control;
  }
  // What a connection that is gone was still to be sent.
  void skip_turn() {
    const std::size_t end = rest_.find_first_of("\x1C\x1E");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  }

 private:
  static constexpr std::string_view controls = "\x1A\x1B\x1C\x1D\x1E\x1F";
  std::string_view rest_;
};

const std::string& socket_path() {
  static const std::string path = "/tmp/mcphttp-fuzz-" + std::to_string(getpid());
  return path;
}

// Listens for as long as the program runs.
const Socket& listener() {
  static const Socket socket = [] {
    std::atexit([] { unlink(socket_path().c_str()); });
    return test::listen_unix(socket_path());
  }();
  return socket;
}

// Never blocks.
class Server {
 public:
  explicit Server(std::string_view script)
      : script_(script), is_silent_at_end_(ends_silent(script)) {
    listener();
  }

  enum class Event { none, cancel, destroy };
  // Does one thing of the script, if its time has come.
  Event step() {
    accept_all();
    for (Link& link : links_) read(link);
    links_.remove_if([](const Link& link) { return !link.socket.is_open(); });
    if (Clock::now() < paused_until_ || !choose_link()) return Event::none;
    return script_.is_over() ? end_script() : play();
  }

  bool is_over() const { return script_.is_over(); }
  // There is something to be done at once.
  bool is_busy() const { return active_ != nullptr && !is_over() && Clock::now() >= paused_until_; }

  // Ids of the requests that came, as raw JSON.
  const std::vector<std::string>& ids() const { return ids_; }
  const std::string& sent() const { return sent_; }

 private:
  struct Link {
    Socket socket;
    RequestParser parser;
    std::size_t waiting = 0;  // requests not answered yet
  };

  static bool ends_silent(std::string_view script) {
    return !script.empty() && script.back() == '\x1D';
  }

  void accept_all() {
    for (int fd = 0; (fd = accept4(listener().fd(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      links_.push_back({Socket(fd), {}, 0});
    }
  }

  void read(Link& link) {
    std::array<char, 4096> buffer{};
    while (true) {
      const auto got = recv(link.socket.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got <= 0) return drop(link);
      link.parser.feed({buffer.data(), static_cast<std::size_t>(got)});
      while (const auto request = link.parser.next()) take(link, *request);
      require(link.parser.error().empty());
    }
  }

  void take(Link& link, const Request& request) {
    ++link.waiting;
    const Json body = Json::parse(request.body, nullptr, false);
    require(request.body.empty() || !body.is_discarded());
    if (body.contains("id")) ids_.push_back(body["id"].dump());
  }

  void drop(Link& link) {
    link.socket.close();
    if (active_ != &link) return;
    active_ = nullptr;
    script_.skip_turn();
  }

  bool choose_link() {
    if (active_ != nullptr) return true;
    for (Link& link : links_) {
      if (link.waiting == 0) continue;
      --link.waiting;
      active_ = &link;
      return true;
    }
    return false;
  }

  Event end_script() {
    if (is_silent_at_end_) return Event::none;
    active_->socket.close();
    active_ = nullptr;
    return Event::none;
  }

  Event play() {
    const std::string_view bytes = script_.bytes();
    if (bytes.empty()) return obey(script_.take_control());
    const auto count =
        send(active_->socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count <= 0) return Event::none;  // full, or seen as closed with the next read
    sent_.append(bytes.substr(0, static_cast<std::size_t>(count)));
    script_.sent(static_cast<std::size_t>(count));
    return Event::none;
  }

  Event obey(char control) {
    switch (control) {
      case '\x1A':
        return Event::cancel;
      case '\x1B':
        return Event::destroy;
      case '\x1C':
        active_->socket.close();
        active_ = nullptr;
        break;
      case '\x1D':
        paused_until_ = Clock::now() + 2ms;
        break;
      case '\x1E':
        active_ = nullptr;
        break;
      default:
        break;
    }
    return Event::none;
  }

  Script script_;
  const bool is_silent_at_end_;
  std::list<Link> links_;
  Link* active_ = nullptr;
  Clock::time_point paused_until_;
  std::vector<std::string> ids_;
  std::string sent_;
};

// --- The client's side

struct LimitSet {
  std::size_t json;
  std::size_t prefix;
  std::size_t event;
  std::size_t header;
  std::size_t stream;
  std::size_t queue;
  std::size_t depth;
  std::size_t id;
};

constexpr std::array<LimitSet, 4> limit_sets = {{
    {std::size_t{1} << 20, std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 16,
     unlimited, std::size_t{1} << 20, 128, 1024},
    {60, 20, 60, 600, 300, 600, 4, 3},
    {300, 4, 100, 2000, 1000, 0, 8, 16},
    {0, 0, 0, 0, 0, 0, 0, 0},
}};

void apply(const LimitSet& set, ResponseLimits& limits) {
  limits.max_json_response_size = set.json;
  limits.max_error_response_size = set.prefix;
  limits.max_sse_event_size = set.event;
  limits.max_header_size = set.header;
  limits.max_stream_size = set.stream;
  limits.max_queued_size = set.queue;
  limits.max_json_depth = set.depth;
  limits.max_event_id_size = set.id;
}

struct Input {
  Form form;
  LimitSet limits;
  std::string_view script;
};

Input read(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto setting = [line](std::size_t at) {
    return at < line.size() ? static_cast<unsigned char>(line[at] - '0') : 0U;
  };
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return {static_cast<Form>(setting(0) % forms), limit_sets[setting(1) % limit_sets.size()], text};
}

bool through_client(Form form) {
  return form == Form::client_call || form == Form::client_call_and_400;
}

void set_up(TransportOptions& options, const Input& input) {
  options.url = "http://127.0.0.1/mcp";
  options.unix_socket_path = socket_path();
  apply(input.limits, options.limits);
  options.timeouts = {longest_call, 20ms, 15ms, longest_call, {}, 10ms};
  options.reconnection = {1ms, 2ms, 2};
  options.protocol_version = input.form == Form::batches          ? "2025-03-26"
                             : input.form == Form::modern_request ? "2026-07-28"
                                                                  : "2025-11-25";
  if (input.form == Form::request_in_session || through_client(input.form))
    options.session_id = "s";
}

// What has come out of the exchange.
struct Harvest {
  std::size_t ends = 0;
  std::vector<std::string> messages;  // answers and others
  std::vector<std::string> answers;
  std::optional<Error> error;
  std::uint64_t bytes_received = 0;

  // A limit of 0 allows no session id, or no capabilities.
  void refuse(const Error& why) {
    require(why.code == ErrorCode::invalid_argument);
    ++ends;
    error = why;
  }
};

class Handler final : public ResponseHandler {
 public:
  Handler(Harvest& harvest, const LimitSet& limits) : harvest_(harvest), limits_(limits) {}

  void on_headers(const ResponseHead& head) override {
    require(harvest_.ends == 0);
    std::size_t size = 0;
    for (const Header& header : head.headers) size += header.name.size() + header.value.size();
    require(size <= limits_.header);
  }
  Flow on_event(Event&& event) override {
    require(harvest_.ends == 0 && harvest_.answers.empty());
    require(event.data().size() <= limits_.event && event.type().size() <= limits_.event + 7);
    if (event.message() != nullptr) take(*event.message(), event.is_response());
    return Flow::proceed;
  }
  void on_message(Message&& message) override {
    require(harvest_.ends == 0);
    require(message.json().size() <= std::max(limits_.json, limits_.event));
    take(message, message.is_response());
  }
  void on_end(const ExchangeEnd& end) override {
    ++harvest_.ends;
    harvest_.error = end.error;
    harvest_.bytes_received = end.figures.bytes_received;
    const bool has_error =
        end.reason != ExchangeEnd::Reason::answered && end.reason != ExchangeEnd::Reason::accepted;
    require(end.error.has_value() == has_error);
    require((end.reason != ExchangeEnd::Reason::answered) || !harvest_.answers.empty());
  }

 private:
  // Responses to other requests pass as messages, where they come in events.
  void take(const Message& message, bool answers) {
    harvest_.messages.emplace_back(message.json());
    if (answers) harvest_.answers.emplace_back(message.json());
  }

  Harvest& harvest_;
  const LimitSet limits_;
};

// Either kind of client, with its call.
struct Subject {
  std::optional<Transport> transport;
  std::optional<Client> client;
  Call call;

  void destroy() {
    transport.reset();
    client.reset();
  }
};

constexpr std::string_view request_json =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}})";
constexpr std::string_view notification_json = R"({"jsonrpc":"2.0","method":"notifications/test"})";

void begin_exchange(Subject& subject, const Input& input, EventLoop loop, Harvest& harvest) {
  TransportOptions options;
  set_up(options, input);
  auto transport = Transport::create(std::move(options), std::move(loop));
  if (!transport) return harvest.refuse(transport.error());
  subject.transport = std::move(*transport);
  const auto handler = std::make_shared<Handler>(harvest, input.limits);
  StreamOptions stream;
  if (input.form == Form::server_messages || input.form == Form::resumed_request) {
    if (input.form == Form::resumed_request) stream.request_id = "1";
    stream.last_event_id = "e";
    subject.call = subject.transport->start_stream(stream, handler);
    return;
  }
  SendOptions send;
  send.idempotent = input.form == Form::batches;
  const bool notifies = input.form == Form::notification;
  subject.call = subject.transport->start_post(
      std::string(notifies ? notification_json : request_json), send, handler);
}

// A Client that continues a session connects without a word.
void begin_call(Subject& subject, const Input& input, EventLoop loop, Harvest& harvest) {
  ClientOptions options;
  set_up(options, input);
  options.recover_session_on_400 = input.form == Form::client_call_and_400;
  auto client = Client::connect(std::move(options), std::move(loop));
  if (!client) return harvest.refuse(client.error());
  subject.client = std::move(*client);
  CallOptions call;
  call.on_progress = [&harvest](const Progress&) { require(harvest.ends == 0); };
  call.on_notification = [&harvest](const Message& message) {
    require(harvest.ends == 0);
    harvest.messages.emplace_back(message.json());
  };
  subject.call = subject.client->start_request("tools/call", R"({"name":"t"})", std::move(call),
                                               [&harvest](Result<Message> answer) {
                                                 ++harvest.ends;
                                                 if (!answer) {
                                                   harvest.error = answer.error();
                                                   return;
                                                 }
                                                 harvest.messages.emplace_back(answer->json());
                                                 harvest.answers.emplace_back(answer->json());
                                               });
}

// --- The oracle

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// `text` is what is left of `bytes` if others are struck out: framing, field names. What ends a
// line in a stream may have been any line end.
bool is_left_of(std::string_view text, std::string_view bytes) {
  for (const char c : text) {
    const auto found = std::find_if(bytes.begin(), bytes.end(), [c](char each) {
      return each == c || (c == '\n' && is_line_end(each));
    });
    if (found == bytes.end()) return false;
    bytes.remove_prefix(static_cast<std::size_t>(found - bytes.begin()) + 1);
  }
  return true;
}

// An error may name no request; a string may stand for a number.
bool names_request(const Json& answer, const std::vector<std::string>& ids) {
  const Json id = answer.value("id", Json());
  if (id.is_null()) return answer.contains("error");
  const std::string text = id.is_string() ? id.get<std::string>() : id.dump();
  return text == "1" || std::find(ids.begin(), ids.end(), text) != ids.end();
}

void judge(const Harvest& harvest, const Server& server, const Input& input) {
  require(harvest.ends == 1);
  if (harvest.error) {
    const Error& error = *harvest.error;
    require(to_string(error.code) != "unknown" && error.code != ErrorCode::internal);
    require(error.code != ErrorCode::callback_threw && error.code != ErrorCode::wrong_thread);
    require(error.diagnostic.text.size() <= input.limits.prefix);
    require(error.to_string().find('\n') == std::string::npos);
  }
  require(harvest.bytes_received <= server.sent().size());
  for (const std::string& message : harvest.messages) require(is_left_of(message, server.sent()));
  for (const std::string& answer : harvest.answers) {
    const Json json = Json::parse(answer, nullptr, false);
    require(json.is_discarded() || names_request(json, server.ids()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const Input input = read(text);
  Server server(input.script);
  Harvest harvest;
  EventLoop loop(EventLoop::Mode::polled);
  Subject subject;
  if (through_client(input.form)) {
    begin_call(subject, input, loop, harvest);
  } else {
    begin_exchange(subject, input, loop, harvest);
  }

  const auto start = Clock::now();
  while (harvest.ends == 0) {
    require(Clock::now() - start < guard);
    switch (server.step()) {
      case Server::Event::none:
        break;
      case Server::Event::cancel:
        subject.call.cancel();
        break;
      case Server::Event::destroy:
        subject.destroy();
        break;
    }
    loop.poll(server.is_busy() ? 0ms : 1ms);
    const bool is_long = Clock::now() - start >= longest_call;
    if (input.form == Form::server_messages && (is_long || server.is_over())) subject.call.cancel();
  }
  subject.call = Call();
  subject.destroy();
  loop.poll(0ms);
  judge(harvest, server, input);
  return 0;
}
