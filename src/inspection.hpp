// Inspection: an inspector at work on one response. It hears of the end exactly once. No I/O.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <mcphttp/relay.hpp>

namespace mcphttp {

// Thread-compatible.
class Inspection {
 public:
  // `inspector` null: everything passes.
  Inspection(std::shared_ptr<Inspector> inspector, std::size_t max_json_depth)
      : inspector_(std::move(inspector)), max_json_depth_(max_json_depth) {}
  ~Inspection() { conclude(); }
  Inspection(const Inspection&) = delete;
  Inspection& operator=(const Inspection&) = delete;

  bool is_active() const noexcept { return inspector_ != nullptr; }

  // Something to put in the message's place, nothing if it may pass as it is, or why it must not.
  Result<std::optional<Message>> judge(const Message& message, bool last);
  // There is no more. Why the rest must not pass, if so. Only the first call is heard.
  std::optional<Error> conclude();

 private:
  Result<Verdict> ask(const Message* message, bool last);

  const std::shared_ptr<Inspector> inspector_;
  const std::size_t max_json_depth_;
  bool concluded_ = false;
};

}  // namespace mcphttp
