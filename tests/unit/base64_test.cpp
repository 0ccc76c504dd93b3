#include "base64.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using mcphttp::encode_base64;

TEST_CASE("bytes are encoded as the test vectors of RFC 4648 section 10 show") {
  const std::vector<std::pair<std::string, std::string>> vectors = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [bytes, text] : vectors) CHECK(encode_base64(bytes) == text);
}

TEST_CASE("every byte value and every digit of the alphabet is handled") {
  CHECK(encode_base64(std::string("\0\0\0", 3)) == "AAAA");
  CHECK(encode_base64("\xFF\xFF\xFF") == "////");
  CHECK(encode_base64("\xFB\xEF\xBE") == "++++");
  CHECK(encode_base64(std::string("\x00\x10\x83\x10\x51\x87\x20\x92\x8B", 9)) == "ABCDEFGHIJKL");
  CHECK(encode_base64(std::string("\0", 1)) == "AA==");
  CHECK(encode_base64(std::string(30'000, 'x')).size() == 40'000);
}
