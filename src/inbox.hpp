// Inbox: the bounded queue between an exchange and whoever consumes it, and the consumer's side of
// it: pulled by a thread that waits, or pushed to a ResponseHandler. Response, EventStream and Call
// are handles to one.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>

#include <mcphttp/options.hpp>
#include <mcphttp/response.hpp>

#include "event_loop.hpp"

namespace mcphttp {

// The exchange, as its inbox sees it. Loop context.
class Upstream {
 public:
  virtual void begin() = 0;
  // There is room again after put() has answered Flow::pause.
  virtual void resume() = 0;
  // Nobody wants more.
  virtual void stop() = 0;

 protected:
  ~Upstream() = default;
};

// Bytes of a forwarded body that is handed out as it came.
struct BodyPiece {
  std::string bytes;
};

class Inbox final : public std::enable_shared_from_this<Inbox> {
 public:
  // Warnings go to the options' on_warning, in their place among the others.
  using Item = std::variant<ResponseHead, Event, Message, BodyPiece, Warning, ExchangeEnd>;

  // What a pause does to the exchange.
  enum class Pause {
    stops_it,  // for a while: worth it also to give a reader who drives the loop its thread back
    ends_it,   // only to be asked for when the queue is full
  };

  // Whose code the handler is.
  enum class Handler {
    of_application,  // runs on the loop thread, inside poll(), or on the executor
    of_library,      // runs in the loop context, whoever drives; calls nothing of the application
  };

  // `handler` null: the inbox is pulled with take().
  Inbox(std::shared_ptr<LoopCore> loop, std::shared_ptr<const TransportOptions> options,
        std::shared_ptr<ResponseHandler> handler, Handler kind = Handler::of_application);

  LoopCore& loop() noexcept { return *loop_; }
  const ResponseLimits& limits() const noexcept { return options_->limits; }
  const std::shared_ptr<LoopCore>& shared_loop() const noexcept { return loop_; }

  // --- Loop context ------------------------------------------------------------------------------

  // Ignored once there is an end. Flow::pause asks the exchange to stop until Upstream::resume();
  // the item is taken. From elsewhere too, one at a time, if kick() follows.
  Flow put(Item item, Pause pause = Pause::stops_it);
  bool has_ended();

  // --- Any thread; nothing here is called with a lock held ---------------------------------------

  // Has `upstream` begun: by the loop thread, which is started if need be, or, if there is no
  // handler or it is the library's own, by whoever drives. `stop` cancels.
  void start(const std::shared_ptr<Upstream>& upstream, std::stop_token stop);
  // Ends with `error`; nothing was begun.
  void refuse(Error error);

  // The next item, waiting for it; nothing after the ExchangeEnd, which is the last, and nothing
  // once `until` has passed. Never a Warning. For one thread at a time.
  std::optional<Item> take(std::optional<TimePoint> until = {});

  void cancel();
  // Ends with callback_threw: for callbacks that run outside of the inbox.
  void cancel_for_exception();
  // Flow::pause is over.
  void resume();
  // Nobody wants to hear more: cancels, waits for a callback in progress unless this is it, and
  // delivers on_end(cancelled) if no end has been delivered. No callback afterwards.
  void close();
  // The transport goes: close() if pushed; if pulled, ends as cancelled for the reader who still
  // holds it.
  void close_from_transport();

  // Holds everything back while too many are held, unless there is an end: the consumer owes
  // answers to what it took. Paired. False, and nothing to release, if too many are held already:
  // what came before the end is then handed out, but nobody waits for answers to it.
  bool hold();
  void release();

 private:
  // Server requests that may be unanswered before the stream waits.
  static constexpr int max_held = 16;

  std::size_t queued_bytes() const;
  bool is_driver_served() const;  // what the driving thread waits for is here
  bool is_held() const;
  bool is_ready() const;
  void push(Item&& item);
  void replace_end(ExchangeEnd end);
  void pop(std::optional<Item>& item);  // there is one
  void notify();
  void schedule_delivery();
  bool wait_for_item(std::optional<Item>& item, std::optional<TimePoint> until);
  void deliver_as_wished();
  void deliver();
  std::optional<Flow> hand_out(Item& item);
  void obey(std::optional<Flow> flow);
  bool report(const Warning& warning);

  const std::shared_ptr<LoopCore> loop_;
  const std::shared_ptr<const TransportOptions> options_;
  const std::shared_ptr<ResponseHandler> handler_;  // null: pulled
  const Handler handler_kind_;

  // Guarded by the loop's mutex.
  std::weak_ptr<Upstream> upstream_;
  std::list<Item> queue_;
  std::size_t queued_size_ = 0;
  bool upstream_paused_ = false;
  bool ended_ = false;  // the end is queued, or was
  bool end_delivered_ = false;
  bool started_;  // start() is over, so that callbacks may come
  bool consumer_paused_ = false;
  bool resumed_early_ = false;  // resume() came before the callback that pauses had returned
  bool delivery_scheduled_ = false;
  std::shared_ptr<Inbox> scheduled_self_;  // until the delivery begins, or close()
  bool delivering_ = false;
  bool closed_ = false;
  int held_ = 0;
  std::thread::id deliverer_;
  Waiter* waiter_ = nullptr;

  // Consumer side. Destroyed without the lock: its destructor waits for a cancel() in progress.
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace mcphttp
