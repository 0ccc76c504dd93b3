// Transfer: one HTTP round trip, one libcurl easy handle, one ResponseReader. Everything that knows
// libcurl's easy interface is here. Loop context throughout.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <curl/curl.h>

#include <mcphttp/options.hpp>

#include "deadline.hpp"
#include "event_loop.hpp"
#include "handle_pool.hpp"
#include "response_reader.hpp"
#include "url.hpp"

namespace mcphttp {

using HeaderLines = std::shared_ptr<const std::vector<std::string>>;

// Times of one transfer, resolved: 0 means none.
struct TransferTimes {
  std::chrono::milliseconds connect;
  std::chrono::milliseconds headers;
  std::chrono::milliseconds idle;
  std::chrono::milliseconds diagnostic;
};

// True if HTTP/2 is fit for use: libcurl before 8.14 breaks reused connections and counts as an
// attacker with servers that limit resets.
bool can_speak_http2() noexcept;

struct TransferRequest {
  std::string method;
  std::shared_ptr<const http::Target> target;
  // Complete "Name: value" lines, checked: those of every request of the kind, and of its session
  // (null: none), and its own.
  std::array<HeaderLines, 2> shared_header_lines;
  std::vector<std::string> own_header_lines;
  std::shared_ptr<const std::string> body;  // nullptr for none
  ReaderContext context;
  TransferTimes times;
  // A kept connection that has been idle for longer is not used: its server may be about to close
  // it.
  std::chrono::seconds max_connection_idle;
  bool http2 = false;
  std::shared_ptr<const TransportOptions> options;  // how to connect
};

struct TransferFigures {
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t events = 0;
  std::optional<TimePoint> connected;
  std::optional<TimePoint> headers;
  bool connection_reused = false;
  int http_version = 0;
};

// Whoever wanted the transfer.
class TransferOwner : public ResponseSink {
 public:
  // The connection is there, and the request goes out.
  virtual void on_sent() = 0;
  // The outcome, once; the owner hears no more of the transfer afterwards, which winds itself up.
  virtual void on_outcome(ReadOutcome&& outcome, const TransferFigures& figures) = 0;

 protected:
  ~TransferOwner() = default;
};

class Transfer final : public CompletionListener, public std::enable_shared_from_this<Transfer> {
 public:
  Transfer(LoopCore& loop, TransferRequest&& request, TransferOwner& owner);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Sends the request, keeping itself alive until it is over. The outcome may come before start()
  // returns.
  void start();
  // The owner can take events again.
  void resume();
  // From now on silence is in order: Timeouts::idle no longer holds for this body.
  void expect_silence();
  // The owner wants no more and is forgotten; the connection is closed.
  void abandon();

 private:
  // What is being waited for, and so which deadline runs.
  enum class Stage {
    connecting,  // nothing sent yet
    sent,        // request sent, final header block not in
    body,        // reading the answer
    paused,      // the owner cannot take more
    draining,    // the outcome is out; the rest is read so that the connection can be used again
    over,
  };

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* handle);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* handle);
  static int on_request_ready(void* handle, char*, char*, int, int);
  static curl_socket_t on_open_socket(void* loop, curlsocktype purpose, curl_sockaddr* address);
  static int on_close_socket(void* loop, curl_socket_t socket);
  void on_complete(CURLcode code) override;
  void on_loop_end() override { close(); }

  bool configure();
  void configure_handle();
  void configure_connection();
  void configure_http_version();
  bool configure_request();
  void list_header_lines();
  std::size_t take_header(std::string_view line);
  std::size_t take_body(std::string_view bytes);
  std::size_t drain(std::size_t size);
  std::size_t fail_without_memory();
  std::size_t fail_queue_full();
  int http_version() const;

  void arm_stage(Stage stage);
  void on_deadline();
  void on_body_deadline();
  void time_out(ErrorCode code, std::string_view which, std::chrono::milliseconds limit);
  void report_outcome();
  void close();
  void release();
  void supply_refused_coding();
  Error failure(CURLcode code);
  ErrorCode failure_code(CURLcode code) const;
  std::string failure_detail(ErrorCode meaning, CURLcode code) const;
  TransferFigures figures() const;

  LoopCore& loop_;
  TransferRequest request_;         // its context has gone to the reader
  std::chrono::milliseconds idle_;  // 0: silence is in order
  TransferOwner* owner_;            // nullptr once the outcome is out
  ResponseReader reader_;
  Deadline deadline_;
  Stage stage_ = Stage::connecting;
  TimePoint last_progress_;
  std::size_t redelivered_ =
      0;  // bytes at the head of the next write that were consumed before the pause
  std::size_t drained_ = 0;
  std::chrono::milliseconds drain_time_{0};
  bool out_of_memory_ = false;
  bool sent_once_ = false;
  bool added_ = false;
  std::optional<TimePoint> connected_at_;
  std::optional<TimePoint> headers_at_;

  std::unique_ptr<EasyHandle> handle_;
  CURL* easy_ = nullptr;  // of handle_
  bool is_reusable_ = false;
  std::vector<curl_slist> header_list_;  // libcurl's view of the lines
  std::shared_ptr<Transfer> self_;       // while libcurl or a deadline may call
};

}  // namespace mcphttp
