#include "table.hpp"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string_view>

namespace mcphttp::test {
namespace {

std::string kibibytes(std::size_t bytes) { return std::to_string((bytes + 1023) / 1024); }

int width_of(const std::vector<const Row*>& rows, std::string Row::*text) {
  std::size_t width = std::string_view("outcome").size();
  for (const Row* row : rows) width = std::max(width, (row->*text).size());
  return static_cast<int>(width);
}

}  // namespace

Table::Table(const std::vector<const Row*>& rows)
    : widths_{width_of(rows, &Row::name),
              width_of(rows, &Row::sends),
              width_of(rows, &Row::outcome),
              -5,
              -8,
              -9,
              -8,
              0} {
  print({"row", "the server sends", "outcome", "ms", "past KiB", "grown KiB", "most KiB", "holds"});
}

void Table::add(const Row& row, const Verdict& verdict) {
  const Report& report = verdict.report;
  const bool holds = verdict.fault.empty();
  print({row.name, row.sends, report.outcome.name, std::to_string(report.time.count()),
         row.may_send == unlimited ? "-" : kibibytes(verdict.past_limit), kibibytes(report.growth),
         kibibytes(verdict.memory_allowed), holds ? "yes" : "NO: " + verdict.fault});
  ++tried_;
  if (holds) ++held_;
}

void Table::print_sum() const {
  std::cout << held_ << " of " << tried_ << " rows hold" << std::endl;
}

void Table::print(const std::vector<std::string>& cells) const {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::cout << (widths_[i] < 0 ? std::right : std::left) << std::setw(std::abs(widths_[i]))
              << cells[i] << (i + 1 < cells.size() ? "  " : "");
  }
  std::cout << std::endl;
}

}  // namespace mcphttp::test
