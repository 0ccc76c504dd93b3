#include "authorization.hpp"

#include <utility>

#include "challenges.hpp"
#include "http_fields.hpp"

namespace mcphttp {
namespace {

// Answers exactly once: when called, or, if the application drops it, with the default.
template <class Answer>
class Once {
 public:
  Once(std::function<void(Answer)> done, Answer otherwise)
      : state_(std::make_shared<State>(std::move(done), std::move(otherwise))) {}
  void operator()(Answer answer) const { state_->answer(std::move(answer)); }

 private:
  struct State {
    State(std::function<void(Answer)> to_call, Answer by_default)
        : done(std::move(to_call)), otherwise(std::move(by_default)) {}
    ~State() { answer(std::move(otherwise)); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    void answer(Answer value) {
      std::function<void(Answer)> call;
      {
        const std::lock_guard lock(mutex);
        call = std::exchange(done, nullptr);
      }
      if (call) call(std::move(value));
    }
    std::mutex mutex;
    std::function<void(Answer)> done;
    Answer otherwise;
  };
  std::shared_ptr<State> state_;
};

AuthorizationRefusal to_refusal(const Authorization::Refused& refused, const std::string& url) {
  AuthorizationRefusal refusal{url, refused.http_status, refused.www_authenticate, {}};
  for (http::Challenge& challenge : http::parse_challenges(refused.www_authenticate)) {
    refusal.challenges.push_back({std::move(challenge.scheme), std::move(challenge.token68),
                                  std::move(challenge.parameters)});
  }
  return refusal;
}

}  // namespace

Authorization::Authorization(std::shared_ptr<Authorizer> authorizer, std::shared_ptr<Worker> worker,
                             std::string url)
    : authorizer_(std::move(authorizer)), worker_(std::move(worker)), url_(std::move(url)) {}

void Authorization::obtain(std::function<void(Credential)> done) {
  std::uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    generation = generation_;
  }
  const Once<std::string> once(
      [done = std::move(done), generation](std::string header) {
        if (!http::is_field_value(header)) header.clear();
        done({std::move(header), generation});
      },
      {});
  worker_->post(
      [self = shared_from_this(), once] { self->authorizer_->authorize(self->url_, once); });
}

void Authorization::refresh(const Refused& refused, const std::function<void(bool)>& done) {
  switch (join_refresh(refused, done)) {
    case Joined::not_needed:
      done(true);
      return;
    case Joined::as_follower:
      return;
    case Joined::as_leader:
      break;
  }
  // The application may keep it, in its Authorizer even, which must not keep us.
  const Once<bool> once(
      [weak = weak_from_this()](bool renewed) {
        if (const auto self = weak.lock()) self->finish_refresh(renewed);
      },
      false);
  worker_->post([self = shared_from_this(), once, refusal = to_refusal(refused, url_)] {
    self->authorizer_->refused(refusal, once);
  });
}

Authorization::Joined Authorization::join_refresh(const Refused& refused,
                                                  const std::function<void(bool)>& done) {
  const std::lock_guard lock(mutex_);
  if (refused.generation != generation_) return Joined::not_needed;
  waiting_.push_back(done);
  return std::exchange(refreshing_, true) ? Joined::as_follower : Joined::as_leader;
}

void Authorization::finish_refresh(bool renewed) {
  std::vector<std::function<void(bool)>> waiting;
  {
    const std::lock_guard lock(mutex_);
    refreshing_ = false;
    if (renewed) ++generation_;
    waiting.swap(waiting_);
  }
  for (const auto& done : waiting) done(renewed);
}

}  // namespace mcphttp
