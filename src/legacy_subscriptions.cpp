#include "legacy_subscriptions.hpp"

#include <algorithm>
#include <utility>

#include "rpc.hpp"
#include "subscription.hpp"

namespace mcphttp {

// Loop context, but for what is const.
class LegacySubscriptions::Subscription final
    : public Upstream,
      public std::enable_shared_from_this<LegacySubscriptions::Subscription> {
 public:
  Subscription(std::weak_ptr<LegacySubscriptions> owner, SubscriptionFilter filter,
               std::shared_ptr<Inbox> inbox)
      : owner_(std::move(owner)), filter_(std::move(filter)), inbox_(std::move(inbox)) {}
  ~Subscription() = default;

  const SubscriptionFilter& filter() const { return filter_; }
  bool asks_for(const std::string& uri) const {
    const auto& uris = filter_.resource_subscriptions;
    return std::find(uris.begin(), uris.end(), uri) != uris.end();
  }
  Inbox& inbox() const { return *inbox_; }

  void begin() override {
    const auto owner = owner_.lock();
    if (!owner || inbox_->has_ended()) return;
    owner->add(shared_from_this());
    subscribe(owner->host_);
    owner->host_.open_stream();
    if (owner->stream_is_open_) on_stream_open();
  }
  void resume() override {
    if (const auto owner = owner_.lock()) owner->host_.resume_stream();
  }
  void stop() override {
    if (const auto owner = owner_.lock()) owner->remove(*this);
  }

  // Asks for the resources one by one. Once all are answered, and the stream is open, the
  // application is told what it may expect.
  void subscribe(const Host& host) {
    ++round_;
    stream_is_awaited_ = true;
    honoured_ = subscription::offered(filter_, host.capabilities());
    const std::vector<std::string> uris = std::exchange(honoured_.resource_subscriptions, {});
    unanswered_ = uris.size();
    for (const std::string& uri : uris) {
      host.send("resources/subscribe", rpc::make_text_params("uri", uri),
                [self = shared_from_this(), uri, round = round_](const Result<Message>& answer) {
                  self->on_answer(round, uri, answer.has_value());
                });
    }
  }

  void on_stream_open() {
    stream_is_awaited_ = false;
    if (unanswered_ == 0) acknowledge();
  }

 private:
  void on_answer(std::size_t round, const std::string& uri, bool granted) {
    if (round != round_) return;
    if (granted) honoured_.resource_subscriptions.push_back(uri);
    if (--unanswered_ == 0 && !stream_is_awaited_) acknowledge();
  }

  void acknowledge() {
    auto message = Message::parse(subscription::make_acknowledgement(honoured_));
    inbox_->put(Event({}, std::move(*message), false));
  }

  const std::weak_ptr<LegacySubscriptions> owner_;
  const SubscriptionFilter filter_;
  const std::shared_ptr<Inbox> inbox_;
  SubscriptionFilter honoured_;
  std::size_t unanswered_ = 0;
  std::size_t round_ = 0;  // of asking; a later one makes answers to an earlier one void
  bool stream_is_awaited_ = true;
};

LegacySubscriptions::LegacySubscriptions(Host host) : host_(std::move(host)) {}
LegacySubscriptions::~LegacySubscriptions() = default;

std::shared_ptr<Upstream> LegacySubscriptions::make(SubscriptionFilter filter,
                                                    std::shared_ptr<Inbox> inbox) {
  return std::make_shared<Subscription>(weak_from_this(), std::move(filter), std::move(inbox));
}

void LegacySubscriptions::stream_opened() {
  host_.in_loop([self = shared_from_this()] {
    self->stream_is_open_ = true;
    for (const auto& subscription : self->all()) subscription->on_stream_open();
  });
}

Flow LegacySubscriptions::distribute(const Message& notification) {
  Flow flow = Flow::proceed;
  for (const auto& subscription : all()) {
    if (!subscription::covers(subscription->filter(), notification)) continue;
    if (subscription->inbox().put(Event({}, notification, false)) == Flow::pause)
      flow = Flow::pause;
    subscription->inbox().loop().kick();
  }
  return flow;
}

void LegacySubscriptions::stream_ended(const ExchangeEnd& end) {
  host_.in_loop([self = shared_from_this(), end] {
    self->stream_is_open_ = false;
    Subscriptions ended;
    {
      const std::lock_guard lock(self->mutex_);
      ended.swap(self->subscriptions_);
    }
    for (const auto& subscription : ended) subscription->inbox().put(end);
  });
}

void LegacySubscriptions::renew() {
  stream_is_open_ = false;
  for (const auto& subscription : all()) subscription->subscribe(host_);
}

void LegacySubscriptions::add(std::shared_ptr<Subscription> subscription) {
  const std::lock_guard lock(mutex_);
  subscriptions_.push_back(std::move(subscription));
}

void LegacySubscriptions::remove(const Subscription& subscription) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(subscriptions_, [&](const auto& each) { return each.get() == &subscription; });
  }
  for (const std::string& uri : unwanted(subscription.filter().resource_subscriptions)) {
    host_.send("resources/unsubscribe", rpc::make_text_params("uri", uri),
               [](const Result<Message>&) {});
  }
  host_.resume_stream();
}

std::vector<std::string> LegacySubscriptions::unwanted(std::vector<std::string> uris) {
  const Subscriptions others = all();
  std::erase_if(uris, [&others](const std::string& uri) {
    return std::any_of(others.begin(), others.end(),
                       [&uri](const auto& other) { return other->asks_for(uri); });
  });
  return uris;
}

LegacySubscriptions::Subscriptions LegacySubscriptions::all() {
  const std::lock_guard lock(mutex_);
  return subscriptions_;
}

}  // namespace mcphttp
