#include <algorithm>
#include <array>
#include <utility>

#include "wire/judge.hpp"

namespace mcphttp::test::wire {
namespace {

bool sees_exchange(Judge& judge, std::string_view what) {
  if (judge.seen.through_client)
    judge.differ(std::string(what) + ": cannot be seen through Client");
  return !judge.seen.through_client;
}

std::string shown(const SeenEvent& event) {
  constexpr std::size_t most = 200;
  std::string data = to_json(event.data).dump();
  if (data.size() > most) data = data.substr(0, most) + "...";
  return event.type + " " + data + " id " + to_json(event.id).dump();
}

void check_event(Judge& judge, const std::string& where, const Json& wanted,
                 const SeenEvent& event) {
  Fields fields(wanted, where);
  std::string type = "message";
  std::string id;
  std::string data;
  std::optional<std::size_t> data_bytes;
  std::optional<std::size_t> id_bytes;
  fields.read("event", type);
  fields.read("id", id);
  fields.read("data", data);
  fields.read("data_bytes", data_bytes);
  fields.read("id_bytes", id_bytes);
  judge.check(fields);
  const bool same_id = id_bytes ? event.id.size() == *id_bytes : event.id == id;
  const bool same_size = !data_bytes || event.data.size() == *data_bytes;
  const bool same_data = !fields.has("data") || event.data == judge.with_ids(data);
  if (event.type == type && same_id && same_size && same_data) return;
  judge.differ(where + ": " + shown(event) + ", expected " + wanted.dump());
}

// "n1..n64" as the list it stands for; a list as it is; null if it is neither.
Json expand_ids(const Json& wanted) {
  if (wanted.is_array()) return wanted;
  if (!wanted.is_string()) return nullptr;
  const auto text = wanted.get<std::string>();
  const auto dots = text.find("..");
  const auto digits = text.find_first_of("0123456789");
  if (dots == std::string::npos || digits > dots) return nullptr;
  const std::string prefix = text.substr(0, digits);
  const std::string last = text.substr(dots + 2);
  if (last.compare(0, prefix.size(), prefix) != 0) return nullptr;
  constexpr std::size_t most_digits = 9;
  const std::string last_number = last.substr(prefix.size());
  if (last_number.empty() || last_number.size() > most_digits ||
      last_number.find_first_not_of("0123456789") != std::string::npos) {
    return nullptr;
  }
  Json ids = Json::array();
  const int end = std::stoi(last_number);
  for (int i = std::stoi(text.substr(digits, dots - digits)); i <= end; ++i) {
    ids.push_back(prefix + std::to_string(i));
  }
  return ids;
}

// Older cases name two kinds by the error they would have been.
std::string kind_name(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> older{
      {{"malformed_message", "malformed_event"},
       {"malformed_json", "malformed_event"},
       {"id_mismatch", "foreign_message"}}};
  const auto* found = std::find_if(older.begin(), older.end(),
                                   [&name](const auto& pair) { return pair.first == name; });
  return found != older.end() ? std::string(found->second) : name;
}

void check_event_times(Judge& judge, const Json& wanted) {
  const auto& events = judge.seen.recording.events;
  if (!wanted.is_array() || wanted.size() > events.size()) {
    return judge.differ("event_at_ms: there are " + std::to_string(events.size()) + " events");
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string what = "event_at_ms " + std::to_string(i + 1);
    Milliseconds least{0};
    Milliseconds most{0};
    const Json& window = wanted[i];
    if (!window.is_array() || window.size() != 2) return judge.differ(what + ": is no window");
    if (!judge.read(what, window[0], least) || !judge.read(what, window[1], most)) return;
    const auto at = std::chrono::duration_cast<Milliseconds>(events[i].at - judge.seen.started_at);
    if (at < least) {
      judge.differ(what + ": " + std::to_string(at.count()) + " ms, at least " +
                   std::to_string(least.count()) + " expected");
    }
    judge.within(what, most, at);
  }
}

}  // namespace

void check_events(Judge& judge, const Json& wanted) {
  if (!sees_exchange(judge, "events")) return;
  const auto& events = judge.seen.recording.events;
  if (!wanted.is_array()) return judge.differ("events: is not a list");
  for (std::size_t i = 0; i < std::min(wanted.size(), events.size()); ++i) {
    check_event(judge, "event " + std::to_string(i + 1), wanted[i], events[i]);
  }
  if (wanted.size() == events.size()) return;
  judge.equal("number of events", wanted.size(), events.size());
  if (events.size() > wanted.size())
    judge.differ("first event more: " + shown(events[wanted.size()]));
}

void check_events_total(Judge& judge, const Json& wanted) {
  if (!sees_exchange(judge, "events_total")) return;
  judge.equal("events_total", wanted, judge.seen.recording.events.size());
}

void check_ids_in_order(Judge& judge, const Json& wanted) {
  if (!sees_exchange(judge, "ids_in_order")) return;
  const Json ids = expand_ids(wanted);
  if (ids.is_null()) return judge.differ("ids_in_order: neither a list nor a range");
  Json seen = Json::array();
  for (const SeenEvent& event : judge.seen.recording.events) {
    if (event.has_id) seen.push_back(to_json(event.id));
  }
  judge.equal("ids_in_order", ids, seen);
}

void check_messages(Judge& judge, const Json& wanted) {
  judge.equal("messages", wanted, judge.seen.recording.methods);
}

void check_warnings(Judge& judge, const Json& wanted) {
  Json seen = Json::array();
  for (const WarningKind kind : judge.seen.recording.warnings) {
    seen.push_back(std::string(to_string(kind)));
  }
  Json named = wanted;
  for (Json& name : named) {
    if (name.is_string()) name = kind_name(name.get<std::string>());
  }
  judge.equal("warnings", named, seen);
}

void check_timing(Judge& judge, const Json& wanted) {
  Fields fields(wanted, "timing");
  std::optional<Milliseconds> done_within;
  std::optional<Milliseconds> cpu_within;
  Json event_at;
  fields.read("done_within_ms", done_within);
  fields.read("client_cpu_within_ms", cpu_within);
  fields.read("event_at_ms", event_at);
  judge.check(fields);
  const Recording& recording = judge.seen.recording;
  if (done_within && recording.end) {
    judge.within(
        "done_within_ms", *done_within,
        std::chrono::duration_cast<Milliseconds>(recording.ended_at - judge.seen.started_at));
  }
  if (done_within && !recording.end) judge.differ("done_within_ms: there was no end");
  if (cpu_within) judge.within("client_cpu_within_ms", *cpu_within, recording.cpu);
  if (fields.has("event_at_ms")) check_event_times(judge, event_at);
}

void check_body_read_at_most(Judge& judge, const Json& wanted) {
  std::size_t most = 0;
  if (!judge.read("body_read_at_most", wanted, most)) return;
  if (!sees_exchange(judge, "body_read_at_most")) return;
  const auto& end = judge.seen.recording.end;
  const std::uint64_t read = end ? end->figures.bytes_received : 0;
  if (!end || read > most) {
    judge.differ("body_read_at_most: " + std::to_string(read) + ", expected " +
                 std::to_string(most));
  }
}

}  // namespace mcphttp::test::wire
