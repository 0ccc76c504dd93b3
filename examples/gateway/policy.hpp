// Which tools a client may see and call.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mcphttp/relay.hpp>

#include "call.hpp"

namespace gateway {

using Tools = std::set<std::string>;

// Sees the messages of one answer. Takes the denied tools out of every listing among them, if there
// are any.
class Inspection final : public mcphttp::Inspector {
 public:
  explicit Inspection(std::shared_ptr<const Tools> denied) : denied_(std::move(denied)) {}

  mcphttp::Verdict on_message(const mcphttp::Message* message, bool last) override;
  // For the audit: the messages since the last call.
  std::vector<Json> take_seen() { return std::exchange(seen_, {}); }

 private:
  const std::shared_ptr<const Tools> denied_;
  std::vector<Json> seen_;
};

class Policy {
 public:
  // `listings`: the bounds within which a listing is inspected, and the rule for those beyond.
  Policy(Tools denied, Tools held, mcphttp::RelayOptions listings);

  // Why a call must not go upstream at all.
  std::optional<mcphttp::Error> refuses(const Call& call) const;
  bool holds(const Call& call) const { return held_.count(call.tool) == 1; }
  // How the answer is relayed. A listing is held back until it has been judged whole. A GET may
  // bring one too: what was left of a broken stream, sent again.
  mcphttp::RelayOptions relaying(const Call& call, bool is_get,
                                 std::shared_ptr<Inspection>& inspection) const;

 private:
  const std::shared_ptr<const Tools> denied_;
  const Tools held_;
  const mcphttp::RelayOptions listings_;
};

}  // namespace gateway
