// The floor below the rows of many calls and many streams at a time: libcurl's multi_socket
// interface on epoll.
#include <string_view>
#include <utility>
#include <vector>

#include "floor.hpp"
#include "multi_loop.hpp"
#include "stream_figures.hpp"
#include "wake_ups.hpp"

namespace mcphttp::bench {
namespace {

class RawFlight {
 public:
  RawFlight(const std::string& url, std::size_t width)
      : loop_([this](CURL* easy) { on_done(easy); }) {
    for (std::size_t i = 0; i < width; ++i) calls_.push_back(make_call(url));
  }

  void run(std::size_t count) {
    left_ = count;
    ended_ = 0;
    for (const Easy& call : calls_) start(call.get());
    loop_.run_until([&] { return ended_ == count; });
  }

 private:
  void start(CURL* easy) {
    if (left_ == 0) return;
    --left_;
    loop_.add(easy);
  }

  void on_done(CURL* easy) {
    ++ended_;
    start(easy);
  }

  MultiLoop loop_;
  std::vector<Easy> calls_;
  std::size_t left_ = 0;
  std::size_t ended_ = 0;
};

class RawStreams : public StreamOpener {
 public:
  explicit RawStreams(std::string url) : url_(std::move(url)), loop_([](CURL*) {}) {}
  ~RawStreams() override {
    for (const Easy& stream : streams_) loop_.remove(stream.get());
  }
  RawStreams(const RawStreams&) = delete;
  RawStreams& operator=(const RawStreams&) = delete;

  void open_until(std::size_t total) override {
    while (streams_.size() < total) {
      streams_.push_back(make_stream(url_, on_bytes, this));
      CURL* const easy = streams_.back().get();
      curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
      curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
      loop_.add(easy);
      loop_.run_until([&] { return open_ + most_opening >= streams_.size(); });
    }
    loop_.run_until([&] { return open_ >= total; });
  }

  std::vector<double> receive(std::size_t count) override {
    loop_.run_until([&] { return ages_.size() >= count; });
    return std::exchange(ages_, {});
  }

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
    if (std::string_view(data, size * count) == "\r\n") ++static_cast<RawStreams*>(self)->open_;
    return size * count;
  }

  static std::size_t on_bytes(char* data, std::size_t size, std::size_t count, void* self) {
    const auto age = age_of_wake_up({data, size * count});
    if (age) static_cast<RawStreams*>(self)->ages_.push_back(age->count());
    return size * count;
  }

  const std::string url_;
  MultiLoop loop_;
  std::vector<Easy> streams_;
  std::size_t open_ = 0;
  std::vector<double> ages_;
};

}  // namespace

Figures floor_in_flight(const Arguments& arguments) {
  RawFlight flight(arguments.url, arguments.width);
  flight.run(4 * arguments.width);
  const Stopwatch all;
  flight.run(arguments.count);
  const auto count = static_cast<double>(arguments.count);
  return {{"per_second", count / all.wall().count() * 1e6}, {"cpu_us", all.cpu().count() / count}};
}

Figures floor_streams(const Arguments& arguments) {
  RawStreams streams(arguments.url + "/streams");
  return measure_streams(streams, arguments);
}

}  // namespace mcphttp::bench
