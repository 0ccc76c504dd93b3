// The client of bounds_test, in a process of its own: only there the memory it takes can be told
// from that of the server.
//
// bounded_client URL WHAT: posts to URL/warm-up, then to URL/WHAT with small limits, then to the
// first again, and prints what came of the second and the third as one line of JSON.
#include <iostream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "helpers.hpp"
#include "support/memory.hpp"

namespace {

using namespace mcphttp;
using namespace mcphttp::test;

TransportOptions bounded(std::string url) {
  constexpr std::size_t mebibyte = std::size_t{1024} * 1024;
  TransportOptions options;
  options.url = std::move(url);
  options.limits.max_json_response_size = mebibyte;
  options.limits.max_sse_event_size = mebibyte;
  options.limits.max_error_response_size = std::size_t{64} * 1024;
  return options;
}

ExchangeEnd post_and_wait(Transport& transport) {
  auto recorder = std::make_shared<Recorder>();
  const Call call = transport.start_post(call_json(1), {}, recorder);
  if (!recorder->wait_end()) return {};
  return *recorder->end();
}

int run(const std::string& url, const std::string& what) {
  const EventLoop loop;
  Transport warm_up = make_transport(bounded(url + "/warm-up"), loop);
  Transport endless = make_transport(bounded(url + "/" + what), loop);
  post_and_wait(warm_up);
  const bool measured = reset_peak_rss();
  const std::size_t before = current_rss_bytes();
  const ExchangeEnd end = post_and_wait(endless);
  const std::size_t peak = peak_rss_bytes();
  const ExchangeEnd after = post_and_wait(warm_up);
  const nlohmann::json report{
      {"code", end.error ? std::string(to_string(end.error->code)) : "none"},
      {"detail", end.error ? end.error->detail : ""},
      {"kept", end.error ? end.error->diagnostic.text.size() : 0},
      {"truncated", end.error && end.error->diagnostic.truncated},
      {"received", end.figures.bytes_received},
      {"measured", measured},
      {"growth", peak > before ? peak - before : 0},
      {"usable", after.reason == ExchangeEnd::Reason::answered},
  };
  std::cout << report.dump() << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return run(argv[1], argv[2]);
}
