// What a ResponseReader makes of the response to a forwarded request: every status is an answer,
// and every body is handed out. JSON and event streams are still read by the bounded readers.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "message.hpp"
#include "response_reader.hpp"

namespace mcphttp {
namespace {

// A body that is none, or a part of one: no message can be in there.
bool has_no_whole_body(int status) noexcept {
  return status == 204 || status == 205 || status == 206 || status == 304;
}

}  // namespace

void ResponseReader::judge_forwarded() {
  // libcurl would undo a transfer coding by itself, and its result has no bound.
  if (is_coded(head(), "Transfer-Encoding", "chunked")) {
    break_off(error(ErrorCode::bad_content_encoding, "a transfer coding that was not asked for"));
    return;
  }
  const bool is_plain = !context_.is_bodiless && !has_no_whole_body(status()) &&
                        !is_coded(head(), "Content-Encoding", "identity");
  const bool is_success = status() >= 200 && status() < 300;
  if (is_plain && media_type_.essence == "application/json") {
    expect_json();
  } else if (is_plain && is_success && media_type_.essence == "text/event-stream") {
    expect_events();
  } else {
    phase_ = Phase::body;
    hand_out_head(ResponseKind::body);
  }
}

ResponseReader::Consumed ResponseReader::read_forwarded(std::string_view bytes) {
  const std::size_t limit = context_.limits.max_stream_size;
  const std::uint64_t excess =
      body_bytes_ > limit ? std::min<std::uint64_t>(bytes.size(), body_bytes_ - limit) : 0;
  const std::string_view within = bytes.substr(0, bytes.size() - static_cast<std::size_t>(excess));
  const Flow flow = within.empty() ? Flow::proceed : sink_.on_body(std::string(within));
  if (excess != 0) {
    break_off(error(ErrorCode::stream_too_large,
                    fmt::format("max_stream_size ({} bytes) exceeded by a forwarded body", limit)));
    return {bytes.size(), Flow::proceed};
  }
  return {bytes.size(), flow};
}

// Whatever it is, it is passed on: as a message, so that it can be inspected, if it is one.
void ResponseReader::finish_forwarded_json() {
  auto message = parse_message(std::move(body_), context_.limits.max_json_depth, checker_);
  if (message) {
    sink_.on_message(std::move(*message));
  } else if (!body_.empty()) {  // not moved from: it is no message
    sink_.on_body(std::move(body_));
  }
  end({ReadOutcome::Kind::answered, {}, false});
}

void ResponseReader::cut_forwarded(Error why) {
  Error cut = error(ErrorCode::body_truncated, "the body broke off");
  cut.cause = std::make_shared<const Error>(std::move(why));
  end({ReadOutcome::Kind::unanswered, std::move(cut), true});
}

}  // namespace mcphttp
