#include "victim.hpp"

#include <iostream>

#include <nlohmann/json.hpp>

#include "integration/helpers.hpp"
#include "support/memory.hpp"

namespace mcphttp::test {
namespace {

ClientOptions options_for(const Row& row, const char* url, const std::string& socket_path) {
  ClientOptions options;
  options.url = url;
  options.unix_socket_path = socket_path;
  options.era = Era::legacy;
  options.limits = row.limits;
  options.timeouts = row.timeouts;
  return options;
}

// A JSON answer and an event, so that what any first call touches of memory is not counted.
bool call_calmly(const ClientOptions& options, const EventLoop& loop) {
  Transport transport = make_transport(options, loop);
  SendOptions send;
  send.idempotent = true;  // a kept connection may be one that the server is just closing
  return exchange(transport, call_json(1), send) && exchange(transport, call_json(2), send);
}

}  // namespace

int be_victim(const Row& row, const std::string& socket_path) {
  ClientOptions calm;
  calm.url = calm_url;
  calm.unix_socket_path = socket_path;
  const EventLoop loop;
  call_calmly(calm, loop);

  if (!reset_peak_rss()) {
    std::cerr << "the kernel does not reset the peak of the resident set\n";
    return 1;
  }
  const std::size_t before = current_rss_bytes();
  const auto start = Clock::now();
  const Outcome outcome = row.client(options_for(row, hostile_url, socket_path), loop);
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  const std::size_t peak = peak_rss_bytes();

  const nlohmann::json report{{"outcome", outcome.name},
                              {"detail", outcome.detail},
                              {"ms", time.count()},
                              {"growth", peak > before ? peak - before : 0},
                              {"usable", call_calmly(calm, loop)}};
  std::cout << report.dump() << '\n';
  return 0;
}

Report read_report(const std::string& output) {
  const auto json = nlohmann::json::parse(output);
  return {{json.at("outcome"), json.at("detail")},
          std::chrono::milliseconds(json.at("ms").get<long>()),
          json.at("growth"),
          json.at("usable")};
}

}  // namespace mcphttp::test
