#include "text.hpp"

#include <algorithm>

namespace mcphttp::text {
namespace {

constexpr char32_t replacement_character = 0xFFFD;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// One step of a decoder over text that is not empty.
struct Decoded {
  char32_t code_point;
  std::size_t size;         // bytes used, at least one
  bool unfinished = false;  // the text ended inside a sequence that was valid so far
};

using Decoder = Decoded (*)(std::string_view);

// A lead byte's sequence: its whole length (0 if no sequence begins so) and the range of its second
// byte (RFC 3629 section 4).
struct Sequence {
  std::size_t size;
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

Sequence sequence_of(unsigned char lead) {
  if (lead < 0xC2 || lead > 0xF4) return {0};
  if (lead < 0xE0) return {2};
  if (lead < 0xF0) {
    return {3, static_cast<unsigned char>(lead == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(lead == 0xED ? 0x9F : 0xBF)};
  }
  return {4, static_cast<unsigned char>(lead == 0xF0 ? 0x90 : 0x80),
          static_cast<unsigned char>(lead == 0xF4 ? 0x8F : 0xBF)};
}

Decoded decode_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const Sequence sequence = sequence_of(lead);
  if (sequence.size == 0) return {replacement_character, 1};

  char32_t code_point = lead & (0x7FU >> sequence.size);
  const std::size_t available = std::min(sequence.size, text.size());
  for (std::size_t i = 1; i < available; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char min = i == 1 ? sequence.second_min : 0x80;
    const unsigned char max = i == 1 ? sequence.second_max : 0xBF;
    if (byte < min || byte > max) return {replacement_character, i};
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  if (available < sequence.size) return {replacement_character, available, true};
  return {code_point, sequence.size};
}

Decoded decode_ascii(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  return {byte < 0x80 ? char32_t{byte} : replacement_character, 1};
}

Decoded decode_latin1(std::string_view text) { return {static_cast<unsigned char>(text[0]), 1}; }

Decoder decoder_for(std::string_view charset) {
  if (charset == "us-ascii") return decode_ascii;
  if (charset == "iso-8859-1" || charset == "latin1") return decode_latin1;
  return decode_utf8;
}

std::string encode_utf8(char32_t code_point) {
  const auto tail = [code_point](unsigned shift) {
    return static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {static_cast<char>(0xC0U | (code_point >> 6U)), tail(0)};
  if (code_point < 0x10000) {
    return {static_cast<char>(0xE0U | (code_point >> 12U)), tail(6), tail(0)};
  }
  return {static_cast<char>(0xF0U | (code_point >> 18U)), tail(12), tail(6), tail(0)};
}

std::string hex(char32_t value, unsigned digits) {
  constexpr std::string_view alphabet = "0123456789ABCDEF";
  std::string result;
  for (unsigned i = digits; i > 0; --i) result += alphabet[(value >> (4 * (i - 1))) & 0xFU];
  return result;
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

// Characters that break a line or reorder what is shown (UAX 9, Unicode TR 36).
bool is_layout_control(char32_t c) {
  return (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string printable(char32_t code_point) {
  switch (code_point) {
    case U'\n':
      return "\\n";
    case U'\r':
      return "\\r";
    case U'\t':
      return "\\t";
    default:
      break;
  }
  if (is_control(code_point)) return "\\x" + hex(code_point, 2);
  if (is_layout_control(code_point)) return "\\u{" + hex(code_point, 4) + "}";
  return encode_utf8(code_point);
}

// Appends `bytes` as printable text until `max_size` would be passed; false if it would. An
// unfinished end is left out if asked.
bool append_printable(std::string& out, std::string_view bytes, Decoder decode,
                      bool drop_unfinished, std::size_t max_size) {
  while (!bytes.empty()) {
    const Decoded decoded = decode(bytes);
    if (decoded.unfinished && drop_unfinished) return true;
    const std::string piece = printable(decoded.code_point);
    if (piece.size() > max_size - out.size()) return false;
    out += piece;
    bytes.remove_prefix(decoded.size);
  }
  return true;
}

}  // namespace

std::string escape_printable(std::string_view text, std::size_t max_size) {
  std::string out;
  out.reserve(std::min(text.size(), max_size));
  if (!append_printable(out, text, decode_utf8, false, max_size)) out += "...";
  return out;
}

Diagnostic make_diagnostic(std::string_view bytes, std::string_view charset, bool truncated,
                           std::size_t max_size) {
  Decoder decode = decoder_for(charset);
  if (bytes.substr(0, byte_order_mark.size()) == byte_order_mark) {
    bytes.remove_prefix(byte_order_mark.size());
    decode = decode_utf8;
  }
  Diagnostic result;
  result.text.reserve(std::min(bytes.size(), max_size));
  const bool fits = append_printable(result.text, bytes, decode, truncated, max_size);
  result.truncated = truncated || !fits;
  return result;
}

}  // namespace mcphttp::text
