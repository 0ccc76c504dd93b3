#include "wire/script.hpp"

#include <cstdint>
#include <utility>

#include "wire/fields.hpp"

namespace mcphttp::test::wire {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// RFC 4648 section 4, with padding. Nullopt if it is anything else.
std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && !text.empty() && text.back() == '='; ++padding) {
    text.remove_suffix(1);
  }
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const auto value = alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(
        static_cast<char>(static_cast<unsigned char>(bits >> static_cast<unsigned>(held))));
  }
  return bytes;
}

BodyStep read_body(Fields& fields) {
  BodyStep body;
  std::string base64;
  if (fields.has("text") == fields.has("base64")) fields.fail("wants either text or base64");
  fields.read("text", body.bytes);
  fields.read("base64", base64);
  if (!fields.has("base64")) return body;
  auto decoded = decode_base64(base64);
  if (!decoded) fields.fail("base64 cannot be decoded");
  body.bytes = std::move(decoded).value_or("");
  return body;
}

RepeatStep read_repeat(Fields& fields) {
  RepeatStep repeat;
  fields.require("text", repeat.text);
  fields.require("times", repeat.times);
  fields.read("per_write", repeat.per_write);
  if (repeat.per_write == 0) fields.fail("per_write cannot be 0");
  return repeat;
}

Step read_step(Fields& fields, std::string_view kind) {
  if (kind == "status") {
    StatusStep status;
    fields.require("code", status.code);
    if (status.code < 100 || status.code > 999) fields.fail("code has no three digits");
    return status;
  }
  if (kind == "header") {
    HeaderStep header;
    fields.require("name", header.name);
    fields.require("value", header.value);
    return header;
  }
  if (kind == "body") return read_body(fields);
  if (kind == "repeat") return read_repeat(fields);
  if (kind == "flush") return FlushStep{};
  if (kind == "delay_ms") {
    DelayStep delay;
    fields.require("n", delay.duration);
    return delay;
  }
  if (kind == "close") {
    CloseStep close;
    fields.read("abrupt", close.abrupt);
    return close;
  }
  if (kind != "reset") fields.fail("unknown step " + std::string(kind));
  return ResetStep{};
}

// Refuses an order of steps that has no meaning on the wire.
class OrderCheck {
 public:
  // Why this step cannot come now; empty if it can.
  std::string_view next(const Step& step) {
    if (closed_) return "nothing can follow close or reset";
    return std::visit(Overloaded{[&](const StatusStep& status) { return on_status(status); },
                                 [&](const HeaderStep&) { return on_header(); },
                                 [&](const BodyStep&) { return on_body(); },
                                 [&](const RepeatStep&) { return on_body(); },
                                 [&](const FlushStep&) { return on_flush(); },
                                 [&](const DelayStep&) { return std::string_view{}; },
                                 [&](const CloseStep&) { return on_close(); },
                                 [&](const ResetStep&) { return on_close(); }},
                      step);
  }

 private:
  std::string_view on_status(const StatusStep& status) {
    if (final_) return "a status after the final one";
    final_ = status.code >= 200;
    block_open_ = true;
    return {};
  }
  std::string_view on_header() const {
    return block_open_ ? "" : "a header outside a header block";
  }
  std::string_view on_body() {
    if (!final_) return "a body before the final status";
    block_open_ = false;
    return {};
  }
  std::string_view on_flush() {
    block_open_ = false;
    return {};
  }
  std::string_view on_close() {
    closed_ = true;
    return {};
  }

  bool block_open_ = false;  // header lines may come
  bool final_ = false;       // a status of 200 or more was seen
  bool closed_ = false;
};

Parsed<std::vector<Step>> parse_steps(const Json& list, const std::string& where) {
  if (!list.is_array()) return tl::unexpected(where + ": is not a list of steps");
  std::vector<Step> steps;
  OrderCheck order;
  for (const Json& item : list) {
    Fields fields(item, where + " step " + std::to_string(steps.size() + 1));
    std::string kind;
    fields.require("step", kind);
    steps.push_back(read_step(fields, kind));
    const std::string_view misplaced = order.next(steps.back());
    if (!misplaced.empty()) fields.fail(std::string(misplaced));
    if (auto error = fields.error(); !error.empty()) return tl::unexpected(std::move(error));
  }
  return steps;
}

Parsed<RequestPattern> parse_request(const Json& object, const std::string& where) {
  RequestPattern request;
  Json headers = Json::object();
  Fields fields(object, where + " request");
  fields.require("method", request.method);
  fields.read("rpc", request.rpc);
  fields.read("id", request.id);
  fields.read("body_bytes", request.body_bytes);
  fields.read("headers", headers);
  if (!headers.is_object()) fields.fail("headers is not an object");
  for (const auto& item : headers.items()) {
    Header& header = request.headers.emplace_back(Header{item.key(), {}});
    if (!convert(item.value(), header.value)) {
      fields.fail("header " + item.key() + " is not a string");
    }
  }
  if (request.id && !request.id->is_string() && !request.id->is_number()) {
    fields.fail("id is no JSON-RPC id");
  }
  if (auto error = fields.error(); !error.empty()) return tl::unexpected(std::move(error));
  return request;
}

// Reads request, server and framing, which a case and each item of its `then` have in common.
Parsed<Reply> parse_reply(Fields& fields, const std::string& where) {
  Reply reply;
  Json request;
  Json steps;
  fields.require("request", request);
  fields.require("server", steps);
  fields.choose<Framing>("framing",
                         {{"chunked", Framing::chunked},
                          {"length", Framing::length},
                          {"close", Framing::close},
                          {"raw", Framing::raw}},
                         reply.framing);
  if (!fields.fault().empty()) return tl::unexpected(fields.fault());
  auto pattern = parse_request(request, where);
  if (!pattern) return tl::unexpected(std::move(pattern).error());
  auto parsed = parse_steps(steps, where);
  if (!parsed) return tl::unexpected(std::move(parsed).error());
  reply.request = std::move(*pattern);
  reply.steps = std::move(*parsed);
  return reply;
}

std::string parse_then(const Json& list, std::vector<Reply>& replies) {
  if (!list.is_array()) return "then: is not a list";
  for (const Json& item : list) {
    const std::string where = "then " + std::to_string(replies.size());
    Fields fields(item, where);
    auto reply = parse_reply(fields, where);
    if (!reply) return std::move(reply).error();
    fields.read("parallel", reply->parallel);
    if (auto error = fields.error(); !error.empty()) return error;
    replies.push_back(std::move(*reply));
  }
  return {};
}

std::string parse_config(const Json& object, Config& config) {
  Fields fields(object, "config");
  fields.choose<Redirects>("follow_redirects",
                           {{"same_origin", Redirects::same_origin}, {"none", Redirects::none}},
                           config.follow_redirects);
  fields.read("max_redirects", config.max_redirects);
  fields.read("auto_reinitialize", config.auto_reinitialize);
  fields.read("negotiated_version", config.negotiated_version);
  fields.read("queue_bytes", config.queue_bytes);
  fields.read("pause_after_events", config.pause_after_events);
  fields.read("consumer_pause_ms", config.consumer_pause);
  return fields.error();
}

std::string parse_limits(const Json& object, Limits& limits) {
  Fields fields(object, "limits");
  fields.read("json_bytes", limits.json_bytes);
  fields.read("json_depth", limits.json_depth);
  fields.read("event_bytes", limits.event_bytes);
  fields.read("id_bytes", limits.id_bytes);
  fields.read("diag_bytes", limits.diag_bytes);
  fields.read("header_ms", limits.header);
  fields.read("idle_ms", limits.idle);
  fields.read("total_ms", limits.total);
  fields.read("retry_default_ms", limits.retry_default);
  fields.read("max_reconnects", limits.max_reconnects);
  fields.read("drain_ms", limits.drain);
  return fields.error();
}

std::string parse_case(const Json& object, Script& script) {
  Json then = Json::array();
  Json config = Json::object();
  Json limits = Json::object();
  Fields fields(object, "case");
  fields.require("id", script.id);
  fields.read("title", script.title);
  fields.choose<Setup>(
      "setup",
      {{"none", Setup::none}, {"session", Setup::session}, {"stateless", Setup::stateless}},
      script.setup);
  fields.require("expect", script.expect);
  fields.read("then", then);
  fields.read("config", config);
  fields.read("limits", limits);
  fields.ignore({"theme", "fault", "note", "contested", "policy", "spec"});
  auto first = parse_reply(fields, "server");
  if (auto error = fields.error(); !error.empty()) return error;
  if (!first) return std::move(first).error();
  script.replies.push_back(std::move(*first));
  if (auto error = parse_then(then, script.replies); !error.empty()) return error;
  if (auto error = parse_config(config, script.config); !error.empty()) return error;
  return parse_limits(limits, script.limits);
}

}  // namespace

Parsed<Script> parse_script(std::string_view line) {
  const Json object = Json::parse(line, nullptr, false);
  if (object.is_discarded()) return tl::unexpected(std::string("the line is not JSON"));
  Script script;
  std::string error = parse_case(object, script);
  if (error.empty()) return script;
  return tl::unexpected(script.id.empty() ? std::move(error) : script.id + ": " + error);
}

}  // namespace mcphttp::test::wire
