// hostile_input [ROW...]: lets a client meet servers that mean no good, all of them or those named,
// and prints what came of it: the outcome, the time it took, what the server could write beyond the
// limit before the client closed, and how much memory the client took, each against what it may be.
// Exits with 1 unless every row holds.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "row.hpp"
#include "table.hpp"
#include "trial.hpp"
#include "victim.hpp"

namespace {

using namespace mcphttp::test;

const Row* find_row(const std::string& name) {
  const auto found =
      std::find_if(rows().begin(), rows().end(), [&](const Row& row) { return row.name == name; });
  return found != rows().end() ? &*found : nullptr;
}

int try_rows(const std::vector<const Row*>& chosen) {
  Table table(chosen);
  for (const Row* row : chosen) table.add(*row, try_row(*row));
  table.print_sum();
  return table.all_hold() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "--victim") {
    const Row* row = find_row(arguments[1]);
    return row != nullptr ? be_victim(*row, arguments[2]) : 2;
  }
  std::vector<const Row*> chosen;
  for (const std::string& name : arguments) {
    chosen.push_back(find_row(name));
    if (chosen.back() == nullptr) {
      std::cerr << "no row is named " << name << '\n';
      return 2;
    }
  }
  if (arguments.empty()) {
    for (const Row& row : rows()) chosen.push_back(&row);
  }
  return try_rows(chosen);
}
