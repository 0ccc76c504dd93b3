// Finds what ends or interrupts a JSON string: the innermost loop of the check.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace mcphttp::json {

#if defined(__SSE2__)

// Most strings are short; what is longer than this many bytes is passed in larger steps.
inline constexpr std::ptrdiff_t short_string = 64;

// Passes 64 bytes at a time while no quote, backslash or control character is among them. For
// processors with AVX2, which x86-64 need not have.
[[gnu::target("avx2"), gnu::noinline]] inline const char* skip_plain_avx2(const char* at) noexcept {
  const __m256i quote = _mm256_set1_epi8('"');
  const __m256i backslash = _mm256_set1_epi8('\\');
  const __m256i last_control = _mm256_set1_epi8(0x1F);
  for (;; at += 2 * sizeof(__m256i)) {
    __m256i low;
    __m256i high;
    std::memcpy(&low, at, sizeof low);
    std::memcpy(&high, at + sizeof low, sizeof high);
    // A byte not above the last control character is one itself, and remains in the lesser of two.
    const __m256i least = _mm256_min_epu8(low, high);
    const __m256i is_control = _mm256_cmpeq_epi8(_mm256_min_epu8(least, last_control), least);
    const __m256i is_quote =
        _mm256_or_si256(_mm256_cmpeq_epi8(low, quote), _mm256_cmpeq_epi8(high, quote));
    const __m256i is_backslash =
        _mm256_or_si256(_mm256_cmpeq_epi8(low, backslash), _mm256_cmpeq_epi8(high, backslash));
    const __m256i stops = _mm256_or_si256(is_control, _mm256_or_si256(is_quote, is_backslash));
    if (_mm256_testz_si256(stops, stops) == 0) return at;
  }
}

// The first quote, backslash or control character (RFC 8259 section 7) at or behind `at`. Reads up
// to 63 bytes beyond what it returns; something must stop it.
inline const char* find_string_stop(const char* at) noexcept {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1F);
  for (const char* const far = at + short_string;; at += sizeof(__m128i)) {
    // What is asked here is a look into memory.
    if (at == far && static_cast<bool>(__builtin_cpu_supports("avx2"))) at = skip_plain_avx2(at);
    __m128i bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    const __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i stops = _mm_or_si128(
        is_control, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops));
    if (mask != 0) return at + std::countr_zero(mask);
  }
}

#else

inline const char* find_string_stop(const char* at) noexcept {
  for (;; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\' || byte < 0x20) return at;
  }
}

#endif

}  // namespace mcphttp::json
