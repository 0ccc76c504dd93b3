// Event streams: live, pulled or pushed, and stopped by a reader who is slow.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <mcphttp/client.hpp>

#include "helpers.hpp"
#include "support/memory.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

// Five events of progress and the result. Between the first and the second the server waits until
// the test has seen the first.
ScriptedServer::Handler live(const Gate& first_seen, std::atomic<bool>& waited_in_vain) {
  return [&](Connection& connection, const Request& request) {
    if (method_of(request) != "tools/call") {
      if (id_of(request) == "null") return accept_message(connection);
      return answer_json(connection, request, R"({"protocolVersion":"2025-11-25"})");
    }
    begin_stream(connection);
    send_event(connection, progress_json(id_of(request), 1));
    if (!first_seen.wait()) waited_in_vain = true;
    for (int i = 2; i <= 5; ++i) send_event(connection, progress_json(id_of(request), i));
    send_event(connection, result_json(id_of(request), R"({"content":[]})"));
    connection.end_chunks();
  };
}

Client connect(const ScriptedServer& server) {
  ClientOptions options;
  options.url = server.url();
  options.era = Era::legacy;
  auto client = Client::connect(options);
  REQUIRE(client);
  return std::move(*client);
}

const std::vector<double> all_steps{1, 2, 3, 4, 5};

// What a server could write before the reader's socket was full, at most: the queue, an event on
// either side of it, and what libcurl and two kernel buffers hold.
constexpr std::size_t kernel_buffers = std::size_t{10} * 1024 * 1024;
constexpr std::size_t queue_size = std::size_t{64} * 1024;
constexpr std::size_t event_size = std::size_t{16} * 1024;
constexpr int many_events = 4000;

std::string numbered_event(int number) {
  return R"({"jsonrpc":"2.0","method":"n","params":{"number":)" + std::to_string(number) +
         R"(,"fill":")" + std::string(event_size, 'x') + "\"}}";
}

// Sends far more than fits anywhere, and tells how much the kernel has taken.
ScriptedServer::Handler flood(std::atomic<std::size_t>& taken) {
  return [&taken](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 0; i < many_events && send_event(connection, numbered_event(i)); ++i) {
      taken = connection.bytes_written();
    }
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  };
}

// Waits until the server cannot write any more, and returns what it has written.
std::size_t wait_for_standstill(const std::atomic<std::size_t>& taken) {
  std::size_t before = 0;
  eventually([&] {
    const std::size_t now = taken;
    std::this_thread::sleep_for(200ms);
    return now != 0 && std::exchange(before, now) == taken;
  });
  return taken;
}

TransportOptions slow_reader_options(const ScriptedServer& server) {
  auto options = options_for(server);
  options.limits.max_queued_size = queue_size;
  return options;
}

}  // namespace

// --- Live

TEST_CASE("progress reaches the callback of a blocking call while the server is still silent") {
  Gate first_seen;
  std::atomic<bool> waited_in_vain{false};
  ScriptedServer server(live(first_seen, waited_in_vain));
  Client client = connect(server);
  std::vector<double> steps;
  std::set<std::thread::id> threads;
  CallOptions options;
  options.on_progress = [&](const Progress& progress) {
    steps.push_back(progress.progress);
    threads.insert(std::this_thread::get_id());
    first_seen.open();
  };
  auto result = client.call_tool("slow", "", options);
  REQUIRE(result);
  CHECK(steps == all_steps);
  CHECK(threads == std::set{std::this_thread::get_id()});
  CHECK_FALSE(waited_in_vain);
}

TEST_CASE("progress reaches the callback of an asynchronous call while the server is silent") {
  Gate first_seen;
  std::atomic<bool> waited_in_vain{false};
  ScriptedServer server(live(first_seen, waited_in_vain));
  Client client = connect(server);
  Gate done;
  std::vector<double> steps;
  CallOptions options;
  options.on_progress = [&](const Progress& progress) {
    steps.push_back(progress.progress);
    first_seen.open();
  };
  std::optional<Error> error;
  const Call call = client.start_tool("slow", "", options, [&](const Result<ToolResult>& result) {
    if (!result) error = result.error();
    done.open();
  });
  REQUIRE(done.wait());
  CHECK_FALSE(error);
  CHECK(steps == all_steps);
  CHECK_FALSE(waited_in_vain);
}

TEST_CASE("an event can be pulled while the server is still silent") {
  Gate first_seen;
  std::atomic<bool> waited_in_vain{false};
  ScriptedServer server(live(first_seen, waited_in_vain));
  const bool thread_drives = GENERATE(false, true);
  Transport transport = make_transport(server);
  if (thread_drives) {
    auto recorder = std::make_shared<Recorder>();
    const Call call =
        transport.start_post(R"({"jsonrpc":"2.0","id":2,"method":"ping"})", {}, recorder);
    REQUIRE(recorder->wait_end());
  }
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  REQUIRE(response->events() != nullptr);
  EventStream& events = *response->events();
  std::size_t count = 0;
  bool answered = false;
  while (auto event = events.next()) {
    ++count;
    first_seen.open();
    REQUIRE(event->message() != nullptr);
    answered = event->is_response();
  }
  CHECK(count == 6);
  CHECK(answered);
  CHECK(events.end().reason == ExchangeEnd::Reason::answered);
  CHECK(events.end().figures.events == 6);
  CHECK_FALSE(events.next());
  CHECK_FALSE(waited_in_vain);
}

// --- Events

TEST_CASE("an event keeps its type, id and retry, and its frame parses to the same event") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    connection.write_chunk(": comment\nid: 7\nretry: 1500\ndata\n\n");
    connection.write_chunk("event: other\ndata: a\ndata: b\n\n");
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  EventStream& events = *response->events();

  auto priming = events.next();
  REQUIRE(priming);
  CHECK(priming->type() == "message");
  CHECK(priming->data().empty());
  CHECK(priming->has_id());
  CHECK(priming->last_event_id() == "7");
  CHECK(priming->retry() == 1500ms);
  CHECK(priming->message() == nullptr);
  CHECK(priming->frame() == "id: 7\nretry: 1500\ndata: \n\n");

  auto other = events.next();
  REQUIRE(other);
  CHECK(other->type() == "other");
  CHECK(other->data() == "a\nb");
  CHECK_FALSE(other->has_id());
  CHECK(other->last_event_id() == "7");
  CHECK(other->frame() == "event: other\ndata: a\ndata: b\n\n");

  auto answer = events.next();
  REQUIRE(answer);
  CHECK(answer->is_response());
  CHECK(std::move(*answer).take_message()->json() == result_json("1"));
}

TEST_CASE("the answer counts although the stream stays open, and nothing after it is handed out") {
  Gate checked;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, result_json(id_of(request)));
    send_event(connection, progress_json("1", 1));
    checked.wait();
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  auto answer = response->events()->next();
  REQUIRE(answer);
  CHECK(answer->is_response());
  CHECK_FALSE(response->events()->next());
  CHECK(response->events()->end().reason == ExchangeEnd::Reason::answered);
  checked.open();
}

TEST_CASE("an answer without its blank line counts if the stream ended in order") {
  const bool pulled = GENERATE(true, false);
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    connection.write_chunk("data: " + result_json(id_of(request)));
    connection.end_chunks();
  });
  auto options = options_for(server);
  std::vector<WarningKind> warnings;
  options.on_warning = [&](const Warning& warning) {
    note_seen(warning);
    warnings.push_back(warning.kind);
  };
  Transport transport = make_transport(options);
  if (pulled) {
    auto message = exchange(transport, call_json(1));
    REQUIRE(message);
    CHECK(message->id() == "1");
  } else {
    auto recorder = std::make_shared<Recorder>();
    const Call call = transport.start_post(call_json(1), {}, recorder);
    REQUIRE(recorder->wait_end());
    CHECK(recorder->message() == result_json("1"));
  }
  CHECK(warnings == std::vector{WarningKind::unterminated_event});
}

TEST_CASE("a stream without an answer is unanswered, and one that broke off is cut") {
  struct Case {
    std::string name;
    bool ends_chunks;
    ExchangeEnd::Reason reason;
  };
  const auto ending = GENERATE(Case{"ended in order", true, ExchangeEnd::Reason::unanswered},
                               Case{"broken off", false, ExchangeEnd::Reason::cut});
  INFO(ending.name);
  ScriptedServer server([ending](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    connection.write_chunk("data: half of an ev");
    if (ending.ends_chunks) connection.end_chunks();
    connection.close();
  });
  Transport transport = make_transport(server);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  EventStream& events = *response->events();
  CHECK(events.next());
  CHECK_FALSE(events.next());
  CHECK(events.end().reason == ending.reason);
  REQUIRE(events.end().error);
  CHECK(events.end().error->code == ErrorCode::stream_ended_without_response);
  CHECK(events.end().error->delivery == Delivery::unknown);
}

// --- Backpressure

TEST_CASE("a slow reader who pulls stops the server and misses nothing") {
  const bool thread_drives = GENERATE(false, true);
  INFO("thread drives: " << thread_drives);
  std::atomic<std::size_t> taken{0};
  ScriptedServer server([flood = flood(taken)](Connection& connection, const Request& request) {
    if (id_of(request) == "9999") return answer_json(connection, request);
    flood(connection, request);
  });
  Transport transport = make_transport(slow_reader_options(server));
  if (thread_drives) start_loop_thread(transport);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  EventStream& events = *response->events();
  REQUIRE(events.next());
  CHECK(wait_for_standstill(taken) < queue_size + 2 * event_size + kernel_buffers);
  int count = 1;
  while (auto event = events.next()) {
    if (event->is_response()) break;
    if (event->data() != numbered_event(count)) break;
    ++count;
  }
  CHECK(count == many_events);
  CHECK_FALSE(events.next());
  CHECK(events.end().reason == ExchangeEnd::Reason::answered);
}

TEST_CASE("a handler that pauses stops the server until another thread resumes it") {
  std::atomic<std::size_t> taken{0};
  ScriptedServer server(flood(taken));
  Transport transport = make_transport(slow_reader_options(server));
  auto recorder = std::make_shared<Recorder>();
  std::atomic<int> pauses{0};
  recorder->each_event = [&, seen = 0](const Event&) mutable {
    if (seen++ % 1000 != 0) return Flow::proceed;
    ++pauses;
    return Flow::pause;
  };
  Call call = transport.start_post(call_json(1), {}, recorder);
  REQUIRE(recorder->wait_events(1));
  CHECK(wait_for_standstill(taken) < queue_size + 2 * event_size + kernel_buffers);
  CHECK(recorder->events().size() == 1);
  while (recorder->ends() == 0) {
    call.resume();
    std::this_thread::sleep_for(1ms);
  }
  const auto events = recorder->events();
  REQUIRE(events.size() == many_events + 1);
  bool in_order = true;
  for (int i = 0; i < many_events; ++i) {
    in_order = in_order && events[static_cast<std::size_t>(i)] == numbered_event(i);
  }
  CHECK(in_order);
  CHECK(pauses == many_events / 1000 + 1);
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::answered);
  CHECK_FALSE(recorder->misused());
}

TEST_CASE("a resume that comes before the pausing callback has returned is not lost") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    for (int i = 0; i < 50; ++i) send_event(connection, progress_json("1", i));
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  Transport transport = make_transport(server);
  Gate started;
  Call call;
  auto recorder = std::make_shared<Recorder>();
  recorder->each_event = [&](const Event&) {
    started.wait();
    std::thread([&call] { call.resume(); }).join();
    return Flow::pause;
  };
  call = transport.start_post(call_json(1), {}, recorder);
  started.open();
  REQUIRE(recorder->wait_end());
  CHECK(recorder->events().size() == 51);
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::answered);
}

TEST_CASE("a paused handler hears nothing, and the end only after it was resumed") {
  ScriptedServer server(answers_after(progress_json("1", 1)));
  Transport transport = make_transport(server);
  auto recorder = std::make_shared<Recorder>();
  recorder->each_event = [](const Event&) { return Flow::pause; };
  Call call = transport.start_post(call_json(1), {}, recorder);
  REQUIRE(recorder->wait_events(1));
  std::this_thread::sleep_for(100ms);
  CHECK(recorder->events().size() == 1);
  call.resume();
  REQUIRE(recorder->wait_events(2));
  std::this_thread::sleep_for(100ms);
  CHECK(recorder->ends() == 0);
  call.resume();
  REQUIRE(recorder->wait_end());
  CHECK(recorder->end()->reason == ExchangeEnd::Reason::answered);
}

TEST_CASE("an event larger than libcurl's buffer survives a pause in the middle of a write") {
  // Pauses come after each event; several events and parts of events lie in one write.
  const std::string large(200'000, 'y');
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    std::string bytes;
    for (int i = 0; i < 20; ++i) {
      bytes += event(i % 3 == 0 ? large : std::to_string(i));
    }
    connection.write_chunk(bytes + event(result_json(id_of(request))));
    connection.end_chunks();
  });
  auto options = options_for(server);
  options.limits.max_queued_size = 0;
  Transport transport = make_transport(options);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  for (int i = 0; i < 20; ++i) {
    INFO(i);
    auto event = response->events()->next();
    REQUIRE(event);
    CHECK((event->data() == (i % 3 == 0 ? large : std::to_string(i))));
  }
  auto answer = response->events()->next();
  REQUIRE(answer);
  CHECK(answer->is_response());
}

TEST_CASE(
    "little waits for a reader who drives the loop, however much may and however fast it comes") {
  ScriptedServer server([](Connection& connection, const Request&) {
    begin_stream(connection);
    std::string bytes;
    for (int i = 0; i < 200; ++i) bytes += event(std::string(10'000, 'x'));
    write_for_ever(connection, chunk(bytes));
  });
  auto options = options_for(server);
  options.limits.max_queued_size = unlimited;
  Transport transport = make_transport(options);
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  REQUIRE(response->events()->next());
  REQUIRE(reset_peak_rss());
  const std::size_t before = peak_rss_bytes();
  for (int i = 0; i < 5000; ++i) {
    if (!response->events()->next()) FAIL("the stream has ended");
  }
  if (!built_with_sanitizers()) CHECK(peak_rss_bytes() < before + 1024 * 1024);
}
