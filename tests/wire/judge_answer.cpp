#include <algorithm>
#include <utility>

#include "era.hpp"
#include "rpc.hpp"
#include "text.hpp"
#include "wire/judge.hpp"

namespace mcphttp::test::wire {
namespace {

// The error of the exchange: that of a transport_error, or the reason why no stream is offered.
const Error* error_of(const Judge& judge) {
  if (judge.seen.error) return &*judge.seen.error;
  const auto& end = judge.seen.recording.end;
  return end && end->error ? &*end->error : nullptr;
}

const Error* need_error(Judge& judge, std::string_view what) {
  const Error* error = error_of(judge);
  if (error == nullptr) judge.differ(std::string(what) + ": there is no error");
  return error;
}

Json optional_text(const std::string& text) { return text.empty() ? Json() : Json(text); }

// The response, as JSON; null if there is none.
Json answer_of(const Judge& judge) {
  const auto& answers = judge.seen.recording.answers;
  return answers.empty() ? Json() : Json::parse(answers.back(), nullptr, false);
}

Json member(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : Json();
}

bool is_utf8(std::string_view text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

// C0 controls and DEL; C1 controls, in UTF-8, are C2 80 to C2 9F.
bool has_control_character(std::string_view text, const std::vector<std::string>& allowed) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    const std::string character(text.substr(i, c1 ? 2 : 1));
    const bool is_control = byte < 0x20 || byte == 0x7F || c1;
    if (is_control && std::find(allowed.begin(), allowed.end(), character) == allowed.end()) {
      return true;
    }
  }
  return false;
}

// A case's name for a limit: the library's, and its value in the case.
std::pair<std::string, std::size_t> find_limit(const Limits& limits, const std::string& name) {
  if (name == "json_bytes") return {"max_json_response_size", limits.json_bytes};
  if (name == "json_depth") return {"max_json_depth", limits.json_depth};
  if (name == "event_bytes") return {"max_sse_event_size", limits.event_bytes};
  if (name == "id_bytes") return {"max_event_id_size", limits.id_bytes};
  if (name == "diag_bytes") return {"max_error_response_size", limits.diag_bytes};
  return {};
}

// What a client of both eras makes of the answer.
std::string concluded_era(const Json& answer, int status) {
  if (answer.is_null()) return "unknown";
  auto message = Message::parse(answer.dump());
  if (!message) return "unknown";
  const auto result = rpc::to_result(std::move(*message), status);
  switch (judge_probe(result).kind) {
    case ProbeVerdict::Kind::modern:
    case ProbeVerdict::Kind::ask_again:
    case ProbeVerdict::Kind::incompatible:
    case ProbeVerdict::Kind::modern_fault:
      return "modern";
    case ProbeVerdict::Kind::legacy:
      return "legacy";
    case ProbeVerdict::Kind::no_sign:
      break;
  }
  return "unknown";
}

}  // namespace

void check_outcome(Judge& judge, const Json& wanted) {
  const std::string& outcome = judge.seen.outcome;
  const Error* error = error_of(judge);
  if (wanted == outcome) return;
  const std::string why = error != nullptr ? " (" + error->to_string() + ")" : "";
  judge.differ("outcome: " + (outcome.empty() ? "none in time" : outcome) + why + ", expected " +
               wanted.dump());
}

void check_error(Judge& judge, const Json& wanted) {
  const Error* error = need_error(judge, "error");
  if (error == nullptr || wanted == std::string(to_string(error->code))) return;
  judge.differ("error: " + error->to_string() + ", expected " + wanted.dump());
}

void check_error_any(Judge& judge, const Json& wanted) {
  const Error* error = need_error(judge, "error_any");
  if (error == nullptr) return;
  const Json code = std::string(to_string(error->code));
  if (wanted.is_array() && std::find(wanted.begin(), wanted.end(), code) != wanted.end()) return;
  judge.differ("error: " + error->to_string() + ", expected one of " + wanted.dump());
}

void check_status(Judge& judge, const Json& wanted) {
  const Error* error = error_of(judge);
  judge.equal("status", wanted,
              error != nullptr ? error->http_status : judge.seen.recording.status);
}

// As sent, or without its parameters.
void check_content_type(Judge& judge, const Json& wanted) {
  const Error* error = error_of(judge);
  const std::string type =
      error != nullptr ? error->content_type : judge.seen.recording.content_type;
  std::string essence = type.substr(0, type.find(';'));
  while (!essence.empty() && essence.back() == ' ') essence.pop_back();
  if (wanted == optional_text(essence)) return;
  judge.equal("content_type", wanted, optional_text(type));
}

void check_location(Judge& judge, const Json& wanted) {
  const Error* error = need_error(judge, "location");
  if (error == nullptr) return;
  judge.equal("location",
              wanted.is_string() ? Json(judge.with_ports(wanted.get<std::string>())) : wanted,
              optional_text(error->location));
}

void check_www_authenticate(Judge& judge, const Json& wanted) {
  const Error* error = need_error(judge, "www_authenticate");
  if (error != nullptr) {
    judge.equal("www_authenticate", wanted, optional_text(error->www_authenticate));
  }
}

void check_retry_after(Judge& judge, const Json& wanted) {
  const Error* error = need_error(judge, "retry_after_ms");
  if (error == nullptr) return;
  judge.equal("retry_after_ms", wanted,
              error->retry_after ? Json(error->retry_after->count()) : Json());
}

void check_retryable(Judge& judge, const Json& wanted) {
  const Error* error = need_error(judge, "retryable");
  if (error != nullptr) judge.equal("retryable", wanted, is_retryable(*error));
}

// Any of the inner errors, one inside the other.
void check_cause(Judge& judge, const Json& wanted) {
  Json code = wanted;
  std::optional<int> status;
  if (wanted.is_object()) {
    Fields fields(wanted, "cause");
    fields.require("error", code);
    fields.read("status", status);
    judge.check(fields);
  }
  const Error* error = need_error(judge, "cause");
  if (error == nullptr) return;
  for (const Error* cause = error->cause.get(); cause != nullptr; cause = cause->cause.get()) {
    const bool same_status = !status || *status == cause->http_status;
    if (code == std::string(to_string(cause->code)) && same_status) return;
  }
  judge.differ("cause: none is " + wanted.dump() + " in " + error->to_string());
}

void check_limit(Judge& judge, const Json& wanted) {
  std::string name;
  const Error* error = need_error(judge, "limit");
  if (!judge.read("limit", wanted, name) || error == nullptr) return;
  const auto limit = find_limit(judge.script.limits, name);
  if (limit.first.empty()) return judge.differ("limit: unknown name " + name);
  const bool named = error->detail.find(limit.first) != std::string::npos &&
                     error->detail.find(std::to_string(limit.second)) != std::string::npos;
  if (!named) {
    judge.differ("limit: \"" + error->detail + "\" does not name " + limit.first + " and " +
                 std::to_string(limit.second));
  }
}

void check_diag(Judge& judge, const Json& wanted) {
  Fields fields(wanted, "diag");
  std::string prefix;
  std::optional<std::size_t> max_bytes;
  std::optional<bool> truncated;
  bool valid_utf8 = false;
  Json allowed;
  fields.read("prefix", prefix);
  fields.read("max_bytes", max_bytes);
  fields.read("truncated", truncated);
  fields.read("valid_utf8", valid_utf8);
  fields.read("no_control_chars_except", allowed);
  judge.check(fields);
  const Error* error = need_error(judge, "diag");
  if (error == nullptr) return;
  const Diagnostic& diagnostic = error->diagnostic;
  const std::string escaped = text::escape_printable(prefix);
  if (diagnostic.text.compare(0, escaped.size(), escaped) != 0) {
    judge.equal("diag.prefix", escaped, to_json(diagnostic.text));
  }
  if (max_bytes && diagnostic.text.size() > *max_bytes) {
    judge.equal("diag bytes", *max_bytes, diagnostic.text.size());
  }
  if (truncated) judge.equal("diag.truncated", *truncated, diagnostic.truncated);
  if (valid_utf8 && !is_utf8(diagnostic.text)) judge.differ("diag: is not valid UTF-8");
  if (allowed.is_array() &&
      has_control_character(diagnostic.text, allowed.get<std::vector<std::string>>())) {
    judge.differ("diag: has a control character");
  }
}

void check_result(Judge& judge, const Json& wanted) {
  // The id may stand in the result too: that of a subscription.
  const Json with_id = Json::parse(judge.with_ids(wanted.dump()), nullptr, false);
  judge.equal("result", with_id, member(answer_of(judge), "result"));
}

void check_result_text_bytes(Judge& judge, const Json& wanted) {
  const Json content = member(member(answer_of(judge), "result"), "content");
  const Json text = content.is_array() && !content.empty() ? member(content[0], "text") : Json();
  judge.equal("result_text_bytes", wanted,
              text.is_string() ? Json(text.get<std::string>().size()) : Json());
}

void check_results_delivered(Judge& judge, const Json& wanted) {
  judge.equal("results_delivered", wanted, judge.seen.recording.answers.size());
}

void check_rpc_error(Judge& judge, const Json& wanted) {
  Fields fields(wanted, "rpc_error");
  Json code;
  Json message;
  fields.read("code", code);
  fields.read("message", message);
  judge.check(fields);
  const Json error = member(answer_of(judge), "error");
  if (fields.has("code")) judge.equal("rpc_error.code", code, member(error, "code"));
  if (fields.has("message")) judge.equal("rpc_error.message", message, member(error, "message"));
}

void check_rpc_error_data(Judge& judge, const Json& wanted) {
  judge.equal("rpc_error_data", wanted, member(member(answer_of(judge), "error"), "data"));
}

void check_era(Judge& judge, const Json& wanted) {
  judge.equal("era", wanted, concluded_era(answer_of(judge), judge.seen.recording.status));
}

}  // namespace mcphttp::test::wire
