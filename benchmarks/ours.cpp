// Our side of the end-to-end rows that are single calls and single streams.
#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

#include <mcphttp/client.hpp>
#include <mcphttp/transport.hpp>

#include "ours_streams.hpp"
#include "scenario.hpp"
#include "support/memory.hpp"

namespace mcphttp::bench {
namespace {

template <typename Value>
Value value_of(Result<Value> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}

Client connect(const std::string& url) {
  ClientOptions options;
  options.url = url;
  options.era = Era::legacy;
  return value_of(Client::connect(std::move(options)));
}

Figures blocking_calls(const Arguments& arguments) {
  Client client = connect(arguments.url);
  for (std::size_t i = 0; i < arguments.count / 10; ++i) {
    value_of(client.call_tool(tool_name, tool_arguments));
  }
  std::vector<double> times;
  times.reserve(arguments.count);
  const Stopwatch all;
  for (std::size_t i = 0; i < arguments.count; ++i) {
    const Stopwatch one;
    value_of(client.call_tool(tool_name, tool_arguments));
    times.push_back(one.wall().count());
  }
  return {{"cpu_us", all.cpu().count() / static_cast<double>(arguments.count)},
          {"p50_us", median(std::move(times))},
          {"peak_bytes", static_cast<double>(test::peak_rss_bytes())}};
}

// Keeps a number of calls in flight: each that ends starts the next.
class Flight {
 public:
  Flight(Client& client, std::size_t count) : client_(client), count_(count) {}

  void run(std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) start_one();
    finished_.get_future().get();
  }

 private:
  void start_one() {
    if (started_++ >= count_) return;
    client_
        .start_tool(tool_name, tool_arguments, {},
                    [this](Result<ToolResult> result) {
                      if (!result) failed_ = true;
                      start_one();
                      if (++ended_ == count_) finish();
                    })
        .detach();
  }

  void finish() {
    if (failed_) {
      finished_.set_exception(std::make_exception_ptr(std::runtime_error("a call failed")));
    } else {
      finished_.set_value();
    }
  }

  Client& client_;
  const std::size_t count_;
  std::atomic<std::size_t> started_{0};
  std::size_t ended_ = 0;  // like failed_, on the loop thread only
  bool failed_ = false;
  std::promise<void> finished_;
};

Figures calls_in_flight(const Arguments& arguments) {
  Client client = connect(arguments.url);
  Flight(client, 4 * arguments.width).run(arguments.width);
  const Stopwatch all;
  Flight(client, arguments.count).run(arguments.width);
  const auto count = static_cast<double>(arguments.count);
  return {{"per_second", count / all.wall().count() * 1e6}, {"cpu_us", all.cpu().count() / count}};
}

// The text of the message is what an application is given; what it makes of it is its own affair.
std::size_t fetch(Client& client) {
  return value_of(client.request("tools/call", R"({"name":"fetch"})")).json().size();
}

Figures json_results(const Arguments& arguments) {
  Client client = connect(arguments.url);
  const auto base = static_cast<double>(test::current_rss_bytes());
  test::reset_peak_rss();
  const auto size = static_cast<double>(fetch(client));
  const double peak = static_cast<double>(test::peak_rss_bytes()) - base;
  fetch(client);  // glibc keeps the memory of a large body only from the second one on
  const Stopwatch all;
  for (std::size_t i = 0; i < arguments.count; ++i) fetch(client);
  const double bytes = size * static_cast<double>(arguments.count);
  return {{"bytes_per_second", bytes / all.wall().count() * 1e6},
          {"cpu_us", all.cpu().count() / static_cast<double>(arguments.count)},
          {"memory_factor", peak / size}};
}

// Memory must be flat: a tenth of the stream shows all of it.
Figures event_stream(const Arguments& arguments) {
  TransportOptions options;
  options.url = arguments.url;
  Transport transport = value_of(Transport::create(std::move(options)));
  const Stopwatch all;
  Response response = value_of(transport.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})"));
  double bytes = 0;
  std::size_t events = 0;
  double early_peak = 0;  // the kernel's count is not exact: it may fall a little
  while (const auto event = response.events()->next()) {
    bytes += static_cast<double>(event->data().size());
    if (++events == arguments.count / 10) early_peak = static_cast<double>(test::peak_rss_bytes());
  }
  if (events != arguments.count + 1) throw std::runtime_error("events are missing");
  return {{"bytes_per_second", bytes / all.wall().count() * 1e6},
          {"cpu_us", all.cpu().count() / static_cast<double>(events)},
          {"growth_bytes", static_cast<double>(test::peak_rss_bytes()) - early_peak}};
}

}  // namespace
}  // namespace mcphttp::bench

int main(int argc, char** argv) {
  using namespace mcphttp::bench;
  return run_scenario(argc, argv,
                      {{"calls", blocking_calls},
                       {"flight", calls_in_flight},
                       {"results", json_results},
                       {"stream", event_stream},
                       {"streams", open_streams}});
}
