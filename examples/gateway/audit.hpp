// What passes the gateway, as one JSON object a line.
#pragma once

#include <atomic>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>

#include "call.hpp"

namespace gateway {

// The file that all requests share. Thread-safe.
class Audit {
 public:
  // Appends to that file; empty: to stderr. Throws std::runtime_error if it cannot be opened.
  explicit Audit(const std::string& path);

  // Adds the time. What the file does not take goes to stderr.
  void write(Json line);
  std::uint64_t next_request() { return ++requests_; }

 private:
  std::mutex mutex_;
  std::ofstream file_;
  std::atomic<std::uint64_t> requests_{0};
};

// The lines of one request. Each carries its number, and once they are known the JSON-RPC id, the
// method and the tool.
class Trail {
 public:
  explicit Trail(Audit& audit) : audit_(&audit), number_(audit.next_request()) {}

  std::uint64_t number() const { return number_; }
  void know(const Call& call);
  // `fields`: an object.
  void write(const char* event, Json fields = Json::object()) const;

 private:
  Audit* audit_;
  std::uint64_t number_;
  Json known_ = Json::object();
};

// The parts of a message that its line shows.
Json summary(const mcphttp::Message& message);

}  // namespace gateway
