// The floor below the end-to-end rows: libcurl's easy interface, and no more work than the row
// says.
#include "floor.hpp"

#include <simdjson.h>

#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/memory.hpp"

namespace mcphttp::bench {

std::size_t discard(char* /*data*/, std::size_t size, std::size_t count, void* /*self*/) {
  return size * count;
}

namespace {

curl_slist* header_lines() {
  static curl_slist* const lines = [] {
    curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
    list = curl_slist_append(list, "Accept: application/json, text/event-stream");
    list = curl_slist_append(list, "MCP-Protocol-Version: 2025-11-25");
    return curl_slist_append(list, "Expect:");
  }();
  return lines;
}

// Parsed once, for all handles.
CURLU* parsed(const std::string& url) {
  static CURLU* const handle = curl_url();
  curl_url_set(handle, CURLUPART_URL, url.c_str(), 0);
  return handle;
}

Easy make_easy(const std::string& url, WriteFunction write, void* self) {
  Easy easy(curl_easy_init());
  curl_easy_setopt(easy.get(), CURLOPT_CURLU, parsed(url));
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_BUFFERSIZE, 64L * 1024);
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, header_lines());
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, write);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, self);
  return easy;
}

}  // namespace

Easy make_call(const std::string& url, WriteFunction write, void* self) {
  static const std::string body =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" +
      std::string(tool_name) + R"(","arguments":)" + std::string(tool_arguments) + "}}";
  Easy easy = make_easy(url, write, self);
  curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, body.c_str());
  return easy;
}

Easy make_stream(const std::string& url, WriteFunction write, void* self) {
  Easy easy = make_easy(url, write, self);
  // Otherwise libcurl looks through all open connections for one to reuse.
  curl_easy_setopt(easy.get(), CURLOPT_FRESH_CONNECT, 1L);
  return easy;
}

void check(CURLcode code) {
  if (code != CURLE_OK) throw std::runtime_error(curl_easy_strerror(code));
}

namespace {

Figures blocking_calls(const Arguments& arguments) {
  const Easy easy = make_call(arguments.url);
  for (std::size_t i = 0; i < arguments.count / 10; ++i) check(curl_easy_perform(easy.get()));
  std::vector<double> times;
  times.reserve(arguments.count);
  const Stopwatch all;
  for (std::size_t i = 0; i < arguments.count; ++i) {
    const Stopwatch one;
    check(curl_easy_perform(easy.get()));
    times.push_back(one.wall().count());
  }
  return {{"cpu_us", all.cpu().count() / static_cast<double>(arguments.count)},
          {"p50_us", median(std::move(times))},
          {"peak_bytes", static_cast<double>(test::peak_rss_bytes())}};
}

// One buffer and one parser, both reused: a copy of the body, then the check.
struct Download {
  Easy easy;
  std::vector<char> buffer;
  std::size_t size = 0;
  simdjson::dom::parser parser;

  explicit Download(const std::string& url) : easy(make_call(url, append, this)) {}

  static std::size_t append(char* data, std::size_t size, std::size_t count, void* self) {
    auto& download = *static_cast<Download*>(self);
    const std::size_t bytes = size * count;
    if (download.buffer.empty()) download.reserve();
    std::memcpy(download.buffer.data() + download.size, data, bytes);
    download.size += bytes;
    return bytes;
  }

  void reserve() {
    curl_off_t length = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    buffer.resize(static_cast<std::size_t>(length) + 64 + simdjson::SIMDJSON_PADDING);
  }

  // Ids grow, and with them the body by some bytes: `buffer` has room for that.
  std::size_t fetch() {
    size = 0;
    check(curl_easy_perform(easy.get()));
    if (parser.parse(buffer.data(), size, false).error() != simdjson::SUCCESS) {
      throw std::runtime_error("the body is not JSON");
    }
    return size;
  }
};

Figures json_results(const Arguments& arguments) {
  Download download(arguments.url);
  const auto size = static_cast<double>(download.fetch());
  download.fetch();
  const Stopwatch all;
  for (std::size_t i = 0; i < arguments.count; ++i) download.fetch();
  const double bytes = size * static_cast<double>(arguments.count);
  return {{"bytes_per_second", bytes / all.wall().count() * 1e6},
          {"cpu_us", all.cpu().count() / static_cast<double>(arguments.count)}};
}

Figures event_stream(const Arguments& arguments) {
  const Easy easy = make_call(arguments.url);
  const Stopwatch all;
  check(curl_easy_perform(easy.get()));
  curl_off_t bytes = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_SIZE_DOWNLOAD_T, &bytes);
  return {{"bytes_per_second", static_cast<double>(bytes) / all.wall().count() * 1e6},
          {"cpu_us", all.cpu().count() / static_cast<double>(arguments.count)}};
}

}  // namespace
}  // namespace mcphttp::bench

int main(int argc, char** argv) {
  using namespace mcphttp::bench;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  return run_scenario(argc, argv,
                      {{"calls", blocking_calls},
                       {"flight", floor_in_flight},
                       {"results", json_results},
                       {"stream", event_stream},
                       {"streams", floor_streams}});
}
