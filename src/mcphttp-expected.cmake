# Defines tl::expected from its own CMake package or, where only the header is shipped, from the header. Leaves it undefined
# if there is neither. Used by the build and by the installed package.
if(NOT TARGET tl::expected)
  find_package(tl-expected CONFIG QUIET)
endif()
if(NOT TARGET tl::expected)
  find_path(MCPHTTP_EXPECTED_INCLUDE_DIR tl/expected.hpp)
  mark_as_advanced(MCPHTTP_EXPECTED_INCLUDE_DIR)
  if(MCPHTTP_EXPECTED_INCLUDE_DIR)
    add_library(tl::expected INTERFACE IMPORTED GLOBAL)
    target_include_directories(tl::expected INTERFACE "${MCPHTTP_EXPECTED_INCLUDE_DIR}")
  endif()
endif()
