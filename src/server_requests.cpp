#include "server_requests.hpp"

#include <array>
#include <utility>

#include "json.hpp"
#include "rpc.hpp"

namespace mcphttp {

// --- Responder -----------------------------------------------------------------------------------

Responder::Responder(Send send) : send_(std::move(send)) {}
Responder::Responder(Responder&& other) noexcept : send_(std::exchange(other.send_, nullptr)) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  Responder(std::move(other)).send_.swap(send_);
  return *this;
}

Responder::~Responder() { error(rpc::internal_error, "the client did not answer"); }

Result<void> Responder::result(std::string_view json) {
  json::Checker checker;
  auto checked = json::check_object(json, json::greatest_depth, checker);
  if (!checked) return checked;
  if (const Send send = std::exchange(send_, nullptr))
    send(std::string(R"("result":)").append(json));
  return {};
}

void Responder::error(std::int64_t code, std::string_view message) {
  if (const Send send = std::exchange(send_, nullptr)) send(rpc::make_error_body(code, message));
}

// --- ServerRequests ------------------------------------------------------------------------------

ServerRequests::ServerRequests(const Handlers& handlers, std::shared_ptr<Worker> worker, Send send)
    : handlers_(handlers), worker_(std::move(worker)), send_(std::move(send)) {}

void ServerRequests::take(const Message& request, const std::shared_ptr<Inbox>& inbox) const {
  if (!inbox->hold()) return;
  Responder::Send answer = [send = send_, id = std::string(request.id()),
                            weak = std::weak_ptr(inbox)](const std::string& body) {
    send(rpc::make_response(id, body), [weak] {
      if (const auto held = weak.lock()) held->release();
    });
  };
  const auto handler = handlers_.find(request.method());
  if (handler == handlers_.end()) {
    answer(request.method() == "ping"
               ? R"("result":{})"
               : rpc::make_error_body(rpc::method_not_found, "Method not found"));
    return;
  }
  // Shared, because tasks are copied; the last copy that goes unanswered answers.
  auto responder = std::make_shared<Responder>(std::move(answer));
  worker_->post([handle = handler->second, request, responder = std::move(responder)] {
    handle(request, std::move(*responder));
  });
}

std::string with_handler_capabilities(std::string own, const ServerRequests::Handlers& handlers) {
  // MCP 2025-11-25, Lifecycle, Capability Negotiation.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> capabilities{{
      {"sampling/createMessage", "sampling"},
      {"elicitation/create", "elicitation"},
      {"roots/list", "roots"},
  }};
  for (const auto& [method, capability] : capabilities) {
    const bool is_offered = handlers.find(method) != handlers.end();
    if (is_offered && !json::Value(own).find(capability))
      own = json::set_member(own, capability, "{}");
  }
  return own;
}

}  // namespace mcphttp
