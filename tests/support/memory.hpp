// What this process uses, as the Linux kernel counts it. For tests of the memory bounds that the
// library states.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace mcphttp::test {

// The largest resident set since the start of the program or the last reset_peak_rss(), in bytes
// (VmHWM).
std::size_t peak_rss_bytes();

// Sets the peak back to the present value. False if the kernel refused; the old peak then stays.
bool reset_peak_rss();

// The resident set of this moment, in bytes (VmRSS).
std::size_t current_rss_bytes();

// The same of another process. Throw std::runtime_error once it has ended.
std::size_t peak_rss_bytes(pid_t pid);
bool reset_peak_rss(pid_t pid);
std::size_t current_rss_bytes(pid_t pid);

// Threads of this process, the calling one included.
std::size_t thread_count();

// Descriptors of this process that are sockets, of any family.
std::size_t open_sockets();

// Sanitizers keep freed memory and shadow every byte: bounds on memory do not hold under them.
constexpr bool built_with_sanitizers() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

}  // namespace mcphttp::test
