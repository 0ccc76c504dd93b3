#include "gateway.hpp"

#include <utility>

namespace gateway {
namespace {

using mcphttp::Error;
using mcphttp::ErrorCode;

Approval make_approval(const Options& options) {
  if (options.approve_command.empty()) return ask_on_terminal(options.approve_within);
  return ask_command(options.approve_command, options.approve_within);
}

// httplib puts fields of its own among those of the client. Answers in a content coding could not
// be looked into, so none is asked for.
bool is_forwarded(const std::string& name) {
  static const httplib::Headers not_forwarded{{"Accept-Encoding", ""},
                                              {"REMOTE_ADDR", ""},
                                              {"REMOTE_PORT", ""},
                                              {"LOCAL_ADDR", ""},
                                              {"LOCAL_PORT", ""}};
  return !not_forwarded.contains(name);
}

mcphttp::ForwardRequest request_for(const httplib::Request& request, std::string body) {
  mcphttp::ForwardRequest forwarded;
  forwarded.method = request.method;
  for (const auto& field : request.headers) {
    if (is_forwarded(field.first)) forwarded.headers.push_back({field.first, field.second});
  }
  forwarded.body = std::move(body);
  return forwarded;
}

// Nothing if it is longer than `max` or broken off. httplib has no bound for chunked bodies.
std::optional<std::string> read_body(const httplib::ContentReader& read, std::size_t max) {
  std::string body;
  const bool is_whole = read([&](const char* bytes, std::size_t size) {
    if (size > max - body.size()) return false;
    body.append(bytes, size);
    return true;
  });
  if (!is_whole) return std::nullopt;
  return body;
}

}  // namespace

Gateway::Gateway(const Options& options, mcphttp::Transport upstream)
    : max_request_size_(options.max_request_size),
      max_streams_(options.connections / 2),
      policy_(options.denied, options.held, options.listings),
      approval_(make_approval(options)),
      audit_(options.audit),
      upstream_(std::move(upstream)) {}

void Gateway::post(const httplib::Request& request, httplib::Response& response,
                   const httplib::ContentReader& read) {
  auto body = read_body(read, max_request_size_);
  if (!body) return refuse(request, response, 413, "the body is over --max-request or broken off");
  Trail trail = begin(request);
  // A batch of 2025-03-26 is no message either: its calls could not be judged one by one.
  const auto message = mcphttp::Message::parse(*body);
  if (!message) {
    return fail(refusal(ErrorCode::invalid_argument, invalid_request,
                        "not one JSON-RPC message: " + message.error().detail),
                {}, trail, response);
  }
  const auto call = read_call(*message);
  if (!call) return fail(call.error(), {std::string(message->id()), "", "", {}}, trail, response);
  trail.know(*call);
  trail.write("call");
  if (const auto refused = judge(*call, trail)) return fail(*refused, *call, trail, response);
  forward(request, response, std::move(*body), *call, trail);
}

void Gateway::pass(const httplib::Request& request, httplib::Response& response) {
  forward(request, response, {}, {}, begin(request));
}

void Gateway::refuse(const httplib::Request& request, httplib::Response& response, int status,
                     const char* reason) {
  const Trail trail = begin(request);
  const Error error = refusal(ErrorCode::invalid_argument, invalid_request, reason);
  mcphttp::ErrorAnswer answer = mcphttp::error_answer(error, "");
  answer.head.status = status;
  send_answer(answer, response, true);
  trail.write("refused", {{"status", status}, {"reason", reason}});
}

Trail Gateway::begin(const httplib::Request& request) {
  Trail trail(audit_);
  trail.write("request", {{"http", request.method}, {"client", request.remote_addr}});
  return trail;
}

// Waits for approval, where it is needed.
std::optional<Error> Gateway::judge(const Call& call, const Trail& trail) {
  if (auto refused = policy_.refuses(call)) return refused;
  if (!policy_.holds(call)) return std::nullopt;
  trail.write("held");
  if (approval_(call, trail.number(), all_.get_token())) {
    trail.write("approved");
    return std::nullopt;
  }
  return refusal(ErrorCode::stopped_by_inspector, not_allowed, "Not approved: " + call.tool);
}

void Gateway::forward(const httplib::Request& request, httplib::Response& response,
                      std::string body, const Call& call, const Trail& trail) {
  const bool is_get = request.method == "GET";
  const auto place = is_get ? take_stream_place() : nullptr;
  if (is_get && !place) {
    return fail(refusal(ErrorCode::cancelled, not_allowed, "too many streams"), call, trail,
                response);
  }
  auto forwarded = request_for(request, std::move(body));
  forwarded.stop = (is_get ? streams_ : all_).get_token();
  auto answer = upstream_.forward(std::move(forwarded));
  if (!answer) return fail(answer.error(), call, trail, response);
  std::shared_ptr<Inspection> inspection;
  const auto options = policy_.relaying(call, is_get, inspection);
  Passage::send(std::make_shared<Passage>(mcphttp::Relay(std::move(*answer), options), inspection,
                                          trail, place),
                request, response);
}

// Null if none is left: streams of GET may last for ever, and must leave threads for requests.
std::shared_ptr<void> Gateway::take_stream_place() {
  std::shared_ptr<void> place(&streams_open_, [this](void*) { --streams_open_; });
  return ++streams_open_ <= max_streams_ ? place : nullptr;
}

void Gateway::fail(const Error& error, const Call& call, const Trail& trail,
                   httplib::Response& response) {
  const bool is_own = !error.rpc_message.empty();
  trail.write("refused", {{"reason", is_own ? error.rpc_message : error.to_string()}});
  send_answer(mcphttp::error_answer(error, call.id), response);
}

}  // namespace gateway
