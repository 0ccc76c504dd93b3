// The version of the library: semantic, and the one place where it is written (CMake reads it from
// here).
#pragma once

#define MCPHTTP_VERSION_MAJOR 0
#define MCPHTTP_VERSION_MINOR 1
#define MCPHTTP_VERSION_PATCH 0
#define MCPHTTP_VERSION_STRING "0.1.0"
