// wire_cases [--only ID] [--time-scale F] FILE...: runs the wire cases of those files
// (cases/README.md). The last line is "N passed, N failed". Exit code: 0 if all passed, 1 if not, 2
// for wrong usage.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "wire/runner.hpp"

namespace {

struct Arguments {
  std::string only;
  double time_scale = 1;
  std::vector<std::string> files;
  bool valid = true;
};

Arguments read_arguments(const std::vector<std::string>& words) {
  Arguments read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--only" && has_value) {
      read.only = words[++i];
    } else if (words[i] == "--time-scale" && has_value) {
      read.time_scale = std::strtod(words[++i].c_str(), nullptr);
    } else if (words[i].substr(0, 2) == "--") {
      read.valid = false;
    } else {
      read.files.push_back(words[i]);
    }
  }
  read.valid = read.valid && read.time_scale > 0 && !read.files.empty();
  return read;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments({argv + 1, argv + argc});
  if (!arguments.valid) {
    std::cerr << "usage: wire_cases [--only ID] [--time-scale F] FILE...\n";
    return 2;
  }
  mcphttp::test::wire::Runner runner(arguments.only, arguments.time_scale);
  for (const std::string& file : arguments.files) runner.run_file(file);
  std::cout << runner.passed() << " passed, " << runner.failed() << " failed" << std::endl;
  return runner.failed() == 0 ? 0 : 1;
}
