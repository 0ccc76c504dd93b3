// What an event stream's parser keeps of a value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace mcphttp {

// Bytes of a value: kept here, or, for as long as they last, lying elsewhere.
class SseBuffer {
 public:
  std::string_view view() const noexcept { return borrows() ? borrowed_ : bytes_; }
  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept { return view().size(); }
  std::size_t capacity() const noexcept { return bytes_.capacity(); }

  void reserve(std::size_t size);                // exactly so much, and `spare`
  void append(std::string_view bytes);           // nothing may be borrowed
  void borrow(std::string_view bytes) noexcept;  // instead of what it holds
  bool borrows() const noexcept { return !borrowed_.empty(); }
  std::string_view give_back() noexcept;  // what was borrowed, no longer held
  void swap(SseBuffer& other) noexcept;
  void recycle() noexcept;  // empties it; keeps the memory for the next use unless it is much
  void release() noexcept;

  // The bytes as a string with `spare` unused bytes of capacity, and not many more: the one they
  // are in, or else a copy. The buffer is to be recycled.
  std::string take();

  // What a check of JSON wants behind its text.
  static constexpr std::size_t spare = 64;

 private:
  // A block larger than this is given back at the end of the line or block of the stream that
  // needed it. There are four buffers.
  static constexpr std::size_t retained_capacity = std::size_t{16} * 1024;

  // Unused capacity that a taken string may have besides. Events wait in queues that count their
  // bytes.
  static constexpr std::size_t most_waste = 256;

  std::string_view borrowed_;
  std::string bytes_;
};

// A string that grows in place may double past what it was asked for.
inline void SseBuffer::reserve(std::size_t size) {
  std::string roomier;
  roomier.reserve(size + spare);
  roomier.append(bytes_);
  bytes_.swap(roomier);
}

inline void SseBuffer::append(std::string_view bytes) {
  if (bytes.size() == 1) {
    bytes_.push_back(bytes.front());  // a stream that arrives byte by byte
  } else {
    bytes_.append(bytes);
  }
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
}

inline void SseBuffer::recycle() noexcept {
  borrowed_ = {};
  if (bytes_.capacity() > retained_capacity) {
    release();
  } else {
    bytes_.clear();
  }
}

inline void SseBuffer::release() noexcept {
  borrowed_ = {};
  std::string().swap(bytes_);
}

inline std::string SseBuffer::take() {
  if (empty()) return {};
  const std::size_t unused = bytes_.capacity() - bytes_.size();
  if (!borrows() && unused >= spare && unused <= spare + most_waste)
    return std::exchange(bytes_, std::string());
  std::string copy;
  copy.reserve(size() + spare);
  copy.append(view());
  return copy;
}

}  // namespace mcphttp
