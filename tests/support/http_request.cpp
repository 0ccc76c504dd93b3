#include "support/http_request.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mcphttp::test {
namespace {

constexpr std::string_view crlf = "\r\n";
constexpr std::size_t max_head_bytes = std::size_t{1024} * 1024;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// RFC 9110 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view allowed =
      "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

// RFC 9110 5.5: no control characters but HTAB.
bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::optional<std::size_t> parse_number(std::string_view digits, int base) {
  std::size_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> Request::header(std::string_view name) const {
  for (const Header& field : headers) {
    if (equal_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::size_t Request::header_count(std::string_view name) const {
  const auto same = [&](const Header& field) { return equal_ignoring_case(field.name, name); };
  return static_cast<std::size_t>(std::count_if(headers.begin(), headers.end(), same));
}

void RequestParser::feed(std::string_view bytes) {
  buffer_.erase(0, std::exchange(used_, 0));
  buffer_.append(bytes);
}

std::optional<Request> RequestParser::next() {
  while (state_ != State::complete) {
    if (!step()) return std::nullopt;
  }
  state_ = State::head;
  return std::exchange(request_, Request{});
}

// True if another step may follow, false if more bytes are needed or nothing can follow.
bool RequestParser::step() {
  switch (state_) {
    case State::head:
      return read_head();
    case State::sized_body:
      return read_sized_body();
    case State::chunk_size:
      return read_chunk_size();
    case State::chunk_data:
      return read_chunk_data();
    case State::trailers:
      return read_trailers();
    case State::complete:
    case State::failed:
      return false;
  }
  return false;
}

bool RequestParser::read_head() {
  const std::string_view rest = std::string_view(buffer_).substr(used_);
  const auto end = rest.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return rest.size() > max_head_bytes && fail("request head too large");
  }
  used_ += end + 4;
  parse_head(rest.substr(0, end + crlf.size()));
  if (state_ != State::failed) choose_framing();
  return state_ != State::failed;
}

void RequestParser::parse_head(std::string_view head) {
  for (bool first = true; !head.empty() && state_ != State::failed; first = false) {
    const auto end = head.find(crlf);
    const std::string_view line = head.substr(0, end);
    first ? parse_request_line(line) : parse_header(line);
    head.remove_prefix(end + crlf.size());
  }
}

void RequestParser::parse_request_line(std::string_view line) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last ||
      line.find_first_of("\r\n") != std::string_view::npos) {
    fail("bad request line: " + std::string(line));
    return;
  }
  request_.method = line.substr(0, first);
  request_.target = line.substr(first + 1, last - first - 1);
  request_.version = line.substr(last + 1);
  const bool good = is_token(request_.method) && !request_.target.empty() &&
                    request_.target.find(' ') == std::string::npos &&
                    (request_.version == "HTTP/1.1" || request_.version == "HTTP/1.0");
  if (!good) fail("bad request line: " + std::string(line));
}

void RequestParser::parse_header(std::string_view line) {
  const auto colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  const std::string_view value =
      colon == std::string_view::npos ? "" : trim(line.substr(colon + 1));
  if (colon == std::string_view::npos || !is_token(name) || !is_field_value(value)) {
    fail("bad header line: " + std::string(line));
    return;
  }
  request_.headers.push_back({std::string(name), std::string(value)});
}

// RFC 9112 6.3, as it concerns requests.
void RequestParser::choose_framing() {
  const auto coding = request_.header("Transfer-Encoding");
  const auto length = request_.header("Content-Length");
  if (coding && length) {
    fail("both Transfer-Encoding and Content-Length");
  } else if (request_.header_count("Content-Length") > 1) {
    fail("more than one Content-Length");
  } else if (coding) {
    state_ = State::chunk_size;
    if (!equal_ignoring_case(*coding, "chunked")) fail("unknown Transfer-Encoding: " + *coding);
  } else {
    const auto size = length ? parse_number(*length, 10) : 0;
    remaining_ = size.value_or(0);
    state_ = State::sized_body;
    if (!size) fail("bad Content-Length: " + *length);
  }
}

bool RequestParser::read_sized_body() {
  const auto taken = std::min(remaining_, buffer_.size() - used_);
  request_.body.append(buffer_, used_, taken);
  used_ += taken;
  remaining_ -= taken;
  if (remaining_ > 0) return false;
  state_ = State::complete;
  return true;
}

bool RequestParser::read_chunk_size() {
  const auto line = take_line();
  if (!line) return false;
  const auto size = parse_number(trim(line->substr(0, line->find(';'))), 16);
  if (!size) return fail("bad chunk size: " + std::string(*line));
  remaining_ = *size;
  state_ = *size == 0 ? State::trailers : State::chunk_data;
  return true;
}

bool RequestParser::read_chunk_data() {
  const auto taken = std::min(remaining_, buffer_.size() - used_);
  request_.body.append(buffer_, used_, taken);
  used_ += taken;
  remaining_ -= taken;
  if (remaining_ > 0 || buffer_.size() - used_ < crlf.size()) return false;
  if (buffer_.compare(used_, crlf.size(), crlf) != 0) return fail("chunk longer than announced");
  used_ += crlf.size();
  state_ = State::chunk_size;
  return true;
}

bool RequestParser::read_trailers() {
  const auto line = take_line();
  if (!line) return false;
  if (line->empty()) state_ = State::complete;
  return true;
}

// The next line without its CRLF, valid until feed() is called; nullopt if its end has not arrived.
std::optional<std::string_view> RequestParser::take_line() {
  const auto end = buffer_.find(crlf, used_);
  if (end == std::string::npos) return std::nullopt;
  const std::string_view line = std::string_view(buffer_).substr(used_, end - used_);
  used_ = end + crlf.size();
  return line;
}

bool RequestParser::fail(std::string why) {
  state_ = State::failed;
  error_ = std::move(why);
  return false;
}

}  // namespace mcphttp::test
