#include "support/memory.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace mcphttp::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t bytes_per_kb = 1024;

std::string proc_file(const std::string& process, const char* name) {
  return "/proc/" + process + '/' + name;
}

// The number in a line of /proc/PID/status such as "VmHWM:     1234 kB" (proc(5)).
std::size_t status_number(const std::string& process, std::string_view field) {
  std::ifstream status(proc_file(process, "status"));
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, field.size(), field) == 0) {
      return std::stoull(line.substr(field.size()));
    }
  }
  throw std::runtime_error("/proc/" + process + "/status has no " + std::string(field));
}

bool reset_peak_rss_of(const std::string& process) {
  std::ofstream clear(proc_file(process, "clear_refs"));
  clear << "5" << std::flush;
  return clear.good();
}

// A descriptor may be closed by another thread while the folder is read; such an entry counts as no
// socket.
bool links_to_socket(const fs::path& descriptor) {
  std::error_code gone;
  return fs::read_symlink(descriptor, gone).string().compare(0, 7, "socket:") == 0;
}

}  // namespace

std::size_t peak_rss_bytes() { return status_number("self", "VmHWM:") * bytes_per_kb; }
std::size_t peak_rss_bytes(pid_t pid) {
  return status_number(std::to_string(pid), "VmHWM:") * bytes_per_kb;
}

bool reset_peak_rss() { return reset_peak_rss_of("self"); }
bool reset_peak_rss(pid_t pid) { return reset_peak_rss_of(std::to_string(pid)); }

std::size_t current_rss_bytes() { return status_number("self", "VmRSS:") * bytes_per_kb; }
std::size_t current_rss_bytes(pid_t pid) {
  return status_number(std::to_string(pid), "VmRSS:") * bytes_per_kb;
}

std::size_t thread_count() { return status_number("self", "Threads:"); }

std::size_t open_sockets() {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    if (links_to_socket(entry.path())) ++count;
  }
  return count;
}

}  // namespace mcphttp::test
