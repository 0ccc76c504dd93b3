// The smallest program of a user: includes a public header, links the library, runs.
#include <iostream>

#include <mcphttp/error.hpp>

int main() {
  const auto name = mcphttp::to_string(mcphttp::ErrorCode::cancelled);
  std::cout << name << '\n';
  return name == "cancelled" ? 0 : 1;
}
