#include "inbox.hpp"

#include <utility>

#include "json.hpp"
#include "worker.hpp"

namespace mcphttp {
namespace {

// What an item costs the queue: its bytes, and what holds them (its node, the padding of its text,
// the allocator's headers), so that a flood of tiny events is bounded too.
constexpr std::size_t holder = 512;
static_assert(sizeof(Inbox::Item) + json::padding + 4 * sizeof(void*) <= holder);

// What is put aside for a reader who drives the loop itself before libcurl, which reads on for as
// long as there is something to read, is made to give the thread back. More would only be cold, and
// in new memory, by the time it is read. Bytes of the values, unlike what the queue may hold:
// libcurl 8 takes its buffer of 64 KiB from the socket for each pause, and keeps what is left over.
constexpr std::size_t enough_for_driver = std::size_t{64} * 1024;

std::size_t cost(const Event& event) {
  return holder + event.type().size() + event.data().size() + event.last_event_id().size();
}
std::size_t cost(const BodyPiece& piece) { return holder + piece.bytes.size(); }
std::size_t cost(const Warning& warning) { return holder + warning.text.size(); }
template <class Other>
std::size_t cost(const Other& /*one of a kind*/) {
  return 0;
}

std::size_t cost_of(const Inbox::Item& item) {
  return std::visit([](const auto& value) { return cost(value); }, item);
}

ExchangeEnd ended(ExchangeEnd::Reason reason, ErrorCode code, const char* detail) {
  ExchangeEnd end;
  end.reason = reason;
  end.error.emplace();
  end.error->code = code;
  end.error->detail = detail;
  end.error->delivery = Delivery::unknown;
  return end;
}

ExchangeEnd cancelled() {
  return ended(ExchangeEnd::Reason::cancelled, ErrorCode::cancelled, "cancelled by the caller");
}

ExchangeEnd threw() {
  return ended(ExchangeEnd::Reason::failed, ErrorCode::callback_threw,
               "a callback threw an exception");
}

}  // namespace

Inbox::Inbox(std::shared_ptr<LoopCore> loop, std::shared_ptr<const TransportOptions> options,
             std::shared_ptr<ResponseHandler> handler, Handler kind)
    : loop_(std::move(loop)),
      options_(std::move(options)),
      handler_(std::move(handler)),
      handler_kind_(kind),
      started_(handler_ == nullptr) {}

// --- Start ---------------------------------------------------------------------------------------

void Inbox::start(const std::shared_ptr<Upstream>& upstream, std::stop_token stop) {
  if (stop.stop_possible()) on_stop_.emplace(std::move(stop), [this] { cancel(); });
  {
    const std::lock_guard lock(loop().mutex());
    upstream_ = upstream;
    if (!ended_) loop().enqueue([upstream] { upstream->begin(); });
    if (!handler_) return;  // the thread that will wait drives
    if (handler_kind_ == Handler::of_application) loop().require_thread();
    started_ = true;
    if (is_ready()) notify();  // cancelled before it began
  }
  loop().kick();
}

void Inbox::refuse(Error error) {
  {
    const std::lock_guard lock(loop().mutex());
    if (handler_ && handler_kind_ == Handler::of_application) loop().require_thread();
    started_ = true;
    push(ExchangeEnd{ExchangeEnd::Reason::failed, std::move(error), {}});
  }
  loop().kick();
}

// --- The queue -----------------------------------------------------------------------------------

Flow Inbox::put(Item item, Pause pause) {
  const std::lock_guard lock(loop().mutex());
  push(std::move(item));
  const bool is_full = queued_size_ > options_->limits.max_queued_size;
  const bool gives_way = pause == Pause::stops_it && queued_bytes() >= enough_for_driver;
  upstream_paused_ = !ended_ && (is_full || (gives_way && is_driver_served()));
  return upstream_paused_ ? Flow::pause : Flow::proceed;
}

bool Inbox::has_ended() {
  const std::lock_guard lock(loop().mutex());
  return ended_;
}

// Lock held, from here to the consumer's side.

void Inbox::push(Item&& item) {
  if (ended_) return;
  ended_ = std::holds_alternative<ExchangeEnd>(item);
  queued_size_ += cost_of(item);
  queue_.push_back(std::move(item));
  if (is_ready()) notify();
}

// Drops what is queued for an end from the consumer's side, which hears of it even while paused.
void Inbox::replace_end(ExchangeEnd end) {
  consumer_paused_ = false;
  resumed_early_ = true;
  queue_.clear();
  queued_size_ = 0;
  ended_ = false;
  push(std::move(end));
  loop().enqueue([weak = upstream_] {
    if (const auto upstream = weak.lock()) upstream->stop();
  });
}

// Without the holders.
std::size_t Inbox::queued_bytes() const {
  return queued_size_ - std::min(queued_size_, holder * queue_.size());
}

bool Inbox::is_driver_served() const {
  return waiter_ != nullptr && waiter_->ready && waiter_->thread == std::this_thread::get_id();
}

bool Inbox::is_held() const { return held_ >= max_held && !ended_; }

bool Inbox::is_ready() const { return !queue_.empty() && !is_held(); }

void Inbox::pop(std::optional<Item>& item) {
  item.emplace(std::move(queue_.front()));
  queue_.pop_front();
  queued_size_ -= cost_of(*item);
  // At half, so that a reader at the bound does not stop and start the socket for each event.
  if (upstream_paused_ && queued_size_ <= options_->limits.max_queued_size / 2) {
    upstream_paused_ = false;
    loop().enqueue([weak = upstream_] {
      if (const auto upstream = weak.lock()) upstream->resume();
    });
  }
}

void Inbox::notify() {
  if (handler_) {
    schedule_delivery();
  } else if (waiter_ != nullptr && !waiter_->ready) {
    waiter_->ready = true;
    waiter_->wake.notify_one();
  }
}

bool Inbox::hold() {
  const std::lock_guard lock(loop().mutex());
  if (held_ >= max_held) return false;
  ++held_;
  return true;
}

void Inbox::release() {
  {
    const std::lock_guard lock(loop().mutex());
    --held_;
    if (is_ready()) notify();
  }
  loop().kick();
}

// --- Pulled --------------------------------------------------------------------------------------

std::optional<Inbox::Item> Inbox::take(std::optional<TimePoint> until) {
  std::optional<Item> item;
  while (wait_for_item(item, until)) {
    const auto* warning = std::get_if<Warning>(&*item);
    if (warning == nullptr) break;
    if (!report(*warning)) cancel_for_exception();
  }
  return item;
}

bool Inbox::wait_for_item(std::optional<Item>& item, std::optional<TimePoint> until) {
  item.reset();
  const Worker::Pause pause;
  std::unique_lock lock(loop().mutex());
  if (end_delivered_) return false;
  if (!is_ready()) {
    Waiter waiter;
    waiter_ = &waiter;
    loop().wait(lock, waiter, until);
    waiter_ = nullptr;
    if (!waiter.ready) return false;
  }
  pop(item);
  end_delivered_ = std::holds_alternative<ExchangeEnd>(*item);
  lock.unlock();
  if (end_delivered_) on_stop_.reset();
  return true;
}

void Inbox::cancel() {
  {
    const std::lock_guard lock(loop().mutex());
    if (ended_) return;
    replace_end(cancelled());
  }
  loop().kick();
}

void Inbox::cancel_for_exception() {
  {
    const std::lock_guard lock(loop().mutex());
    if (end_delivered_) return;
    replace_end(threw());
  }
  loop().kick();
}

bool Inbox::report(const Warning& warning) {
  if (!options_->on_warning) return true;
  try {
    options_->on_warning(warning);
    return true;
  } catch (...) {
    return false;
  }
}

// --- Pushed --------------------------------------------------------------------------------------

void Inbox::schedule_delivery() {
  if (!started_ || delivery_scheduled_ || delivering_ || consumer_paused_ || closed_) return;
  delivery_scheduled_ = true;
  if (handler_kind_ == Handler::of_library) {
    loop().enqueue([self = shared_from_this()] { self->deliver(); });
    return;
  }
  // A polled loop may never come to it, and must not be kept alive by it.
  scheduled_self_ = shared_from_this();
  loop().schedule_callback([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->deliver_as_wished();
  });
}

void Inbox::deliver_as_wished() {
  const Executor& executor = options_->executor;
  if (!executor) return deliver();
  try {
    executor([self = shared_from_this()] { self->deliver(); });
  } catch (...) {
    // It has not taken the task: the end, at least, is delivered here.
    cancel_for_exception();
    deliver();
  }
}

void Inbox::deliver() {
  {
    std::unique_lock lock(loop().mutex());
    delivery_scheduled_ = false;
    scheduled_self_.reset();
    if (closed_) return;
    delivering_ = true;
    deliverer_ = std::this_thread::get_id();
    while (!closed_ && !consumer_paused_ && is_ready()) {
      std::optional<Item> item;
      pop(item);
      const bool last = std::holds_alternative<ExchangeEnd>(*item);
      end_delivered_ = end_delivered_ || last;
      resumed_early_ = false;
      lock.unlock();
      const std::optional<Flow> flow = hand_out(*item);
      if (last) on_stop_.reset();
      lock.lock();
      if (!last) obey(flow);
    }
    delivering_ = false;
    loop().notify_callbacks();
  }
  loop().kick();
}

// What the handler answers; nothing if it threw.
std::optional<Flow> Inbox::hand_out(Item& item) {
  struct Visitor {
    Inbox& inbox;
    ResponseHandler& handler;
    std::optional<Flow> operator()(ResponseHead& head) const {
      handler.on_headers(head);
      return Flow::proceed;
    }
    std::optional<Flow> operator()(Event& event) const {
      return handler.on_event(std::move(event));
    }
    std::optional<Flow> operator()(Message& message) const {
      handler.on_message(std::move(message));
      return Flow::proceed;
    }
    std::optional<Flow> operator()(BodyPiece& piece) const {
      return handler.on_body(std::move(piece.bytes));
    }
    std::optional<Flow> operator()(Warning& warning) const {
      return inbox.report(warning) ? std::optional(Flow::proceed) : std::nullopt;
    }
    std::optional<Flow> operator()(ExchangeEnd& end) const {
      handler.on_end(end);
      return Flow::proceed;
    }
  };
  try {
    return std::visit(Visitor{*this, *handler_}, item);
  } catch (...) {
    return std::nullopt;
  }
}

void Inbox::obey(std::optional<Flow> flow) {
  if (closed_) return;
  if (!flow) {
    replace_end(threw());
  } else if (*flow == Flow::cancel) {
    replace_end(cancelled());
  } else if (*flow == Flow::pause && !resumed_early_) {
    consumer_paused_ = true;
  }
}

void Inbox::resume() {
  {
    const std::lock_guard lock(loop().mutex());
    resumed_early_ = true;
    consumer_paused_ = false;
    if (is_ready()) notify();
  }
  loop().kick();
}

void Inbox::close() {
  bool owes_end = false;
  {
    std::unique_lock lock(loop().mutex());
    closed_ = true;
    scheduled_self_.reset();
    const bool inside_callback = delivering_ && deliverer_ == std::this_thread::get_id();
    if (!inside_callback) loop().wait_for_callbacks(lock, [this] { return !delivering_; });
    owes_end = handler_ != nullptr && !std::exchange(end_delivered_, true);
    if (!ended_) replace_end(cancelled());
    // Whoever closes at the same time waits for the on_end below as for any callback.
    if (owes_end && !inside_callback) {
      delivering_ = true;
      deliverer_ = std::this_thread::get_id();
    }
  }
  loop().kick();
  on_stop_.reset();
  if (!owes_end) return;
  Item end = cancelled();
  hand_out(end);
  const std::lock_guard lock(loop().mutex());
  delivering_ = false;
  loop().notify_callbacks();
}

void Inbox::close_from_transport() {
  if (handler_) {
    close();
  } else {
    cancel();
  }
}

}  // namespace mcphttp
