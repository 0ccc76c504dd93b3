// Finds what ends or interrupts a JSON string: the innermost loop of the check.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mcphttp::json {

// The first quote, backslash or control character (RFC 8259 section 7) at or behind `at`. Reads 16
// bytes at a time, up to 15 beyond what it returns; something must stop it.
inline const char* find_string_stop(const char* at) noexcept {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1F);
  for (;; at += sizeof(__m128i)) {
    __m128i bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    const __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i stops = _mm_or_si128(
        is_control, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops));
    if (mask != 0) return at + std::countr_zero(mask);
  }
#else
  for (;; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\' || byte < 0x20) return at;
  }
#endif
}

}  // namespace mcphttp::json
