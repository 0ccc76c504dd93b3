// How the easy handle of a Transfer is set up.
#include <memory>

#include "transfer.hpp"

namespace mcphttp {
namespace {

constexpr std::size_t usual_header_lines = 8;

constexpr long receive_buffer = 64L * 1024;

// libcurl's own connect timer must not come before ours; 0 would mean its default.
constexpr long connect_never_ms = 24L * 60 * 60 * 1000;

}  // namespace

bool can_speak_http2() noexcept {
  constexpr unsigned fit = 0x080E00;  // 8.14.0
  static const bool can = [] {
    const curl_version_info_data* version = curl_version_info(CURLVERSION_NOW);
    return version->version_num >= fit && (version->features & CURL_VERSION_HTTP2) != 0;
  }();
  return can;
}

bool Transfer::configure() {
  // Only a POST sets every option that a POST has set.
  if (request_.method == "POST") handle_ = loop_.handles().take(request_.options);
  const bool is_new = handle_ == nullptr;
  if (is_new) handle_ = std::make_unique<EasyHandle>(request_.options);
  easy_ = handle_->curl;
  if (easy_ == nullptr) return false;
  if (is_new) configure_handle();
  handle_->transfer = this;
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, static_cast<CompletionListener*>(this));
  return configure_request();
}

// What stays the same for all requests with these options.
void Transfer::configure_handle() {
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, handle_->error_text.data());
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, receive_buffer);
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl_easy_setopt(easy_, CURLOPT_PREREQFUNCTION, &Transfer::on_request_ready);
  for (const CURLoption whose : {CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA})
    curl_easy_setopt(easy_, whose, handle_.get());
  curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_open_socket);
  curl_easy_setopt(easy_, CURLOPT_CLOSESOCKETFUNCTION, &Transfer::on_close_socket);
  // Those are called for a connection, which outlives the handle but not the loop.
  for (const CURLoption whose : {CURLOPT_OPENSOCKETDATA, CURLOPT_CLOSESOCKETDATA})
    curl_easy_setopt(easy_, whose, &loop_);
  configure_connection();
}

void Transfer::configure_connection() {
  const TransportOptions& options = *request_.options;
  const auto set_text = [this](CURLoption option, const std::string& value) {
    if (!value.empty()) curl_easy_setopt(easy_, option, value.c_str());
  };
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  // Following would send our headers to other origins; the exchange follows by hand.
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, connect_never_ms);
  // Otherwise a hanging name lookup holds up whoever cancels.
  curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);

  static const char* const built_in_roots = curl_version_info(CURLVERSION_NOW)->cainfo;
  set_text(CURLOPT_CAINFO, options.ca_file);
  // With a directory set as well, libcurl parses and keeps all roots anew for each connection.
  if (!options.ca_file.empty() || built_in_roots != nullptr) {
    curl_easy_setopt(easy_, CURLOPT_CAPATH, nullptr);
  }
  set_text(CURLOPT_SSLCERT, options.client_certificate);
  set_text(CURLOPT_SSLKEY, options.client_key);
  set_text(CURLOPT_UNIX_SOCKET_PATH, options.unix_socket_path);
  set_text(CURLOPT_INTERFACE, options.bind_interface);
  if (!options.proxy_from_environment) {
    curl_easy_setopt(easy_, CURLOPT_PROXY, options.proxy.c_str());  // empty: none
    curl_easy_setopt(easy_, CURLOPT_NOPROXY, "");                   // else the environment's
  }
}

void Transfer::configure_http_version() {
  long version = CURL_HTTP_VERSION_1_1;
  if (request_.http2) {
    const bool is_secure = request_.target->url().scheme == "https";
    version = is_secure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
  }
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, version);
  // Rather wait for a connection that others are opening than open one more.
  curl_easy_setopt(easy_, CURLOPT_PIPEWAIT, request_.http2 ? 1L : 0L);
}

bool Transfer::configure_request() {
  handle_->aim_at(request_.target);
  curl_easy_setopt(easy_, CURLOPT_MAXAGE_CONN,
                   static_cast<long>(request_.max_connection_idle.count()));
  configure_http_version();
  if (request_.method == "GET" && request_.body == nullptr) {
    curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
    // A stream keeps its connection for long. To look through those of all other streams for one to
    // reuse would make opening each take longer than the one before. HTTP/2 streams share one.
    curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, request_.http2 ? 0L : 1L);
  } else if (request_.method == "HEAD") {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  } else if (request_.method != "POST") {  // which the body will make it
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  if (request_.body != nullptr) {
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body->size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body->data());
  }
  list_header_lines();
  return curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, header_list_.data()) == CURLE_OK;
}

// libcurl reads its list of lines and never writes to it, so that they need not be copied.
void Transfer::list_header_lines() {
  const auto add = [this](const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
      header_list_.push_back({const_cast<char*>(line.c_str()), nullptr});
  };
  header_list_.reserve(usual_header_lines);
  for (const HeaderLines& lines : request_.shared_header_lines) {
    if (lines != nullptr) add(*lines);
  }
  add(request_.own_header_lines);
  for (std::size_t i = 1; i < header_list_.size(); ++i) header_list_[i - 1].next = &header_list_[i];
}

}  // namespace mcphttp
