#include "wire/expectations.hpp"

#include <map>
#include <string_view>

#include "wire/judge.hpp"
#include "wire/replay.hpp"

namespace mcphttp::test::wire {
namespace {

constexpr std::size_t shown_size = 300;

// The driver obeys it.
void check_watch(Judge& judge, const Json& wanted) {
  Milliseconds time{0};
  judge.read("watch_ms", wanted, time);
}

// For readers.
void check_nothing(Judge& /*judge*/, const Json& /*wanted*/) {}

const std::map<std::string_view, Check>& checks() {
  static const std::map<std::string_view, Check> table{
      {"outcome", check_outcome},
      {"error", check_error},
      {"error_any", check_error_any},
      {"status", check_status},
      {"content_type", check_content_type},
      {"location", check_location},
      {"www_authenticate", check_www_authenticate},
      {"retry_after_ms", check_retry_after},
      {"retryable", check_retryable},
      {"cause", check_cause},
      {"limit", check_limit},
      {"diag", check_diag},
      {"result", check_result},
      {"result_text_bytes", check_result_text_bytes},
      {"results_delivered", check_results_delivered},
      {"rpc_error", check_rpc_error},
      {"rpc_error_data", check_rpc_error_data},
      {"era", check_era},
      {"events", check_events},
      {"events_total", check_events_total},
      {"ids_in_order", check_ids_in_order},
      {"messages", check_messages},
      {"warnings", check_warnings},
      {"timing", check_timing},
      {"body_read_at_most", check_body_read_at_most},
      {"follow_ups", check_follow_ups},
      {"requests_total", check_requests_total},
      {"request_headers", check_request_headers},
      {"never_sends", check_never_sends},
      {"other_origin_requests", check_other_origin_requests},
      {"concurrent", check_concurrent},
      {"next_initialize", check_next_initialize},
      {"session_after", check_session_after},
      {"connection", check_connection},
      {"stream", check_stream},
      {"scope", check_scope},
      {"watch_ms", check_watch},
      {"spec", check_nothing},
      {"policy", check_nothing},
      {"contested", check_nothing},
      {"note", check_nothing},
  };
  return table;
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() <= shown_size) return text;
  const std::size_t size = text.size();
  return text.substr(0, shown_size) + "... (" + std::to_string(size) + " bytes)";
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// What no case needs to say.
void check_house_rules(Judge& judge) {
  const Recording& recording = judge.seen.recording;
  for (const std::string& fault : judge.seen.faults) judge.differ(fault);
  for (const Companion& companion : judge.seen.companions) {
    if (companion.failure.empty()) continue;
    judge.differ("the other call, " + companion.rpc + ", failed: " + companion.failure);
  }
  if (recording.ends > 1) judge.differ("the end was reported more than once");
  if (recording.misused) judge.differ("calls of the handler overlapped, or came after the end");
  if (!judge.script.expect.contains("outcome")) judge.differ("the case expects no outcome");
}

}  // namespace

void Judge::equal(std::string_view what, const Json& wanted, const Json& got) {
  if (wanted == got) return;
  differ(std::string(what) + ": " + shown(got) + ", expected " + shown(wanted));
}

void Judge::check(const Fields& fields) {
  if (auto error = fields.error(); !error.empty()) differ(std::move(error));
}

void Judge::within(std::string_view what, Milliseconds window, Milliseconds actual) {
  const auto most = std::chrono::duration_cast<Milliseconds>(window * time_scale);
  if (actual <= most) return;
  differ(std::string(what) + ": " + std::to_string(actual.count()) + " ms, at most " +
         std::to_string(most.count()) + " expected");
}

std::string Judge::with_ids(const std::string& text) const {
  const auto& scripted = script.replies.front().request.id;
  if (!scripted || seen.requests.empty()) return text;
  const Json body = Json::parse(seen.requests.front().request.body, nullptr, false);
  if (!body.is_object() || !body.contains("id")) return text;
  return with_received_id(text, {*scripted, body["id"]});
}

std::string Judge::with_ports(std::string text) const {
  replace_all(text, "{port}", std::to_string(seen.port));
  replace_all(text, "{other_port}", std::to_string(seen.other_port));
  return text;
}

Json to_json(std::string_view bytes) {
  const Json text(bytes);
  try {
    static_cast<void>(text.dump());
    return text;
  } catch (const Json::exception&) {
    Json list = Json::array();
    for (const char c : bytes) list.push_back(static_cast<unsigned char>(c));
    return list;
  }
}

std::vector<std::string> find_differences(const Script& script, const Observation& seen,
                                          double time_scale) {
  Judge judge{script, seen, time_scale, {}};
  if (!script.expect.is_object()) return {"expect: is not an object"};
  check_house_rules(judge);
  for (const auto& item : script.expect.items()) {
    const auto check = checks().find(item.key());
    if (check == checks().end()) {
      judge.differ("unknown expectation " + item.key());
    } else {
      check->second(judge, item.value());
    }
  }
  return judge.differences;
}

}  // namespace mcphttp::test::wire
