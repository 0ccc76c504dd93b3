#include "scenario.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <exception>

namespace mcphttp::bench {
namespace {

// Ten thousand streams need as many descriptors.
void allow_many_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  arguments.url = argv[2];
  arguments.count = std::stoul(argv[3]);
  if (argc > 4) arguments.width = std::stoul(argv[4]);
  return arguments;
}

}  // namespace

int run_scenario(int argc, char** argv, const std::vector<Scenario>& scenarios) try {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s SCENARIO URL COUNT [WIDTH]\n", argv[0]);
    return 2;
  }
  allow_many_descriptors();
  for (const Scenario& scenario : scenarios) {
    if (scenario.name != argv[1]) continue;
    print(scenario.run(parse(argc, argv)));
    return 0;
  }
  std::fprintf(stderr, "no scenario %s\n", argv[1]);
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

}  // namespace mcphttp::bench
