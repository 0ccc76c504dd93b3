// Drives a ResponseReader without a socket and writes down what it hands out, as text that two runs
// can be compared by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json.hpp"
#include "response_reader.hpp"
#include "support/seen.hpp"

namespace mcphttp::test {

// "code", then the diagnostic in brackets (with "..." if truncated) and the cause, where there are
// any.
inline std::string describe(const Error& error) {
  std::string out(to_string(error.code));
  const Diagnostic& diagnostic = error.diagnostic;
  if (!diagnostic.text.empty() || diagnostic.truncated) {
    out.append(" [").append(diagnostic.text).append(diagnostic.truncated ? "...]" : "]");
  }
  if (error.cause) out.append(" <- ").append(describe(*error.cause));
  return out;
}

inline std::string describe(const ReadOutcome& outcome) {
  switch (outcome.kind) {
    case ReadOutcome::Kind::answered:
      return "answered";
    case ReadOutcome::Kind::accepted:
      return "accepted";
    case ReadOutcome::Kind::redirected:
      return "redirected " + outcome.error.location;
    case ReadOutcome::Kind::unanswered:
      return "unanswered " + describe(outcome.error);
    case ReadOutcome::Kind::failed:
      return "failed " + describe(outcome.error);
  }
  return {};
}

inline std::string describe(const ResponseHead& head) {
  switch (head.kind) {
    case ResponseKind::accepted:
      return "accepted";
    case ResponseKind::message:
      return "message";
    case ResponseKind::stream:
      return "stream";
    case ResponseKind::body:
      return "body";
  }
  return {};
}

inline std::string describe(const Event& event) {
  if (event.kind() == Event::Kind::comment) return "comment '" + std::string(event.data()) + "'";
  std::string out(event.is_response()                  ? "response "
                  : event.message()                    ? "message "
                  : event.kind() == Event::Kind::block ? "block "
                                                       : "event ");
  out.append(event.type()).append(" '").append(event.data()).append("'");
  out.append(event.has_id() ? " id " : " under ").append(event.last_event_id());
  if (event.retry()) out.append(" retry ").append(std::to_string(event.retry()->count()));
  return out;
}

// Keeps everything. What it answers to events can be chosen.
class Recorder final : public ResponseSink {
 public:
  void on_head(ResponseHead&& head) override {
    log.push_back("head " + describe(head));
    heads.push_back(std::move(head));
  }
  Flow on_event(Event&& event) override {
    log.push_back(describe(event));
    events.push_back(std::move(event));
    return flow ? flow() : Flow::proceed;
  }
  void on_message(Message&& message) override {
    log.push_back("body " + std::string(message.json()));
    messages.push_back(std::move(message));
  }
  Flow on_body(std::string&& bytes) override {
    body += bytes;
    return flow ? flow() : Flow::proceed;
  }
  void on_warning(Warning&& warning) override {
    note_seen(warning);
    log.push_back("warning " + std::string(to_string(warning.kind)));
    warnings.push_back(std::move(warning));
  }

  std::vector<ResponseHead> heads;
  std::vector<Event> events;
  std::vector<Message> messages;
  std::string body;
  std::vector<Warning> warnings;
  std::vector<std::string> log;
  std::function<Flow()> flow;
};

inline ReaderContext context_for(std::string request_id = "1") {
  ReaderContext context;
  context.request_id = std::move(request_id);
  return context;
}

inline Error broken(ErrorCode code) {
  Error error;
  error.code = code;
  return error;
}

// One response being read.
class Reading {
 public:
  explicit Reading(ReaderContext context = context_for())
      : reader(std::move(context), checker_, sink) {}

  // Whole lines, each ended by LF.
  Reading& lines(std::string_view text) {
    while (!text.empty()) {
      const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
      reader.read_header_line(text.substr(0, size));
      text.remove_prefix(size);
    }
    return *this;
  }
  // A final block: status, and fields each ended by CRLF.
  Reading& head(int status, std::string_view fields) {
    return lines("HTTP/1.1 " + std::to_string(status) + " Text\r\n" + std::string(fields) + "\r\n");
  }
  // Feeds again what was left after each pause.
  Reading& body(std::string_view bytes) {
    while (true) {
      const auto [consumed, flow] = reader.read_body(bytes);
      consumed_ += consumed;
      bytes.remove_prefix(consumed);
      if (flow != Flow::pause) return *this;
      ++pauses_;
    }
  }
  Reading& bytewise(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) body(bytes.substr(i, 1));
    return *this;
  }
  Reading& finish() {
    reader.finish();
    return *this;
  }

  // "head kind; outcome", or one of them; "open" if there is no outcome yet.
  std::string verdict() const {
    std::string out = sink.heads.empty() ? "" : describe(sink.heads.front()) + "; ";
    return out + (reader.outcome() ? describe(*reader.outcome()) : "open");
  }
  const Error& error() const { return reader.outcome()->error; }
  bool spoilt() const { return reader.outcome()->connection_spoilt; }
  // Everything handed out, in order, then the outcome.
  std::string transcript() const {
    std::string out;
    for (const std::string& line : sink.log) out.append(line).append("\n");
    out.append(verdict());
    if (reader.outcome() && spoilt()) out.append(", spoilt");
    return out;
  }
  std::size_t consumed() const { return consumed_; }
  std::size_t pauses() const { return pauses_; }

 private:
  json::Checker checker_;
  std::size_t consumed_ = 0;
  std::size_t pauses_ = 0;

 public:
  Recorder sink;
  ResponseReader reader;
};

inline const std::string json_type = "Content-Type: application/json\r\n";
inline const std::string sse_type = "Content-Type: text/event-stream\r\n";
inline const std::string html_type = "Content-Type: text/html\r\n";

inline std::string result_for(std::string_view id) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{}})";
}
inline std::string error_for(std::string_view id) {
  const std::string member = id.empty() ? "" : R"("id":)" + std::string(id) + ",";
  return R"({"jsonrpc":"2.0",)" + member + R"("error":{"code":-32000,"message":"no"}})";
}
inline const std::string notification = R"({"jsonrpc":"2.0","method":"n"})";

inline std::string event_of(std::string_view data) { return "data: " + std::string(data) + "\n\n"; }

}  // namespace mcphttp::test
