// One JSON-RPC 2.0 message: what a server sends, in a JSON body or in an event. For those who relay
// or inspect messages through Transport, and for the notification and request callbacks of Client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <mcphttp/error.hpp>
#include <mcphttp/export.hpp>

namespace mcphttp {

// Owns its text; the fields of the envelope are views into it. Every view lives until the Message
// is assigned to, moved from or destroyed. Thread-compatible: const members may run at the same
// time.
//
// What is a Message is well-formed JSON (RFC 8259, valid UTF-8), nested no deeper than asked for,
// and has an envelope without ambiguity: none of `jsonrpc`, `id`, `method`, `params`, `result` and
// `error` occurs twice, however its name is escaped.
class MCPHTTP_EXPORT Message {
 public:
  enum class Kind {
    request,       // method and id
    notification,  // method, no id
    result,        // response: result and id
    error,         // response: error; the id may be null or absent
  };

  // The message that `json` holds. A leading byte order mark is dropped. `max_depth`: arrays and
  // objects that may be open at once; the message itself is one. Fails: malformed_json,
  // json_too_deep, out_of_memory; malformed_message, with the rule broken in `detail`, for JSON
  // that is no JSON-RPC 2.0 message: an array too.
  static Result<Message> parse(std::string json, std::size_t max_depth = 128);

  Kind kind() const noexcept { return kind_; }
  bool is_response() const noexcept { return kind_ == Kind::result || kind_ == Kind::error; }

  // The text as received, byte for byte, without the byte order mark.
  std::string_view json() const noexcept { return text_; }

  // Raw JSON: 7, "a" with its quotes, or null. Empty if absent.
  std::string_view id() const noexcept { return view(id_); }
  // Unescaped. Empty for responses.
  std::string_view method() const noexcept;
  // Raw JSON, an object or array. Empty if absent, and for responses.
  std::string_view params() const noexcept { return view(params_); }
  // Raw JSON. Empty unless this is a result.
  std::string_view result() const noexcept { return view(result_); }

  // The error object as raw JSON. Empty, like the three below (0), unless this is an error.
  std::string_view error() const noexcept { return view(error_); }
  std::int64_t error_code() const noexcept { return error_code_; }
  // Server text, unescaped; a lone surrogate escape became U+FFFD.
  std::string error_message() const;
  // Raw JSON; empty also if the error has no data.
  std::string_view error_data() const noexcept { return view(error_data_); }

  // Gives the text back.
  std::string release() && { return std::move(text_); }

 private:
  friend class MessageReader;

  // A part of text_; an offset, so that it survives a move.
  struct Span {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  Message() = default;

  // Empty once text_ was moved away.
  std::string_view view(Span span) const noexcept {
    if (span.begin + span.size > text_.size()) return {};
    return {text_.data() + span.begin, span.size};
  }

  std::string text_;
  Kind kind_ = Kind::notification;
  Span id_;
  Span method_;                   // between the quotes
  std::string unescaped_method_;  // only if the server escaped something in it
  Span params_;
  Span result_;
  Span error_;
  Span error_data_;
  std::int64_t error_code_ = 0;
};

}  // namespace mcphttp
