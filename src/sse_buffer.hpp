// What the SSE parser keeps of the input.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

namespace mcphttp {

// Bytes in one block of memory, which grows in place where the allocator can: to move many MiB
// costs more than to read them.
class SseBuffer {
 public:
  std::string_view view() const noexcept { return {bytes_.get(), size_}; }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }

  void reserve(std::size_t capacity) {
    void* const bytes = std::realloc(bytes_.get(), capacity);
    if (bytes == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes_.release());  // realloc has freed or reused it
    bytes_.reset(static_cast<char*>(bytes));
    capacity_ = capacity;
  }

  // Needs enough capacity.
  void append(std::string_view bytes) noexcept {
    if (bytes.size() == 1) {
      bytes_[size_] = bytes.front();  // a stream that arrives byte by byte
    } else if (!bytes.empty()) {
      std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
    }
    size_ += bytes.size();
  }

  void swap(SseBuffer& other) noexcept {
    bytes_.swap(other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  // Empties it; keeps the memory for the next use unless it is much.
  void recycle() noexcept {
    size_ = 0;
    if (capacity_ > retained_capacity) release();
  }

  void release() noexcept {
    bytes_.reset();
    size_ = 0;
    capacity_ = 0;
  }

 private:
  // A buffer larger than this is given back at the end of the line or block that needed it. There
  // are four.
  static constexpr std::size_t retained_capacity = std::size_t{16} * 1024;

  struct Free {
    void operator()(char* bytes) const noexcept { std::free(bytes); }
  };

  // An array, since realloc() moves it. NOLINTNEXTLINE(modernize-avoid-c-arrays)
  std::unique_ptr<char[], Free> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace mcphttp
