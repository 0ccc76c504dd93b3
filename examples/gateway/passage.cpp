#include "passage.hpp"

#include <utility>

namespace gateway {
namespace {

using mcphttp::ExchangeEnd;

const char* name_of(ExchangeEnd::Reason reason) {
  switch (reason) {
    case ExchangeEnd::Reason::answered:
      return "answered";
    case ExchangeEnd::Reason::accepted:
      return "accepted";
    case ExchangeEnd::Reason::unanswered:
      return "unanswered";
    case ExchangeEnd::Reason::cut:
      return "cut";
    case ExchangeEnd::Reason::not_offered:
      return "not_offered";
    case ExchangeEnd::Reason::limit:
      return "limit";
    case ExchangeEnd::Reason::cancelled:
      return "cancelled";
    case ExchangeEnd::Reason::failed:
      break;
  }
  return "failed";
}

void copy_head(const mcphttp::ResponseHead& head, httplib::Response& response) {
  response.status = head.status;
  for (const mcphttp::Header& field : head.headers) response.set_header(field.name, field.value);
}

// The body comes from there. httplib adds the content type that it is told with it.
void set_body(const mcphttp::ResponseHead& head, httplib::Response& response,
              httplib::ContentProviderWithoutLength provider) {
  const std::string* type = head.find("Content-Type");
  response.headers.erase("Content-Type");
  const std::string unknown = "application/octet-stream";  // RFC 9110 8.3
  response.set_content_provider(type != nullptr ? *type : unknown, std::move(provider));
}

Framing framing_of(const httplib::Request& request, const httplib::Response& response) {
  if (response.has_header("Content-Length")) return Framing::length;
  return request.version == "HTTP/1.1" ? Framing::chunks : Framing::close;
}

}  // namespace

Passage::Passage(mcphttp::Relay relay, std::shared_ptr<Inspection> seen, Trail trail,
                 std::shared_ptr<void> place)
    : relay_(std::move(relay)),
      seen_(std::move(seen)),
      trail_(std::move(trail)),
      place_(std::move(place)) {}

Passage::~Passage() {
  if (ended_) return;
  try {
    note_end("gone");
  } catch (...) {  // out of memory: the audit is short of a line
  }
}

void Passage::send(const std::shared_ptr<Passage>& passage, const httplib::Request& request,
                   httplib::Response& response) {
  const mcphttp::ResponseHead& head = passage->relay_.head();
  copy_head(head, response);
  passage->trail_.write("head", {{"status", head.status}});
  if (head.kind != mcphttp::ResponseKind::stream) {
    passage->piece_ = passage->relay_.next();
    const bool is_empty = !passage->piece_.has_value();
    if (is_empty && passage->relay_.ending() == mcphttp::RelayEnding::clean) {
      return passage->note_end("clean");
    }
  }
  const Framing framing = framing_of(request, response);
  if (framing == Framing::chunks) response.set_header("Transfer-Encoding", "chunked");
  set_body(head, response, [passage, framing](std::size_t, httplib::DataSink& sink) {
    return passage->pump(sink, framing);
  });
}

// All of the body in one call: between two calls httplib ends what runs when it is stopped. False
// has it close the connection.
bool Passage::pump(httplib::DataSink& sink, Framing framing) {
  Downstream downstream(sink, framing, [this] { relay_.cancel(); });
  if (!send_pieces(downstream) || downstream.has_left()) return note_end("gone"), false;
  const bool is_clean = relay_.ending() == mcphttp::RelayEnding::clean;
  const bool is_whole = is_clean && downstream.end();
  note_end(is_whole ? "clean" : is_clean ? "gone" : "aborted");
  sink.done();
  return is_whole && framing != Framing::close;
}

// False if the client has left.
bool Passage::send_pieces(Downstream& downstream) {
  if (!piece_) piece_ = relay_.next();
  for (; piece_; piece_ = relay_.next()) {
    if (!downstream.write(*piece_)) return false;
    note_sent(piece_->size());
  }
  return true;
}

void Passage::note_sent(std::size_t size) {
  sent_ += size;
  trail_.write("sent", {{"bytes", size}, {"messages", seen_->take_seen()}});
}

void Passage::note_end(const char* downstream) {
  ended_ = true;
  relay_.cancel();
  while (relay_.next()) {  // to the end, which is then known
  }
  const ExchangeEnd& end = relay_.upstream_end();
  Json fields{{"downstream", downstream}, {"upstream", name_of(end.reason)}, {"bytes", sent_}};
  if (relay_.error() != nullptr) fields["error"] = relay_.error()->to_string();
  trail_.write("end", std::move(fields));
}

void send_answer(const mcphttp::ErrorAnswer& answer, httplib::Response& response, bool close) {
  copy_head(answer.head, response);
  if (close) response.set_header("Connection", "close");
  set_body(answer.head, response,
           [body = answer.body, close](std::size_t, httplib::DataSink& sink) {
             sink.write(body.data(), body.size());
             sink.done();
             return !close;
           });
}

}  // namespace gateway
