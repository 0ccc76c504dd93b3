#include "text.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <string>

using mcphttp::Diagnostic;
using mcphttp::text::escape_printable;
using mcphttp::text::make_diagnostic;

namespace {

const std::string fffd = "\xEF\xBF\xBD";

std::string utf8_text(std::string_view bytes, bool truncated = false) {
  return make_diagnostic(bytes, "", truncated).text;
}

// The code point that `text` begins with, in the shortest form of RFC 3629, and its size; size 0 if
// there is none. A second, plain reading, to check the first against.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 0;
};

CodePoint first_code_point(std::string_view text) {
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead < 0xC0 || lead >= 0xF8 || text.size() < size) return {};
  std::uint32_t value = lead & (0xFFU >> (size + 1));
  for (const char c : text.substr(1, size - 1)) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80) return {};
    value = (value << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return value < least.at(size) ? CodePoint{} : CodePoint{value, size};
}

bool is_printable(std::uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
  const bool layout = (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !surrogate && !layout && c <= 0x10FFFF;
}

// True if all of `text` is valid UTF-8 that steers nothing.
bool is_clean_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    if (first.size == 0 || !is_printable(first.value)) return false;
    text.remove_prefix(first.size);
  }
  return true;
}

}  // namespace

TEST_CASE("printable text is left as it is") {
  const auto* const text =
      GENERATE("", "bad gateway", "<html><body>Sign in</body></html>", R"({"message":"a\nb"})",
               "gr\xC3\xBC\xC3\x9F", "\xE4\xBD\xA0", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD");
  CHECK(escape_printable(text) == text);
  CHECK(utf8_text(text) == text);
}

TEST_CASE("characters that control a line or a terminal are escaped") {
  struct Case {
    std::string bytes;
    std::string expected;
  };
  const auto c = GENERATE(values<Case>({
      {"bad gateway\n", "bad gateway\\n"},
      {"a\r\nb\tc", "a\\r\\nb\\tc"},
      {std::string(1, '\0'), "\\x00"},
      {"\x1B[31m", "\\x1B[31m"},
      {"\x7F", "\\x7F"},
      {"\xC2\x80|\xC2\x9B|\xC2\x9F|\xC2\xA0", "\\x80|\\x9B|\\x9F|\xC2\xA0"},
      {"\xE2\x80\xA7\xE2\x80\xA8\xE2\x80\xA9", "\xE2\x80\xA7\\u{2028}\\u{2029}"},
      // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what is tested
      {"\xE2\x80\xAA\xE2\x80\xAE\xE2\x80\xAF", "\\u{202A}\\u{202E}\xE2\x80\xAF"},
      {"\xE2\x81\xA5\xE2\x81\xA6\xE2\x81\xA9\xE2\x81\xAA",
       "\xE2\x81\xA5\\u{2066}\\u{2069}\xE2\x81\xAA"},
  }));
  CHECK(escape_printable(c.bytes) == c.expected);
  CHECK(utf8_text(c.bytes) == c.expected);
}

TEST_CASE("each maximal invalid part of UTF-8 becomes one replacement character") {
  struct Case {
    std::string bytes;
    std::string expected;
  };
  // Unicode 3.9, table 3-8 and its neighbours.
  const auto c = GENERATE(values<Case>({
      {"a\xFFz", "a" + fffd + "z"},
      {"\x80\xBF", fffd + fffd},
      {"\xC0\xAF", fffd + fffd},
      {"\xE0\x80\xAF", fffd + fffd + fffd},
      {"\xED\xA0\x80", fffd + fffd + fffd},
      {"\xF4\x90\x80\x80", fffd + fffd + fffd + fffd},
      {"\xF5\x80", fffd + fffd},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", fffd + fffd + fffd + fffd + "A"},
      {"\xE4\xBD", fffd},
      {"\xF0\x9F\x98", fffd},
      {"\xC3", fffd},
  }));
  CHECK(escape_printable(c.bytes) == c.expected);
  CHECK(utf8_text(c.bytes) == c.expected);
}

TEST_CASE("a sequence cut off by truncation is dropped, an invalid one is not") {
  CHECK(utf8_text("ab\xC3", true) == "ab");
  CHECK(utf8_text("ab\xE4\xBD", true) == "ab");
  CHECK(utf8_text("ab\xF0\x9F\x98", true) == "ab");
  CHECK(utf8_text("\xEF\xBB", true).empty());
  CHECK(utf8_text("ab\xE4\xBD\xA0", true) == "ab\xE4\xBD\xA0");
  CHECK(utf8_text("ab\xFF", true) == "ab" + fffd);
  CHECK(utf8_text("ab\xE0\x80", true) == "ab" + fffd + fffd);
}

TEST_CASE("every cut of a valid text gives a beginning of the whole") {
  const std::string whole = "a\xC3\xBC\xE4\xBD\xA0\xF0\x9F\x98\x80z";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Diagnostic part = make_diagnostic(whole.substr(0, size), "utf-8", true);
    CHECK(whole.substr(0, part.text.size()) == part.text);
    CHECK(part.text.size() + 3 >= size);
    CHECK(part.truncated);
  }
}

TEST_CASE("a diagnostic honours its charset") {
  struct Case {
    std::string charset;
    std::string bytes;
    std::string expected;
  };
  const auto c = GENERATE(values<Case>({
      {"", "\xC3\xBC", "\xC3\xBC"},
      {"utf-8", "\xC3\xBC", "\xC3\xBC"},
      {"shift_jis", "ok \x83\x40", "ok " + fffd + "@"},
      {"us-ascii", "a\xC3\xBC", "a" + fffd + fffd},
      {"us-ascii", "a\n", "a\\n"},
      {"iso-8859-1", "gr\xFC\xDF\x85", "gr\xC3\xBC\xC3\x9F\\x85"},
      {"latin1", "\xE4\xBD", "\xC3\xA4\xC2\xBD"},
      {"iso-8859-1", "\xEF\xBB\xBF\xC3\xBC", "\xC3\xBC"},
      {"utf-8",
       "\xEF\xBB\xBF"
       "a",
       "a"},
      {"utf-8",
       "\xEF\xBB\xBF\xEF\xBB\xBF"
       "a",
       "\xEF\xBB\xBF"
       "a"},
  }));
  CHECK(make_diagnostic(c.bytes, c.charset, false).text == c.expected);
}

TEST_CASE("a diagnostic says whether more followed") {
  CHECK_FALSE(make_diagnostic("not here", "", false).truncated);
  CHECK(make_diagnostic("not here", "", true).truncated);
  CHECK_FALSE(make_diagnostic("", "", false).truncated);
}

TEST_CASE("a diagnostic that grows by escaping stays within its bound") {
  std::string page = "<!doctype html><title>boom</title>";
  while (page.size() < 2048) page += "<p>filler</p>\n";
  page.resize(2048);
  const Diagnostic bounded = make_diagnostic(page, "", false, 2048);
  CHECK(bounded.text.size() <= 2048);
  CHECK(bounded.text.size() > 2048 - 2);
  CHECK(bounded.truncated);

  CHECK(make_diagnostic("12345", "", false, 5).text == "12345");
  CHECK_FALSE(make_diagnostic("12345", "", false, 5).truncated);
  CHECK(make_diagnostic("1234\n", "", false, 5).text == "1234");
  CHECK(make_diagnostic("1234\n", "", false, 5).truncated);
  CHECK(make_diagnostic("x", "", false, 0).text.empty());
  CHECK(make_diagnostic("x", "", false, 0).truncated);
}

TEST_CASE("bounded escaping never cuts through a character or an escape") {
  CHECK(escape_printable("12345", 5) == "12345");
  CHECK(escape_printable("123456", 5) == "12345...");
  CHECK(escape_printable("1234\xC3\xBC", 5) == "1234...");
  CHECK(escape_printable("123\x1B", 5) == "123...");
  CHECK(escape_printable("x", 0) == "...");
  CHECK(escape_printable("", 0).empty());
}

TEST_CASE("random bytes come out clean, bounded and stable") {
  std::mt19937 random(20260728);  // NOLINT(cert-msc51-cpp): the same bytes every run
  const std::string alphabet =
      "a\\\n\x1B\x7F\x80\x8F\x90\x9F\xA0\xBF\xC2\xE0\xE2\xED\xEF\xF0\xF4\xFF";
  const std::string charset = GENERATE("utf-8", "us-ascii", "iso-8859-1");
  for (int round = 0; round < 10000; ++round) {
    std::string bytes(random() % 9, '\0');
    for (char& c : bytes) c = alphabet[random() % alphabet.size()];
    const std::string text = make_diagnostic(bytes, charset, random() % 2 == 0).text;
    INFO(text);
    REQUIRE((is_clean_utf8(text) && text.size() <= 4 * bytes.size()));
    REQUIRE(escape_printable(text) == text);
  }
}
