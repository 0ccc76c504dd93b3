// For programs that stand before operator new: they link replaced_new.cpp and define these two,
// which every allocation of C++ and every release then comes through.
#pragma once

#include <cstddef>

namespace mcphttp::test {

// Null: std::bad_alloc is thrown, but for the forms that do not throw.
void* allocate_or_null(std::size_t size) noexcept;
// `memory` may be null.
void release(void* memory) noexcept;

}  // namespace mcphttp::test
