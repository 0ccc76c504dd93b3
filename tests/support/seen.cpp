#include "support/seen.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>

namespace mcphttp::test {
namespace {

// Begins its file anew: what an earlier run met does not count.
class Notebook {
 public:
  Notebook() {
    const char* const folder = std::getenv("MCPHTTP_SEEN_DIR");
    if (folder == nullptr) return;
    std::filesystem::create_directories(folder);
    file_.open(std::filesystem::path(folder) / program_invocation_short_name);
  }

  void add(const std::string& line) {
    if (!file_.is_open()) return;
    const std::lock_guard lock(mutex_);
    if (lines_.insert(line).second) file_ << line << std::endl;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> lines_;
  std::ofstream file_;
};

Notebook& notebook() {
  static auto* const notebook = new Notebook;  // threads may outlive what is destroyed at exit
  return *notebook;
}

}  // namespace

void note_seen(const Error& error) {
  notebook().add("error " + std::string(to_string(error.code)));
  if (error.cause) note_seen(*error.cause);
}

void note_seen(const Warning& warning) {
  notebook().add("warning " + std::string(to_string(warning.kind)));
}

}  // namespace mcphttp::test
