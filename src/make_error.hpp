// The one way to begin an Error. Private to the library.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <mcphttp/error.hpp>

namespace mcphttp {

inline Error make_error(ErrorCode code, std::string detail,
                        Delivery delivery = Delivery::not_sent) {
  Error error;
  error.code = code;
  error.detail = std::move(detail);
  error.delivery = delivery;
  return error;
}

// What the application has handed in is not right; says which of it.
inline Error invalid_argument(std::string detail) {
  return make_error(ErrorCode::invalid_argument, std::move(detail));
}

// A field of Timeouts has passed.
inline Error make_timeout(ErrorCode code, std::string_view field, std::chrono::milliseconds limit,
                          Delivery delivery) {
  return make_error(code, fmt::format("Timeouts::{} ({} ms) has passed", field, limit.count()),
                    delivery);
}

}  // namespace mcphttp
