#include "row.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "clients.hpp"
#include "integration/helpers.hpp"
#include "servers.hpp"

namespace mcphttp::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t mebibyte = 1024 * kibibyte;

// --- Limits and times that the rows share --------------------------------------------------------

constexpr std::size_t json_limit = mebibyte;
constexpr std::size_t event_limit = mebibyte;
constexpr std::size_t error_limit = 64 * kibibyte;
constexpr std::size_t header_limit = 64 * kibibyte;
constexpr std::size_t stream_limit = 8 * mebibyte;
constexpr std::size_t queue_limit = 256 * kibibyte;
constexpr std::size_t list_limit = 8 * mebibyte;

ResponseLimits small_stream() {
  ResponseLimits limits = small_limits();
  limits.max_stream_size = stream_limit;
  return limits;
}

Timeouts within(std::chrono::milliseconds headers, std::chrono::milliseconds idle,
                std::chrono::milliseconds total) {
  Timeouts timeouts;
  timeouts.headers = headers;
  timeouts.idle = idle;
  timeouts.total = total;
  timeouts.diagnostic = 300ms;
  return timeouts;
}

const Timeouts impatient_for_headers = within(300ms, 20s, 25s);
const Timeouts impatient_when_idle = within(20s, 300ms, 25s);
const Timeouts impatient_in_all = within(20s, 20s, 1s);

// --- Memory, by the comment of ResponseLimits ----------------------------------------------------

std::size_t any(const ResponseLimits& limits) { return limits.max_header_size + 64 * kibibyte; }

std::size_t json_dropped(const ResponseLimits& limits) {
  return limits.max_json_response_size + 64 + 256 * kibibyte + any(limits);
}

std::size_t checked(std::size_t size) { return size * 57 / 10; }

std::size_t json_checked(const ResponseLimits& limits) {
  return json_dropped(limits) + checked(limits.max_json_response_size);
}

std::size_t typed(const ResponseLimits& limits) {
  return 3 * limits.max_json_response_size + json_checked(limits);
}

std::size_t diagnostic(const ResponseLimits& limits) {
  return 2 * limits.max_error_response_size + 64 + any(limits);
}

std::size_t event_dropped(const ResponseLimits& limits) {
  return 2 * limits.max_sse_event_size + limits.max_queued_size + limits.max_sse_event_size +
         any(limits);
}

std::size_t event_checked(const ResponseLimits& limits) {
  return event_dropped(limits) + checked(limits.max_sse_event_size);
}

// Events of some hundred bytes.
std::size_t queue(const ResponseLimits& limits) { return limits.max_queued_size + any(limits); }

// Besides the exchange of the call, those of sixteen answers.
std::size_t queue_and_answers(const ResponseLimits& limits) {
  return queue(limits) + 16 * 64 * kibibyte;
}

std::size_t list(const ResponseLimits& limits) {
  return 3 * limits.max_list_size + json_checked(limits);
}

// --- What is sent --------------------------------------------------------------------------------

std::string call_result(const std::string& result) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + result + "}";
}

// Half a limit of opening brackets and as many closing ones.
std::string deep_result() {
  constexpr std::size_t depth = json_limit / 2 - 100;
  return call_result(std::string(depth, '[') + std::string(depth, ']'));
}

// The text that costs its checker most: nothing but values.
std::string dense_result() {
  return call_result("{\"a\":[1" + repeated(",1", json_limit / 2 - 100) + "]}");
}

std::string in_json(const std::string& body) {
  return head(200, {{"Content-Type", "application/json"},
                    {"Content-Length", std::to_string(body.size())}}) +
         body;
}

std::string in_event(const std::string& data) {
  return head(200, {{"Content-Type", "text/event-stream"}, {"Transfer-Encoding", "chunked"}}) +
         chunk(event(data)) + std::string(last_chunk);
}

std::string dense_json() { return in_json(dense_result()); }
std::string dense_event() { return in_event(dense_result()); }
std::string deep_json() { return in_json(deep_result()); }
std::string deep_event() { return in_event(deep_result()); }

std::string coded_head(const std::string& field, const std::string& coding) {
  return head(200, {{"Content-Type", "application/json"}, {field, coding}});
}

std::string chunked_json(const std::string& begin) {
  return head(200, {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}}) +
         begin;
}

std::string page_with(const std::string& tools, const std::string& cursor) {
  return R"({"tools":[)" + tools + R"(],"nextCursor":")" + cursor + "\"}";
}

std::string new_cursor(std::size_t page) { return page_with("", std::to_string(page)); }

std::string same_cursor(std::size_t /*page*/) { return page_with("", "again"); }

std::string big_page(std::size_t page) {
  return page_with(R"({"name":")" + std::string(json_limit / 2, 'x') + "\"}", std::to_string(page));
}

std::string page_of_tiny_tools(std::size_t page) {
  return page_with("{}" + repeated(",{}", 999), std::to_string(page));
}

std::string big_block() {
  return R"({"content":[{"type":"text","text":")" + std::string(json_limit - 1000, 'x') + "\"}]}";
}

// As many as are allowed.
std::string many_blocks() {
  return R"({"content":[{})" + repeated(",{}", json_limit / 260 - 100) + "]}";
}

std::string tiny_blocks() {
  return R"({"content":[{})" + repeated(",{}", json_limit / 3 - 100) + "]}";
}

// --- The table -----------------------------------------------------------------------------------

const std::string json_begin = json_head() + R"({"jsonrpc":"2.0","id":1,"result":")";
const std::string page_head = head(500, {{"Content-Type", "text/html"}});
const std::string filling = "xxxxxxxx";

std::vector<Row> json_rows() {
  return {
      {"json", "a JSON answer without end", endless(json_begin, filling), post, "json_too_large",
       "max_json_response_size (1048576 bytes)", json_dropped, json_limit},
      {"json-error", "a JSON error without end", endless(json_head(500) + "{\"a\":\"", filling),
       post, "json_too_large", "max_json_response_size (1048576 bytes)", json_dropped, json_limit},
      {"json-dense", "a JSON answer at the limit, all values", whole(dense_json), post, "answered",
       "", json_checked},
      {"tool-tiny", "a tool result of empty blocks", calls(tiny_blocks), call_tool,
       "json_too_large", "max_json_response_size (1048576 bytes)", json_checked},
      {"tool-text", "a tool result at the limit, one text", calls(big_block), call_tool, "answered",
       "", typed},
      {"tool-blocks", "a tool result at the limit, empty blocks", calls(many_blocks), call_tool,
       "answered", "", typed},
      {"json-deep", "a JSON answer of brackets", whole(deep_json), post, "json_too_deep",
       "max_json_depth", json_checked},
      {"error-page", "an HTML error page without end", endless(page_head, filling), post,
       "http_error", "HTTP 500; kept 65536 bytes, truncated", diagnostic, error_limit},
  };
}

std::vector<Row> event_rows() {
  return {
      {"sse-line", "a data line without end", endless(events_head() + "data: ", filling), post,
       "event_too_large", "max_sse_event_size (1048576 bytes)", event_dropped, event_limit},
      {"sse-data-lines", "short data lines without end", endless(events_head(), "data: x\n"), post,
       "event_too_large", "max_sse_event_size (1048576 bytes)", event_dropped, 4 * event_limit},
      {"sse-event-name", "an event name without end", endless(events_head() + "event: ", filling),
       post, "event_too_large", "max_sse_event_size", event_dropped, event_limit},
      {"sse-id", "an event id without end", endless(events_head() + "id: ", filling), post,
       "event_too_large", "max_sse_event_size", event_dropped, event_limit},
      {"sse-field-name", "a field name without end", endless(events_head(), filling), post,
       "event_too_large", "max_sse_event_size", event_dropped, event_limit},
      {"sse-dense", "an event at the limit, all values", whole(dense_event), post, "answered", "",
       event_checked},
      {"sse-deep", "an event of brackets", whole(deep_event), post, "json_too_deep",
       "max_json_depth", event_checked},
      {"comments", "comments without end", endless(events_head(), ": x\n"), post, "timeout_total",
       "Timeouts::total", any, unlimited, small_limits(), impatient_in_all},
      {"comments-bounded", "the same, under max_stream_size", endless(events_head(), ": x\n"), post,
       "stream_too_large", "max_stream_size (8388608 bytes)", any, stream_limit, small_stream()},
      {"comment", "one comment without end, the same", endless(events_head() + ":", filling), post,
       "stream_too_large", "max_stream_size (8388608 bytes)", any, stream_limit, small_stream()},
  };
}

std::vector<Row> head_rows() {
  const GzipBomb bomb = gzip_bomb();
  return {
      {"headers", "header fields without end", endless(status_line(200), "X-More: to come\r\n"),
       post, "headers_too_large", "max_header_size (65536 bytes)", any, header_limit},
      {"header-line", "one header field without end", endless(status_line(200) + "X: ", filling),
       post, "headers_too_large", "", any, header_limit},
      {"trailers", "trailers without end",
       endless(chunked_json("2\r\n{}\r\n0\r\n"), "X-More: to come\r\n"), post, "headers_too_large",
       "max_header_size (65536 bytes)", any, header_limit},
      {"chunk-extension", "a chunk extension without end", endless(chunked_json("1;x="), filling),
       post, "timeout_idle", "Timeouts::idle", any, unlimited, small_limits(), impatient_when_idle},
      {"early-hints", "1xx blocks without end", endless("", head(103, {{"Link", "</a>"}})), post,
       "headers_too_large", "max_header_size (65536 bytes)", any, header_limit},
      {"gzip-content", "a gzip bomb as Content-Encoding",
       endless(coded_head("Content-Encoding", "gzip") + bomb.begin, bomb.again), post,
       "bad_content_encoding", "a content coding", any, 0},
      {"gzip-transfer", "a gzip bomb as Transfer-Encoding",
       endless(coded_head("Transfer-Encoding", "gzip") + bomb.begin, bomb.again), post,
       "bad_content_encoding", "", any, 0},
  };
}

std::vector<Row> call_rows() {
  return {
      {"list-cursors", "list pages without end, each a new cursor", lists(new_cursor), list_tools,
       "list_too_large", "max_list_pages (1000)", any},
      {"list-same-cursor", "list pages without end, always one cursor", lists(same_cursor),
       list_tools, "list_too_large", "a cursor came twice", any},
      {"list-size", "big list pages without end", lists(big_page), list_tools, "list_too_large",
       "max_list_size (8388608 bytes)", list, list_limit + json_limit},
      {"list-tiny", "list pages of tiny tools without end", lists(page_of_tiny_tools), list_tools,
       "list_too_large", "max_list_size (8388608 bytes)", list, list_limit + json_limit},
      {"asks-handler", "requests without end, to a slow handler", asks_without_end("ask"),
       call_tool, "timeout_total", "Timeouts::total", queue, queue_limit, small_limits(),
       impatient_in_all},
      {"asks-client", "requests without end; takes no answers", asks_without_end("ping"), call_tool,
       "timeout_total", "Timeouts::total", queue_and_answers, queue_limit, small_limits(),
       impatient_in_all},
  };
}

std::vector<Row> time_rows() {
  return {
      {"drip-head", "a header field, byte by byte", dripping(status_line(200) + "X: ", "x"), post,
       "timeout_header", "Timeouts::headers (300 ms)", any, unlimited, small_limits(),
       impatient_for_headers},
      {"drip-body", "a JSON answer, byte by byte", dripping(json_begin, "x"), post, "timeout_total",
       "Timeouts::total", any, unlimited, small_limits(), impatient_in_all},
      {"drip-error", "an HTML error page, byte by byte", dripping(page_head, "x"), post,
       "http_error", "truncated", any},
      {"silent-accept", "nothing", silent_after(""), post, "timeout_header",
       "Timeouts::headers (300 ms)", any, unlimited, small_limits(), impatient_for_headers},
      {"silent-head", "half a header, then nothing", silent_after(status_line(200) + "Content-T"),
       post, "timeout_header", "Timeouts::headers (300 ms)", any, unlimited, small_limits(),
       impatient_for_headers},
      {"silent-headers", "headers, then nothing", silent_after(json_head()), post, "timeout_idle",
       "Timeouts::idle (300 ms)", any, unlimited, small_limits(), impatient_when_idle},
      {"silent-body", "half a JSON answer, then nothing", silent_after(json_begin), post,
       "timeout_idle", "Timeouts::idle (300 ms)", any, unlimited, small_limits(),
       impatient_when_idle},
      {"silent-event", "half an event, then nothing", silent_after(events_head() + "data: {\"js"),
       post, "timeout_idle", "Timeouts::idle (300 ms)", any, unlimited, small_limits(),
       impatient_when_idle},
  };
}

std::vector<Row> cut_rows() {
  return {
      {"cut-json", "a JSON answer, cut at each byte", cuts(json_answer), be_cut_off_json,
       "answered body_truncated connection_lost", "", any},
      {"cut-events", "an event stream, cut at each byte", cuts(events_answer), be_cut_off_events,
       "answered connection_lost stream_ended_without_response", "", any},
  };
}

}  // namespace

ResponseLimits small_limits() {
  ResponseLimits limits;
  limits.max_json_response_size = json_limit;
  limits.max_error_response_size = error_limit;
  limits.max_sse_event_size = event_limit;
  limits.max_header_size = header_limit;
  limits.max_queued_size = queue_limit;
  limits.max_list_size = list_limit;
  return limits;
}

Timeouts patient() { return within(20s, 20s, 25s); }

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> joined;
    for (const auto group : {json_rows, event_rows, head_rows, call_rows, time_rows, cut_rows}) {
      for (Row& row : group()) joined.push_back(std::move(row));
    }
    return joined;
  }();
  return all;
}

}  // namespace mcphttp::test
