#include "base64.hpp"

#include <cstddef>
#include <cstdint>

namespace mcphttp {

std::string encode_base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3)) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const unsigned char byte = i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
      group = group << 8 | byte;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= bytes.size() ? digits[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

}  // namespace mcphttp
