#include "transfer.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include "make_error.hpp"
#include "text.hpp"

namespace mcphttp {
namespace {

// Bounds on what is read for nothing but the sake of the connection.
constexpr std::chrono::milliseconds default_drain_time{200};
constexpr std::size_t drain_size = std::size_t{64} * 1024;

// libcurl keeps the header lines of an answer with its handle: one that had many is not kept.
constexpr std::size_t kept_header_size = std::size_t{4} * 1024;
constexpr std::size_t shown_error_size = 200;

// Errors whose text libcurl takes from this side or from the TLS library: worth showing, but
// bounded and escaped all the same.
bool explains_itself(ErrorCode code) noexcept {
  return code == ErrorCode::resolve_failed || code == ErrorCode::connect_failed ||
         code == ErrorCode::tls_failed || code == ErrorCode::proxy_failed;
}

// libcurl shows a proxy URL that it cannot use whole, and with it what may be a password.
bool quotes_proxy(std::string_view text) { return text.starts_with("Unsupported proxy"); }

// What a libcurl error means while no response has begun; whatever is not listed, that the
// connection was lost.
constexpr std::array<std::pair<CURLcode, ErrorCode>, 16> causes{{
    {CURLE_COULDNT_RESOLVE_HOST, ErrorCode::resolve_failed},
    {CURLE_COULDNT_RESOLVE_PROXY, ErrorCode::proxy_failed},
    {CURLE_PROXY, ErrorCode::proxy_failed},
    {CURLE_COULDNT_CONNECT, ErrorCode::connect_failed},
    {CURLE_INTERFACE_FAILED, ErrorCode::connect_failed},
    {CURLE_SSL_CONNECT_ERROR, ErrorCode::tls_failed},
    {CURLE_PEER_FAILED_VERIFICATION, ErrorCode::tls_failed},
    {CURLE_SSL_CERTPROBLEM, ErrorCode::tls_failed},
    {CURLE_SSL_CIPHER, ErrorCode::tls_failed},
    {CURLE_SSL_CACERT_BADFILE, ErrorCode::tls_failed},
    {CURLE_SSL_ENGINE_INITFAILED, ErrorCode::tls_failed},
    {CURLE_SSL_CLIENTCERT, ErrorCode::tls_failed},
    {CURLE_OPERATION_TIMEDOUT, ErrorCode::timeout_connect},
    {CURLE_OUT_OF_MEMORY, ErrorCode::out_of_memory},
    {CURLE_WEIRD_SERVER_REPLY, ErrorCode::malformed_http},
    {CURLE_UNSUPPORTED_PROTOCOL, ErrorCode::malformed_http},  // of the answer: HTTP/0.9, say
}};

ErrorCode code_before_response(CURLcode code) {
  for (const auto& [cause, meaning] : causes) {
    if (cause == code) return meaning;
  }
  return ErrorCode::connection_lost;
}

// libcurl has bounds on header bytes of its own, and an error code for them only since 8.6.
bool is_header_overflow(CURLcode code, std::size_t header_bytes) {
  constexpr int too_large = 100;  // CURLE_TOO_LARGE
  return code == static_cast<CURLcode>(too_large) ||
         (code == CURLE_OUT_OF_MEMORY && header_bytes > 0);
}

}  // namespace

Transfer::Transfer(LoopCore& loop, TransferRequest&& request, TransferOwner& owner)
    : loop_(loop),
      request_(std::move(request)),
      idle_(request_.times.idle),
      owner_(&owner),
      reader_(std::move(request_.context), loop.checker(), owner),
      deadline_(loop.driven_deadlines(), [this] { on_deadline(); }) {}

Transfer::~Transfer() {
  if (is_reusable_) loop_.handles().give_back(std::move(handle_));
}

// --- Set up --------------------------------------------------------------------------------------

void Transfer::start() {
  if (!configure()) {
    reader_.finish_broken(
        make_error(ErrorCode::out_of_memory, "libcurl could not take the request"));
    report_outcome();
    return;
  }
  self_ = shared_from_this();
  arm_stage(Stage::connecting);
  loop_.add(easy_);
  added_ = true;
}

// --- What libcurl calls. No exception may pass through it. ---------------------------------------

int Transfer::on_request_ready(void* handle, char*, char*, int, int) {
  auto* transfer = static_cast<EasyHandle*>(handle)->transfer;
  // A kept connection that dies unanswered makes libcurl send again on a new one. A tool must never
  // run twice.
  if (std::exchange(transfer->sent_once_, true)) return CURL_PREREQFUNC_ABORT;
  transfer->connected_at_ = std::chrono::steady_clock::now();
  transfer->arm_stage(Stage::sent);
  if (transfer->owner_ != nullptr) transfer->owner_->on_sent();
  return CURL_PREREQFUNC_OK;
}

curl_socket_t Transfer::on_open_socket(void* loop, curlsocktype /*purpose*/,
                                       curl_sockaddr* address) {
  // Hosts that also start other servers must not hand our connections down to them.
  const int socket = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (socket < 0) return CURL_SOCKET_BAD;
  try {
    static_cast<LoopCore*>(loop)->socket_opened(socket);
  } catch (const std::bad_alloc&) {
    ::close(socket);
    return CURL_SOCKET_BAD;
  }
  return socket;
}

int Transfer::on_close_socket(void* loop, curl_socket_t socket) {
  static_cast<LoopCore*>(loop)->socket_closing(socket);
  return ::close(socket);
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* handle) try {
  return static_cast<EasyHandle*>(handle)->transfer->take_header({data, size * count});
} catch (const std::bad_alloc&) {
  return static_cast<EasyHandle*>(handle)->transfer->fail_without_memory();
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* handle) try {
  return static_cast<EasyHandle*>(handle)->transfer->take_body({data, size * count});
} catch (const std::bad_alloc&) {
  return static_cast<EasyHandle*>(handle)->transfer->fail_without_memory();
}

std::size_t Transfer::fail_without_memory() {
  out_of_memory_ = true;
  return CURL_WRITEFUNC_ERROR;
}

std::size_t Transfer::take_header(std::string_view line) {
  if (stage_ == Stage::draining) return drain(line.size());
  reader_.read_header_line(line);
  if (reader_.outcome()) {
    const bool spoilt = reader_.outcome()->connection_spoilt;
    report_outcome();
    return spoilt ? 0 : line.size();
  }
  if (stage_ == Stage::sent && reader_.phase() != ResponseReader::Phase::headers) {
    headers_at_ = std::chrono::steady_clock::now();
    arm_stage(Stage::body);
  }
  return line.size();
}

std::size_t Transfer::take_body(std::string_view bytes) {
  if (stage_ == Stage::draining) return drain(bytes.size());
  last_progress_ = loop_.driven_now();
  // libcurl hands out once more what we had begun before the pause.
  const std::size_t known = std::min(redelivered_, bytes.size());
  redelivered_ -= known;
  const auto [consumed, flow] = reader_.read_body(bytes.substr(known));
  if (reader_.outcome()) {
    const bool spoilt = reader_.outcome()->connection_spoilt;
    report_outcome();
    return spoilt ? std::size_t{CURL_WRITEFUNC_ERROR} : bytes.size();
  }
  if (flow == Flow::pause) {
    if (http_version() == 2) return fail_queue_full();
    redelivered_ = known + consumed;
    arm_stage(Stage::paused);
    return CURL_WRITEFUNC_PAUSE;
  }
  return bytes.size();
}

// A paused stream of a shared connection would go on filling libcurl's memory, and hold up the
// others.
std::size_t Transfer::fail_queue_full() {
  reader_.finish_broken(
      make_error(ErrorCode::queue_full,
                 fmt::format("max_queued_size ({} bytes) exceeded by a reader too slow for HTTP/2",
                             request_.options->limits.max_queued_size),
                 Delivery::unknown));
  report_outcome();
  return CURL_WRITEFUNC_ERROR;
}

int Transfer::http_version() const {
  long version = CURL_HTTP_VERSION_NONE;
  if (easy_ != nullptr) curl_easy_getinfo(easy_, CURLINFO_HTTP_VERSION, &version);
  if (version == CURL_HTTP_VERSION_NONE) return 0;
  return version >= CURL_HTTP_VERSION_2_0 ? 2 : 1;
}

std::size_t Transfer::drain(std::size_t size) {
  drained_ += size;
  return drained_ > drain_size ? 0 : size;
}

void Transfer::on_complete(CURLcode code) {
  added_ = false;
  is_reusable_ =
      code == CURLE_OK && request_.method == "POST" && reader_.header_bytes() <= kept_header_size;
  if (owner_ != nullptr) {
    if (out_of_memory_) {
      reader_.finish_broken(failure(CURLE_OUT_OF_MEMORY));
    } else if (code == CURLE_OK) {
      reader_.finish();
    } else {
      if (code == CURLE_BAD_CONTENT_ENCODING) supply_refused_coding();
      reader_.finish_broken(failure(code));
    }
    report_outcome();
  }
  release();
}

// libcurl 8.14 refuses a foreign transfer coding before it shows the field. The status before it is
// to be judged like any other, so the field is made up for.
void Transfer::supply_refused_coding() {
  if (reader_.phase() != ResponseReader::Phase::headers) return;
  reader_.read_header_line("Transfer-Encoding: refused\r\n");
  reader_.read_header_line("\r\n");
}

// --- Stages and deadlines ------------------------------------------------------------------------

void Transfer::arm_stage(Stage stage) {
  stage_ = stage;
  if (stage == Stage::over) return deadline_.disarm();
  const TimePoint now = loop_.driven_now();
  std::chrono::milliseconds time{0};
  switch (stage) {
    case Stage::connecting:
      time = request_.times.connect;
      break;
    case Stage::sent:
      time = request_.times.headers;
      break;
    case Stage::body:
      time = reader_.body_is_diagnostic() ? request_.times.diagnostic : idle_;
      last_progress_ = now;
      break;
    case Stage::draining:
      time = drain_time_;
      break;
    case Stage::paused:
    case Stage::over:
      break;
  }
  if (time.count() == 0) {
    deadline_.disarm();
  } else {
    deadline_.arm(after(now, time));
  }
}

void Transfer::on_deadline() {
  switch (stage_) {
    case Stage::connecting:
      time_out(ErrorCode::timeout_connect, "connect", request_.times.connect);
      return;
    case Stage::sent:
      time_out(ErrorCode::timeout_header, "headers", request_.times.headers);
      return;
    case Stage::body:
      on_body_deadline();
      return;
    case Stage::draining:
      close();
      return;
    case Stage::paused:
    case Stage::over:
      return;
  }
}

void Transfer::on_body_deadline() {
  if (reader_.body_is_diagnostic()) {
    reader_.finish_truncated();
    report_outcome();
    close();
    return;
  }
  // The deadline is not moved for every piece that arrives; it looks here whether one has.
  const TimePoint due = last_progress_ + idle_;
  if (due > loop_.driven_now()) {
    deadline_.arm(due);
  } else {
    time_out(ErrorCode::timeout_idle, "idle", idle_);
  }
}

void Transfer::time_out(ErrorCode code, std::string_view which, std::chrono::milliseconds limit) {
  reader_.finish_broken(
      make_timeout(code, which, limit, sent_once_ ? Delivery::unknown : Delivery::not_sent));
  report_outcome();
  close();
}

void Transfer::resume() {
  if (stage_ != Stage::paused) return;
  arm_stage(Stage::body);
  if (curl_easy_pause(easy_, CURLPAUSE_CONT) == CURLE_OK) return;
  // What was redelivered ended the exchange; libcurl need not tell us again.
  if (owner_ != nullptr) {
    reader_.finish_broken(failure(out_of_memory_ ? CURLE_OUT_OF_MEMORY : CURLE_WRITE_ERROR));
    report_outcome();
  }
  close();
}

void Transfer::expect_silence() {
  idle_ = std::chrono::milliseconds{0};
  if (stage_ == Stage::body) arm_stage(Stage::body);
}

void Transfer::abandon() {
  owner_ = nullptr;
  close();
}

// --- Ends ----------------------------------------------------------------------------------------

void Transfer::report_outcome() {
  TransferOwner* owner = std::exchange(owner_, nullptr);
  ReadOutcome outcome = reader_.take_outcome();
  // A reply to a notification may take as long as any diagnostic.
  drain_time_ = outcome.kind == ReadOutcome::Kind::accepted
                    ? std::max(request_.times.diagnostic, default_drain_time)
                    : default_drain_time;
  if (added_) {
    arm_stage(Stage::draining);
    loop_.note_draining(*this);
  }
  owner->on_outcome(std::move(outcome), figures());
}

void Transfer::close() {
  if (std::exchange(added_, false)) loop_.remove(easy_);
  release();
}

void Transfer::release() {
  arm_stage(Stage::over);
  loop_.note_drained(*this);
  if (self_ != nullptr) loop_.retire(std::move(self_));
}

Error Transfer::failure(CURLcode code) {
  const ErrorCode meaning = failure_code(code);
  return make_error(meaning, failure_detail(meaning, code),
                    sent_once_ ? Delivery::unknown : Delivery::not_sent);
}

ErrorCode Transfer::failure_code(CURLcode code) const {
  long proxy_status = 0;
  curl_easy_getinfo(easy_, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  // Where there is a proxy, nothing but it is connected to.
  const bool is_proxy_missing = code == CURLE_COULDNT_CONNECT && !request_.options->proxy.empty();
  if (code == CURLE_OUT_OF_MEMORY && out_of_memory_) return ErrorCode::out_of_memory;
  if (reader_.phase() != ResponseReader::Phase::headers) return ErrorCode::body_truncated;
  if (is_header_overflow(code, reader_.header_bytes())) return ErrorCode::headers_too_large;
  if (!sent_once_ && (proxy_status >= 300 || is_proxy_missing)) return ErrorCode::proxy_failed;
  return code_before_response(code);
}

std::string Transfer::failure_detail(ErrorCode meaning, CURLcode code) const {
  const std::string& socket = request_.options->unix_socket_path;
  if (meaning == ErrorCode::connect_failed && !socket.empty()) {
    return "no connection to the Unix socket " + text::escape_printable(socket, shown_error_size);
  }
  if (meaning == ErrorCode::headers_too_large) {
    return "max_header_size: a header line is longer than libcurl takes (100 KiB)";
  }
  const std::string_view explained = handle_->error_text.data();
  if (explains_itself(meaning) && !explained.empty() && !quotes_proxy(explained)) {
    return text::escape_printable(explained, shown_error_size);
  }
  if (code == CURLE_ABORTED_BY_CALLBACK) {
    return "a kept connection was closed unanswered; the request was not sent again";
  }
  return curl_easy_strerror(code);
}

TransferFigures Transfer::figures() const {
  TransferFigures figures;
  curl_off_t sent = 0;
  long new_connections = 0;
  if (easy_ != nullptr) {
    curl_easy_getinfo(easy_, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &new_connections);
  }
  figures.bytes_sent = static_cast<std::uint64_t>(sent);
  figures.bytes_received = reader_.body_bytes();
  figures.events = reader_.events();
  figures.connected = connected_at_;
  figures.headers = headers_at_;
  figures.http_version = http_version();
  figures.connection_reused = connected_at_.has_value() && new_connections == 0;
  return figures;
}

}  // namespace mcphttp
