#include <mcphttp/response.hpp>

#include <algorithm>
#include <utility>

#include "http_fields.hpp"
#include "inbox.hpp"
#include "response_state.hpp"

namespace mcphttp {

const std::string* ResponseHead::find(std::string_view name) const noexcept {
  const auto found = std::find_if(headers.begin(), headers.end(), [name](const Header& header) {
    return http::iequals(header.name, name);
  });
  return found != headers.end() ? &found->value : nullptr;
}

// --- Event ---------------------------------------------------------------------------------------

namespace {

constexpr std::string_view line_ends = "\r\n";

// One line with that beginning for each line of the text, however that ends.
void append_lines(std::string& out, std::string_view beginning, std::string_view text) {
  while (true) {
    const std::size_t end = text.find_first_of(line_ends);
    out.append(beginning).append(text.substr(0, end)).append("\n");
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + (text.substr(end, 2) == "\r\n" ? 2 : 1));
  }
}

// A type must not end its line, or what follows would pass for lines of their own.
void append_type(std::string& out, std::string_view type) {
  out.append("event: ").append(type).append("\n");
  std::replace_if(
      out.end() - static_cast<std::ptrdiff_t>(type.size()) - 1, out.end() - 1,
      [](char c) { return line_ends.find(c) != std::string_view::npos; }, ' ');
}

// Parsers ignore an id with NUL; another than it was must not be sent back.
bool can_be_written(std::string_view id) {
  constexpr std::string_view forbidden("\r\n\0", 3);
  return id.find_first_of(forbidden) == std::string_view::npos;
}

}  // namespace

Event::Event(Parts parts) : parts_(std::move(parts)) {}

Event::Event(Parts parts, Message message, bool answers)
    : parts_(std::move(parts)), message_(std::move(message)), is_response_(answers) {}

Event::Kind Event::kind() const noexcept { return parts_.kind; }

std::string_view Event::type() const noexcept {
  return parts_.type.empty() ? std::string_view("message") : std::string_view(parts_.type);
}

std::string_view Event::data() const noexcept {
  return message_ ? message_->json() : std::string_view(parts_.data);
}

std::string_view Event::last_event_id() const noexcept { return parts_.last_event_id; }

bool Event::has_id() const noexcept { return parts_.has_id; }

std::optional<std::chrono::milliseconds> Event::retry() const noexcept {
  if (!parts_.retry) return std::nullopt;
  constexpr auto most = static_cast<std::uint64_t>(std::chrono::milliseconds::max().count());
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*parts_.retry, most)));
}

const Message* Event::message() const noexcept { return message_ ? &*message_ : nullptr; }

bool Event::is_response() const noexcept { return is_response_; }

std::optional<Message> Event::take_message() && { return std::exchange(message_, std::nullopt); }

void Event::replace_message(Message message) {
  message_ = std::move(message);
  parts_.data.clear();
}

std::string Event::frame() const {
  std::string out;
  out.reserve(data().size() + parts_.type.size() + parts_.last_event_id.size() + 64);
  if (kind() == Kind::comment) {
    append_lines(out, ":", data());
    return out.append("\n");
  }
  if (type() != "message") append_type(out, type());
  if (has_id() && can_be_written(last_event_id()))
    out.append("id: ").append(last_event_id()).append("\n");
  if (parts_.retry) out.append("retry: ").append(std::to_string(*parts_.retry)).append("\n");
  if (kind() == Kind::event) append_lines(out, "data: ", data());
  return out.append("\n");
}

// --- ResponseHandler -----------------------------------------------------------------------------

void ResponseHandler::on_headers(const ResponseHead& /*head*/) {}
Flow ResponseHandler::on_event(Event&& /*event*/) { return Flow::proceed; }
void ResponseHandler::on_message(Message&& /*message*/) {}
Flow ResponseHandler::on_body(std::string&& /*bytes*/) { return Flow::proceed; }

// --- Call ----------------------------------------------------------------------------------------

Call::Call() noexcept = default;
Call::Call(std::shared_ptr<Inbox> inbox) noexcept : inbox_(std::move(inbox)) {}
Call::Call(Call&&) noexcept = default;

Call& Call::operator=(Call&& other) noexcept {
  Call(std::move(other)).inbox_.swap(inbox_);
  return *this;
}

Call::~Call() {
  if (inbox_) inbox_->close();
}

void Call::cancel() {
  if (inbox_) inbox_->cancel();
}

void Call::resume() {
  if (inbox_) inbox_->resume();
}

void Call::detach() { inbox_.reset(); }

// --- EventStream ---------------------------------------------------------------------------------

EventStream::EventStream(std::shared_ptr<Intake> intake) noexcept : intake_(std::move(intake)) {}

std::optional<Event> EventStream::next() {
  auto item = intake_->next();
  if (!item) return std::nullopt;
  return std::get<Event>(std::move(*item));
}

const ExchangeEnd& EventStream::end() const noexcept {
  static const ExchangeEnd running;
  return intake_->end() != nullptr ? *intake_->end() : running;
}

void EventStream::cancel() { intake_->cancel(); }

// --- Response ------------------------------------------------------------------------------------

Response::Response(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Response::Response(Response&&) noexcept = default;

Response& Response::operator=(Response&& other) noexcept {
  Response(std::move(other)).state_.swap(state_);
  return *this;
}

Response::~Response() {
  if (state_) state_->intake->close();
}

ResponseKind Response::kind() const noexcept { return state_->head.kind; }

const ResponseHead& Response::head() const noexcept { return state_->head; }

std::string_view Response::request_id() const noexcept { return state_->request_id; }

EventStream* Response::events() noexcept {
  return kind() == ResponseKind::stream ? &state_->stream : nullptr;
}

Result<Message> Response::message() {
  const bool has_none = kind() == ResponseKind::accepted || kind() == ResponseKind::body;
  if (has_none || std::exchange(state_->message_taken, true)) {
    return tl::unexpected(usage_error(ErrorCode::invalid_argument, "there is no message to take"));
  }
  std::optional<Message> other;
  while (auto item = state_->intake->next()) {
    // A batch has other messages before its answer, a forwarded body may hold any one.
    if (auto* message = std::get_if<Message>(&*item)) {
      if (message->is_response()) return std::move(*message);
      other = std::move(*message);
      continue;
    }
    auto* event = std::get_if<Event>(&*item);
    if (event != nullptr && event->is_response()) return *std::move(*event).take_message();
    if (event != nullptr) continue;
    state_->intake->put_back({std::move(*item)});  // for read()
    return tl::unexpected(make_error(ErrorCode::malformed_message,
                                     "the JSON body is no JSON-RPC message", Delivery::answered));
  }
  const ExchangeEnd& end = state_->stream.end();
  if (end.error) {
    state_->message_taken = state_->intake->is_over();  // else only this thread was refused
    return tl::unexpected(*end.error);
  }
  if (other) return *std::move(other);
  return tl::unexpected(usage_error(ErrorCode::invalid_argument, "the message was taken before"));
}

std::optional<std::string> Response::read() {
  auto item = state_->intake->next();
  if (!item) return std::nullopt;
  return frame_of(*item);
}

const ExchangeEnd& Response::end() const noexcept { return state_->stream.end(); }

void Response::cancel() { state_->intake->cancel(); }

}  // namespace mcphttp
