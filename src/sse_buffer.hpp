// What an event stream's parser keeps of a value.
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
// costs more than to read them. Or, for as long as they last, bytes that lie elsewhere.
class SseBuffer {
 public:
  std::string_view view() const noexcept {
    return borrows() ? borrowed_ : std::string_view(bytes_.get(), size_);
  }
  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept { return view().size(); }
  std::size_t capacity() const noexcept { return capacity_; }

  void reserve(std::size_t capacity);
  void append(std::string_view bytes) noexcept;  // needs enough capacity, and nothing borrowed
  void borrow(std::string_view bytes) noexcept;  // instead of what it holds
  bool borrows() const noexcept { return !borrowed_.empty(); }
  std::string_view give_back() noexcept;  // what was borrowed, no longer held
  void swap(SseBuffer& other) noexcept;
  void recycle() noexcept;  // empties it; keeps the memory for the next use unless it is much
  void release() noexcept;

 private:
  // A block larger than this is given back at the end of the line or block of the stream that
  // needed it. There are four buffers.
  static constexpr std::size_t retained_capacity = std::size_t{16} * 1024;

  struct Free {
    void operator()(char* bytes) const noexcept { std::free(bytes); }
  };

  std::string_view borrowed_;
  // An array, since realloc() moves it. NOLINTNEXTLINE(modernize-avoid-c-arrays)
  std::unique_ptr<char[], Free> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

inline void SseBuffer::reserve(std::size_t capacity) {
  void* const bytes = std::realloc(bytes_.get(), capacity);
  if (bytes == nullptr) throw std::bad_alloc();
  static_cast<void>(bytes_.release());  // realloc has freed or reused it
  bytes_.reset(static_cast<char*>(bytes));
  capacity_ = capacity;
}

inline void SseBuffer::append(std::string_view bytes) noexcept {
  if (bytes.size() == 1) {
    bytes_[size_] = bytes.front();  // a stream that arrives byte by byte
  } else if (!bytes.empty()) {
    std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
  }
  size_ += bytes.size();
}

inline void SseBuffer::borrow(std::string_view bytes) noexcept {
  recycle();
  borrowed_ = bytes;
}

inline std::string_view SseBuffer::give_back() noexcept {
  return std::exchange(borrowed_, std::string_view());
}

inline void SseBuffer::swap(SseBuffer& other) noexcept {
  std::swap(borrowed_, other.borrowed_);
  bytes_.swap(other.bytes_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
}

inline void SseBuffer::recycle() noexcept {
  borrowed_ = {};
  size_ = 0;
  if (capacity_ > retained_capacity) release();
}

inline void SseBuffer::release() noexcept {
  borrowed_ = {};
  bytes_.reset();
  size_ = 0;
  capacity_ = 0;
}

}  // namespace mcphttp
