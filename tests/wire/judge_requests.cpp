#include <algorithm>

#include "wire/judge.hpp"

namespace mcphttp::test::wire {
namespace {

Milliseconds between(TimePoint from, TimePoint to) {
  return std::chrono::duration_cast<Milliseconds>(to - from);
}

// A value, or "absent"; or a list of which one must hold.
bool header_fits(const Judge& judge, const Request& request, const std::string& name,
                 const Json& wanted) {
  if (wanted.is_array()) {
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const Json& one) { return header_fits(judge, request, name, one); });
  }
  const auto value = request.header(name);
  if (wanted == "absent") return !value;
  return value && wanted.is_string() && request.header_count(name) == 1 &&
         judge.with_ports(wanted.get<std::string>()) == *value;
}

void check_headers(Judge& judge, const std::string& where, const Request& request,
                   const Json& wanted) {
  if (!wanted.is_object()) return judge.differ(where + ": headers is not an object");
  for (const auto& item : wanted.items()) {
    if (header_fits(judge, request, item.key(), item.value())) continue;
    const auto value = request.header(item.key());
    judge.differ(where + ": " + item.key() + " is " + (value ? to_json(*value).dump() : "absent") +
                 ", expected " + item.value().dump());
  }
}

// True if all members wanted are there, with members of objects in turn judged so.
bool has_members(const Json& wanted, const Json& got) {
  if (!wanted.is_object()) return wanted == got;
  if (!got.is_object()) return false;
  return std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& item) {
    return got.contains(item.key()) && has_members(item.value(), got.at(item.key()));
  });
}

struct FollowUp {
  std::string method;
  std::string rpc;
  std::string path;
  Json headers = Json::object();
  Json after;
  Json body;
  bool same_body = false;
  std::optional<Milliseconds> done_within;
};

FollowUp read_follow_up(Judge& judge, const std::string& where, const Json& wanted) {
  FollowUp follow_up;
  Fields fields(wanted, where);
  fields.read("method", follow_up.method);
  fields.read("rpc", follow_up.rpc);
  fields.read("path", follow_up.path);
  fields.read("headers", follow_up.headers);
  fields.read("after_ms", follow_up.after);
  fields.read("body", follow_up.body);
  fields.read("same_body", follow_up.same_body);
  fields.read("done_within_ms", follow_up.done_within);
  judge.check(fields);
  return follow_up;
}

void check_request(Judge& judge, const std::string& where, const FollowUp& wanted,
                   const SeenRequest& seen) {
  const Request& request = seen.request;
  if (!wanted.method.empty()) judge.equal(where + " method", wanted.method, request.method);
  if (!wanted.rpc.empty()) judge.equal(where + " rpc", wanted.rpc, to_json(seen.rpc));
  if (!wanted.path.empty()) judge.equal(where + " path", wanted.path, to_json(request.target));
  check_headers(judge, where, request, wanted.headers);
  const std::string& first = judge.seen.requests.front().request.body;
  if (wanted.same_body && request.body != first) {
    judge.differ(where + ": the body is not that of the first request");
  }
  if (wanted.body.is_null()) return;
  const Json body = Json::parse(request.body, nullptr, false);
  const Json members = Json::parse(judge.with_ids(wanted.body.dump()), nullptr, false);
  if (!has_members(members, body)) judge.equal(where + " body", members, body);
}

// From the end of the reply before; the lower bound is exact.
void check_wait(Judge& judge, const std::string& where, const Json& window, std::size_t at) {
  Milliseconds least{0};
  Milliseconds most{0};
  if (!window.is_array() || window.size() != 2 || !judge.read(where, window[0], least) ||
      !judge.read(where, window[1], most)) {
    return judge.differ(where + ": after_ms is no window");
  }
  const SeenRequest& before = judge.seen.requests[at - 1];
  const TimePoint came = judge.seen.requests[at].request.received_at;
  if (!before.ended_at) return judge.differ(where + ": came before the reply before had ended");
  if (came - *before.ended_at < least) {
    judge.differ(where + ": came after " + std::to_string(between(*before.ended_at, came).count()) +
                 " ms, at least " + std::to_string(least.count()) + " expected");
  }
  judge.within(where + " after_ms", most, between(*before.ended_at, came));
}

// Its answer: known of the harness's own calls; for a request that the client makes by itself it is
// the outcome.
void check_answer_time(Judge& judge, const std::string& where, Milliseconds most,
                       const SeenRequest& request) {
  for (const Companion& companion : judge.seen.companions) {
    if (companion.rpc != request.rpc) continue;
    return judge.within(where + " done_within_ms", most,
                        between(companion.started_at, companion.ended_at));
  }
  judge.within(where + " done_within_ms", most,
               between(request.request.received_at, judge.seen.recording.ended_at));
}

}  // namespace

void check_follow_ups(Judge& judge, const Json& wanted) {
  if (!wanted.is_array()) return judge.differ("follow_ups: is not a list");
  const auto& requests = judge.seen.requests;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string where = "follow-up " + std::to_string(i + 1);
    const FollowUp follow_up = read_follow_up(judge, where, wanted[i]);
    if (i + 1 >= requests.size()) {
      judge.differ(where + ": did not come");
      continue;
    }
    check_request(judge, where, follow_up, requests[i + 1]);
    if (!follow_up.after.is_null()) check_wait(judge, where, follow_up.after, i + 1);
    if (follow_up.done_within) {
      check_answer_time(judge, where, *follow_up.done_within, requests[i + 1]);
    }
  }
}

void check_requests_total(Judge& judge, const Json& wanted) {
  judge.equal("requests_total", wanted, judge.seen.requests.size());
}

void check_request_headers(Judge& judge, const Json& wanted) {
  if (judge.seen.requests.empty()) return judge.differ("request_headers: there was no request");
  check_headers(judge, "request", judge.seen.requests.front().request, wanted);
}

void check_never_sends(Judge& judge, const Json& wanted) {
  if (!wanted.is_array()) return judge.differ("never_sends: is not a list");
  for (const SeenRequest& request : judge.seen.requests) {
    const auto found = std::find(wanted.begin(), wanted.end(), Json(request.rpc));
    if (found != wanted.end()) judge.differ("never_sends: " + request.rpc + " was sent");
  }
}

void check_other_origin_requests(Judge& judge, const Json& wanted) {
  judge.equal("other_origin_requests", wanted, judge.seen.other_origin_requests);
}

void check_concurrent(Judge& judge, const Json& wanted) {
  Fields fields(wanted, "concurrent");
  std::string rpc;
  std::optional<Milliseconds> done_within;
  fields.require("request", rpc);
  fields.read("done_within_ms", done_within);
  judge.check(fields);
  const auto& companions = judge.seen.companions;
  const auto found = std::find_if(companions.begin(), companions.end(),
                                  [&rpc](const Companion& call) { return call.rpc == rpc; });
  if (found == companions.end()) return judge.differ("concurrent: no reply for " + rpc);
  if (done_within) {
    judge.within("concurrent", *done_within, between(found->started_at, found->ended_at));
  }
  const Recording& recording = judge.seen.recording;
  if (recording.end && recording.ended_at < found->ended_at) {
    judge.differ("concurrent: the other call ended after the case's own");
  }
}

void check_next_initialize(Judge& judge, const Json& wanted) {
  Fields fields(wanted, "next_initialize");
  Json headers = Json::object();
  fields.read("headers", headers);
  judge.check(fields);
  const auto& probe = judge.seen.next_initialize;
  if (!probe || !probe->request) return judge.differ("next_initialize: was not sent");
  if (!probe->failure.empty()) judge.differ("next_initialize: failed: " + probe->failure);
  check_headers(judge, "next_initialize", *probe->request, headers);
}

void check_session_after(Judge& judge, const Json& wanted) {
  const std::string& session = judge.seen.session;
  judge.equal("session_after", wanted, session.empty() ? Json() : to_json(session));
}

void check_connection(Judge& judge, const Json& wanted) {
  if (wanted != "closed_by_client") return judge.differ("connection: unknown " + wanted.dump());
  const auto& requests = judge.seen.requests;
  if (requests.empty() || !requests.front().closed_by_client) {
    judge.differ("connection: the client has not closed it");
  }
}

void check_stream(Judge& judge, const Json& wanted) {
  judge.equal("stream", wanted, judge.seen.stream);
}

// What came after the error of a stream was answered as if nothing had happened.
void check_scope(Judge& judge, const Json& wanted) {
  if (wanted != "stream") return judge.differ("scope: unknown " + wanted.dump());
  const auto& probe = judge.seen.next_call;
  if (!probe || !probe->failure.empty()) {
    judge.differ("scope: the next call failed: " + (probe ? probe->failure : "not made"));
  }
}

}  // namespace mcphttp::test::wire
