#include "wire/recorder.hpp"

#include <ctime>
#include <utility>

#include "support/seen.hpp"

namespace mcphttp::test::wire {
namespace {

std::chrono::milliseconds thread_cpu() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec));
}

}  // namespace

// One call of the handler: holds the lock, and tells those who wait.
class Recorder::Visit {
 public:
  explicit Visit(Recorder& recorder)
      : overlaps_(recorder.inside_++ != 0), recorder_(recorder), lock_(recorder.mutex_) {
    if (overlaps_ || recorder.recording_.ends != 0) recorder.recording_.misused = true;
  }
  ~Visit() {
    recorder_.changed_.notify_all();
    --recorder_.inside_;
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  const bool overlaps_;
  Recorder& recorder_;
  const std::lock_guard<std::mutex> lock_;
};

void Recorder::on_headers(const ResponseHead& head) {
  const Visit visit(*this);
  ++recording_.heads;
  recording_.status = head.status;
  const std::string* type = head.find("Content-Type");
  recording_.content_type = type != nullptr ? *type : std::string();
}

Flow Recorder::on_event(Event&& event) {
  const Message* message = event.message();
  const bool asks = message != nullptr && message->kind() == Message::Kind::request;
  if (asks && on_request) on_request(*message);
  const Visit visit(*this);
  recording_.events.push_back({std::string(event.type()), std::string(event.data()),
                               std::string(event.last_event_id()), event.has_id(),
                               std::chrono::steady_clock::now()});
  if (event.is_response()) {
    recording_.answers.emplace_back(message->json());
  } else if (message != nullptr) {
    add(*message);
  }
  const bool is_time = recording_.events.size() == pause_after_events;
  return is_time && !event.is_response() ? Flow::pause : Flow::proceed;
}

void Recorder::on_message(Message&& message) {
  const Visit visit(*this);
  if (message.is_response()) {
    recording_.answers.emplace_back(message.json());
  } else {
    add(message);
  }
}

void Recorder::on_end(const ExchangeEnd& end) {
  if (end.error) note_seen(*end.error);
  const Visit visit(*this);
  ++recording_.ends;
  recording_.end = end;
  recording_.ended_at = std::chrono::steady_clock::now();
  recording_.cpu = thread_cpu();
}

void Recorder::note_warning(const Warning& warning) {
  note_seen(warning);
  const std::lock_guard lock(mutex_);
  recording_.warnings.push_back(warning.kind);
}

void Recorder::note_message(const Message& message) {
  const std::lock_guard lock(mutex_);
  if (message.is_response()) {
    recording_.answers.emplace_back(message.json());
  } else {
    add(message);
  }
}

void Recorder::note_end(ExchangeEnd::Reason reason, std::optional<Error> error) {
  ExchangeEnd end;
  end.reason = reason;
  end.error = std::move(error);
  on_end(end);
}

bool Recorder::wait(const std::function<bool(const Recording&)>& condition,
                    std::chrono::milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] { return condition(recording_); });
}

Recording Recorder::snapshot() const {
  const std::lock_guard lock(mutex_);
  return recording_;
}

// A response to somebody else's request has no method and is not handed up as a message.
void Recorder::add(const Message& message) {
  if (!message.is_response()) recording_.methods.emplace_back(message.method());
}

}  // namespace mcphttp::test::wire
