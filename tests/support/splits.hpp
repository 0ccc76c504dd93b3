// Chunking never matters: runs a check on the same bytes, cut in many ways.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace mcphttp::test {

using Pieces = std::vector<std::string_view>;

// `bytes` in pieces of `size` bytes, the last one shorter; one empty piece if there are no bytes.
inline Pieces cut_every(std::string_view bytes, std::size_t size) {
  Pieces pieces;
  do {
    pieces.push_back(bytes.substr(0, size));
    bytes.remove_prefix(pieces.back().size());
  } while (!bytes.empty());
  return pieces;
}

// Calls check(pieces) with `bytes` whole, cut in two at every place (an empty half included), and
// in pieces of 1 to 8, 16 and 31 bytes. The views point into `bytes`.
template <class Check>
void for_each_split(std::string_view bytes, Check check) {
  check(Pieces{bytes});
  for (std::size_t at = 0; at <= bytes.size(); ++at)
    check(Pieces{bytes.substr(0, at), bytes.substr(at)});
  for (const std::size_t size : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 16U, 31U})
    check(cut_every(bytes, size));
}

}  // namespace mcphttp::test
