// Finds where a line of an event stream ends: the innermost loop of the parser.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#else
#include <algorithm>
#endif

namespace mcphttp::sse {

constexpr bool is_line_end(char c) noexcept { return c == '\n' || c == '\r'; }

#if defined(__SSE2__)

inline __m128i load(const char* at) noexcept {
  __m128i bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// A bit for each of the 16 bytes from `at` on that ends a line.
inline unsigned line_ends(const char* at) noexcept {
  const __m128i bytes = load(at);
  const __m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')),
                                     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')));
  return static_cast<unsigned>(_mm_movemask_epi8(found));
}

// The greatest part of [at, last), in steps of 64, that holds no control character up to CR, and so
// no line end. Cheaper than to look for both.
inline const char* skip_text(const char* at, const char* last) noexcept {
  const __m128i most = _mm_set1_epi8('\r');
  for (; last - at >= 64; at += 64) {
    const __m128i least = _mm_min_epu8(_mm_min_epu8(load(at), load(at + 16)),
                                       _mm_min_epu8(load(at + 32), load(at + 48)));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(least, most), least)) != 0) break;
  }
  return at;
}

// Stops at the first CR or LF in [at, last), or before the last few bytes.
inline const char* skip_blocks(const char* at, const char* last) noexcept {
  while (last - at >= 16) {
    at = skip_text(at, last);
    for (int i = 0; i < 4 && last - at >= 16; ++i, at += 16) {
      if (const unsigned found = line_ends(at)) return at + std::countr_zero(found);
    }
  }
  return at;
}

#else

// Stops at the first CR or LF in [at, last), or before the last few bytes. Looks ahead in growing
// steps: in a stream of CR line ends, the search for an LF that is far away then stays in
// proportion to the line.
inline const char* skip_blocks(const char* at, const char* last) noexcept {
  const auto find = [&at](const char* stop, char c) {
    return static_cast<const char*>(std::memchr(at, c, static_cast<std::size_t>(stop - at)));
  };
  for (std::ptrdiff_t step = 256; last - at >= 16; step *= 2) {
    const char* const stop = at + std::min(last - at, step);
    const char* const lf = find(stop, '\n');
    if (const char* const cr = find(lf ? lf : stop, '\r')) return cr;
    if (lf) return lf;
    at = stop;
  }
  return at;
}

#endif

// The first CR or LF in [at, last), or `last`.
inline const char* find_line_end(const char* at, const char* last) noexcept {
  at = skip_blocks(at, last);
  while (at != last && !is_line_end(*at)) ++at;
  return at;
}

}  // namespace mcphttp::sse
