// What the floor's scenarios share: libcurl set up for one kind of request, and nothing more.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <memory>
#include <string>

#include "scenario.hpp"

namespace mcphttp::bench {

struct EasyDelete {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EasyDelete>;

using WriteFunction = std::size_t (*)(char* data, std::size_t size, std::size_t count, void* self);

// Takes what arrives and looks at nothing.
std::size_t discard(char* data, std::size_t size, std::size_t count, void* self);

// A handle that POSTs a tools/call as our side does, and hands what comes back to `write`.
Easy make_call(const std::string& url, WriteFunction write = discard, void* self = nullptr);
// The same for a GET of an event stream.
Easy make_stream(const std::string& url, WriteFunction write, void* self);

// Throws std::runtime_error unless `code` says success.
void check(CURLcode code);

Figures floor_in_flight(const Arguments& arguments);
Figures floor_streams(const Arguments& arguments);

}  // namespace mcphttp::bench
