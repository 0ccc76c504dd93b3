// write_corpus KIND SIZE: writes that event stream to stdout, for parsers of other languages.
#include <cstdio>
#include <string>

#include "corpus.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string stream = mcphttp::bench::event_stream(argv[1], std::stoul(argv[2]));
  return std::fwrite(stream.data(), 1, stream.size(), stdout) == stream.size() ? 0 : 1;
}
