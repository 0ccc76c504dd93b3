// Symbol visibility. The library is built with hidden visibility; what carries MCPHTTP_EXPORT is
// its ABI.
#pragma once

#if defined(MCPHTTP_STATIC)
#define MCPHTTP_EXPORT
#else
#define MCPHTTP_EXPORT __attribute__((visibility("default")))
#endif
