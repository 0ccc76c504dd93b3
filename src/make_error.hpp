// The one way to begin an Error. Private to the library.
#pragma once

#include <string>
#include <utility>

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

}  // namespace mcphttp
