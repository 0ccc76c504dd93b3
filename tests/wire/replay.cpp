#include "wire/replay.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace mcphttp::test::wire {
namespace {

constexpr Milliseconds flush_pause{10};
// A reset drops what the peer's kernel has not acknowledged; so long it is given to acknowledge the
// steps before it.
constexpr Milliseconds reset_grace{1000};

// A place in a text where an id stands, and what belongs there.
struct IdSlot {
  std::size_t begin;
  std::size_t size;
  std::string replacement;
};

bool continues_token(std::string_view text, std::size_t at) {
  constexpr std::string_view token_end = " \t\r\n,}]:\"";
  return at < text.size() && token_end.find(text[at]) == std::string_view::npos;
}

// The slot at `at`, if the scripted id stands there, as it is or as a string.
std::optional<IdSlot> match_id(std::string_view text, std::size_t at, const IdPair& id) {
  const std::string plain = id.scripted.dump();
  if (text.compare(at, plain.size(), plain) == 0 && !continues_token(text, at + plain.size())) {
    return IdSlot{at, plain.size(), id.received.dump()};
  }
  const std::string quoted = '"' + plain + '"';
  if (!id.scripted.is_number() || text.compare(at, quoted.size(), quoted) != 0) return std::nullopt;
  const std::string received = id.received.dump();
  return IdSlot{at, quoted.size(), id.received.is_string() ? received : '"' + received + '"'};
}

// Where the value of the member begins whose name ends before `at`; npos if no colon follows.
std::size_t find_value(std::string_view text, std::size_t at) {
  constexpr std::string_view white_space = " \t\r\n";
  const auto colon = text.find_first_not_of(white_space, at);
  if (colon == std::string_view::npos || text[colon] != ':') return std::string_view::npos;
  return text.find_first_not_of(white_space, colon + 1);
}

void find_members(std::string_view text, std::string_view name, const IdPair& id,
                  std::vector<IdSlot>& slots) {
  for (auto at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + name.size())) {
    const auto value = find_value(text, at + name.size());
    if (value == std::string_view::npos) continue;
    if (auto slot = match_id(text, value, id)) slots.push_back(std::move(*slot));
  }
}

// All slots, the last one first, so that replacing one leaves the places of the others.
std::vector<IdSlot> find_ids(std::string_view text, const IdPair& id) {
  constexpr std::array<std::string_view, 3> members{"\"id\"", "\"requestId\"",
                                                    "\"io.modelcontextprotocol/subscriptionId\""};
  std::vector<IdSlot> slots;
  for (const std::string_view member : members) find_members(text, member, id, slots);
  std::sort(slots.begin(), slots.end(),
            [](const IdSlot& a, const IdSlot& b) { return a.begin > b.begin; });
  return slots;
}

// Replaces a slot in the joined text of several pieces: the new text goes where the old one begins.
void replace_in(const std::vector<std::string*>& pieces, const IdSlot& slot) {
  std::size_t begin = slot.begin;
  std::size_t left = slot.size;
  std::string_view replacement = slot.replacement;
  for (std::string* piece : pieces) {
    if (begin >= piece->size()) {
      begin -= piece->size();
      continue;
    }
    const auto here = std::min(left, piece->size() - begin);
    piece->replace(begin, here, replacement);
    left -= here;
    if (left == 0) return;
    begin = 0;
    replacement = {};
  }
}

void replace_ids(const std::vector<std::string*>& pieces, const IdPair& id) {
  std::string joined;
  for (const std::string* piece : pieces) joined += *piece;
  for (const IdSlot& slot : find_ids(joined, id)) replace_in(pieces, slot);
}

// A member may be cut by the writes of several body steps, but not by a repeat.
std::vector<Step> with_received_ids(std::vector<Step> steps, const IdPair& id) {
  std::vector<std::string*> pieces;
  for (Step& step : steps) {
    if (auto* body = std::get_if<BodyStep>(&step)) pieces.push_back(&body->bytes);
    if (auto* repeat = std::get_if<RepeatStep>(&step)) {
      replace_ids(std::exchange(pieces, {}), id);
      replace_ids({&repeat->text}, id);
    }
  }
  replace_ids(pieces, id);
  return steps;
}

std::size_t body_size(const std::vector<Step>& steps) {
  std::size_t size = 0;
  for (const Step& step : steps) {
    if (const auto* body = std::get_if<BodyStep>(&step)) size += body->bytes.size();
    if (const auto* repeat = std::get_if<RepeatStep>(&step)) {
      size += repeat->text.size() * repeat->times;
    }
  }
  return size;
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Carries out one step after the other; each returns false when there is no use in going on.
class Player {
 public:
  Player(Framing framing, std::size_t body_size, Connection& connection, const PlayContext& context)
      : framing_(framing), body_size_(body_size), connection_(connection), context_(context) {}

  bool operator()(const StatusStep& status) {
    end_block();
    held_ += status_line(status.code);
    in_block_ = true;
    final_ = status.code >= 200;
    return true;
  }

  bool operator()(const HeaderStep& header) {
    std::string value = header.value;
    replace_all(value, "{port}", std::to_string(context_.port));
    replace_all(value, "{other_port}", std::to_string(context_.other_port));
    held_ += header_line(header.name, value);
    return true;
  }

  bool operator()(const BodyStep& body) { return write_body(body.bytes); }

  bool operator()(const RepeatStep& repeat) {
    const std::string block = repeated(repeat.text, std::min(repeat.per_write, repeat.times));
    for (std::size_t left = repeat.times; left > 0;) {
      const auto now = std::min(left, repeat.per_write);
      if (!write_body(std::string_view(block).substr(0, now * repeat.text.size()))) return false;
      left -= now;
    }
    return true;
  }

  bool operator()(const FlushStep& /*flush*/) { return send_head() && pause(flush_pause); }

  bool operator()(const DelayStep& delay) { return pause(delay.duration); }

  bool operator()(const CloseStep& close) {
    const bool ends_chunks = framing_ == Framing::chunked && final_ && !close.abrupt;
    close_follows_ = true;
    const bool sent = send_with_head(ends_chunks ? last_chunk : "");
    connection_.close();
    return sent;
  }

  bool operator()(const ResetStep& /*reset*/) {
    const bool sent = send_head() && connection_.wait_acknowledged(scaled(reset_grace));
    connection_.reset();
    return sent;
  }

  // The step after this one is a close: what it writes goes out together with the FIN.
  void expect_close() { close_follows_ = true; }

  // The header block goes out at the latest after the last step.
  bool finish() { return !connection_.is_open() || send_head(); }

 private:
  bool write_body(std::string_view bytes) {
    const bool as_chunk = framing_ == Framing::chunked && !bytes.empty();
    return as_chunk ? send_with_head(chunk(bytes)) : send_with_head(bytes);
  }

  // One write, together with the header block if that is still held back.
  bool send_with_head(std::string_view bytes) {
    end_block();
    const std::string all = std::exchange(held_, {}).append(bytes);
    return close_follows_ ? connection_.write_last(all) : connection_.write(all);
  }

  bool send_head() { return send_with_head({}); }

  void end_block() {
    if (!std::exchange(in_block_, false)) return;
    if (final_ && framing_ == Framing::chunked) {
      held_ += header_line("Transfer-Encoding", "chunked");
    }
    if (final_ && framing_ == Framing::length) {
      held_ += header_line("Content-Length", std::to_string(body_size_));
    }
    held_ += "\r\n";
  }

  bool pause(Milliseconds duration) { return connection_.pause(scaled(duration)); }

  Milliseconds scaled(Milliseconds duration) const {
    return std::chrono::duration_cast<Milliseconds>(duration * context_.time_scale);
  }

  const Framing framing_;
  const std::size_t body_size_;
  Connection& connection_;
  const PlayContext& context_;
  std::string held_;       // header blocks that have not gone out yet
  bool in_block_ = false;  // the last of them still lacks its empty line
  bool final_ = false;     // the last status was 200 or more
  bool close_follows_ = false;
};

}  // namespace

std::string with_received_id(std::string_view text, const IdPair& id) {
  std::string result(text);
  replace_ids({&result}, id);
  return result;
}

std::optional<IdPair> ReceivedIds::note(const RequestPattern& expected, const Request& request) {
  const std::lock_guard lock(mutex_);
  const Json body = Json::parse(request.body, nullptr, false);
  if (expected.id && body.is_object() && body.contains("id")) received_[*expected.id] = body["id"];
  const auto& scripted = expected.id ? expected.id : id_of_case_;
  if (!scripted) return std::nullopt;
  const auto known = received_.find(*scripted);
  if (known == received_.end()) return std::nullopt;
  return IdPair{known->first, known->second};
}

bool play(const Reply& reply, Connection& connection, const Request& request,
          const PlayContext& context) {
  std::vector<Step> steps = reply.steps;
  if (context.ids != nullptr) {
    if (const auto id = context.ids->note(reply.request, request)) {
      steps = with_received_ids(std::move(steps), *id);
    }
  }
  if (reply.framing == Framing::raw && body_size(steps) != body_size(reply.steps)) {
    throw std::length_error("raw framing fixes the length of the id");
  }
  Player player(reply.framing, body_size(steps), connection, context);
  const auto note_end = [&context] {
    if (context.ended_at != nullptr) *context.ended_at = std::chrono::steady_clock::now();
  };
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    const bool ends =
        std::holds_alternative<CloseStep>(*step) || std::holds_alternative<ResetStep>(*step);
    if (ends) note_end();
    if (step + 1 != steps.end() && std::holds_alternative<CloseStep>(step[1])) {
      player.expect_close();
    }
    if (!std::visit(player, *step)) {
      if (!ends) note_end();
      return false;
    }
    if (ends) return true;
  }
  const bool finished = player.finish();
  note_end();
  return finished;
}

}  // namespace mcphttp::test::wire
