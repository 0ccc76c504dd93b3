// Aligned columns on stdout.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "row.hpp"
#include "trial.hpp"

namespace mcphttp::test {

class Table {
 public:
  // Prints the head of a table of these rows.
  explicit Table(const std::vector<const Row*>& rows);
  void add(const Row& row, const Verdict& verdict);
  // Prints how many of the rows hold.
  void print_sum() const;
  bool all_hold() const { return held_ == tried_; }

 private:
  void print(const std::vector<std::string>& cells) const;

  std::vector<int> widths_;  // negative: flush right
  std::size_t held_ = 0;
  std::size_t tried_ = 0;
};

}  // namespace mcphttp::test
