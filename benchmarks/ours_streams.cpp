#include "ours_streams.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <mcphttp/transport.hpp>

#include "stream_figures.hpp"
#include "wake_ups.hpp"

namespace mcphttp::bench {
namespace {

// What has happened on all streams; told on the loop thread, waited for on another.
class Progress {
 public:
  void count_open() {
    const std::lock_guard lock(mutex_);
    ++open_;
    changed_.notify_one();
  }

  void count_end() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_one();
  }

  void add_age(double age) {
    const std::lock_guard lock(mutex_);
    ages_.push_back(age);
    if (ages_.size() == awaited_) changed_.notify_one();
  }

  void wait_open(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_ >= count || ended_ > 0; });
    if (ended_ > 0) throw std::runtime_error("a stream has ended");
  }

  std::vector<double> wait_ages(std::size_t count) {
    std::unique_lock lock(mutex_);
    awaited_ = count;
    changed_.wait(lock, [&] { return ages_.size() >= count || ended_ > 0; });
    return std::exchange(ages_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t open_ = 0;
  std::size_t ended_ = 0;
  std::size_t awaited_ = 0;
  std::vector<double> ages_;
};

class StreamHandler : public ResponseHandler {
 public:
  explicit StreamHandler(Progress& progress) : progress_(progress) {}

  void on_headers(const ResponseHead& /*head*/) override { progress_.count_open(); }
  Flow on_event(Event&& event) override {
    if (const auto age = age_of_wake_up(event.data())) progress_.add_age(age->count());
    return Flow::proceed;
  }
  void on_end(const ExchangeEnd& /*end*/) override { progress_.count_end(); }

 private:
  Progress& progress_;
};

class OurStreams : public StreamOpener {
 public:
  explicit OurStreams(Transport transport)
      : handler_(std::make_shared<StreamHandler>(progress_)), transport_(std::move(transport)) {}

  void open_until(std::size_t total) override {
    while (calls_.size() < total) {
      calls_.push_back(transport_.start_stream({}, handler_));
      if (calls_.size() > most_opening) progress_.wait_open(calls_.size() - most_opening);
    }
    progress_.wait_open(total);
  }

  std::vector<double> receive(std::size_t count) override { return progress_.wait_ages(count); }

 private:
  Progress progress_;
  std::shared_ptr<StreamHandler> handler_;
  Transport transport_;
  std::vector<Call> calls_;
};

}  // namespace

Figures open_streams(const Arguments& arguments) {
  TransportOptions options;
  options.url = arguments.url + "/streams";
  Result<Transport> transport = Transport::create(std::move(options));
  if (!transport) throw std::runtime_error(transport.error().to_string());
  OurStreams streams(std::move(*transport));
  return measure_streams(streams, arguments);
}

}  // namespace mcphttp::bench
