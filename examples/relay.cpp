// What a gateway does with one request, without the HTTP server around it (docs/gateway.md): takes
// a JSON-RPC message from its input, and prints what it would send downstream, live.
//
//   relay URL [DENIED_TOOL] < request.json
//
// For servers that keep no sessions: it sends the request and nothing before it.
#include <mcphttp/relay.hpp>
#include <mcphttp/transport.hpp>

#include <iostream>
#include <iterator>
#include <memory>
#include <string>

using namespace mcphttp;

// Stops every answer that names a tool.
class Deny final : public Inspector {
 public:
  explicit Deny(std::string tool) : name_('"' + std::move(tool) + '"') {}

  Verdict on_message(const Message* message, bool last) override {
    if (last) std::cerr << "inspected to the end\n";
    if (message == nullptr || message->result().find(name_) == std::string_view::npos) {
      return Verdict::pass();
    }
    return Verdict::stop("this gateway does not offer " + name_);
  }

 private:
  const std::string name_;  // with its quotes
};

// Stand for what an HTTP server offers.
void send_head(const ResponseHead& head) {
  std::cout << head.status << '\n';
  for (const Header& field : head.headers) std::cout << field.name << ": " << field.value << '\n';
  std::cout << std::endl;
}
bool send_bytes(const std::string& bytes) { return bool(std::cout << bytes << std::flush); }

int answer(const ErrorAnswer& answer) {
  send_head(answer.head);
  send_bytes(answer.body);
  return 1;
}

int pass_on(Transport& transport, std::string body, std::shared_ptr<Inspector> inspector) {
  ForwardRequest request;
  request.headers = {{"Content-Type", "application/json"},
                     {"Accept", "application/json, text/event-stream"}};
  const auto message = Message::parse(body);
  const std::string id(message ? message->id() : "");
  request.body = std::move(body);
  auto response = transport.forward(std::move(request));
  if (!response) return answer(error_answer(response.error(), id));

  RelayOptions options;
  options.inspector = std::move(inspector);
  options.streams = RelayOptions::Streams::whole;
  options.heed_no_transform = false;
  Relay relay(std::move(*response), options);
  send_head(relay.head());
  while (auto bytes = relay.next()) {
    if (!send_bytes(*bytes)) break;  // downstream is gone: so is the exchange, with the Relay
  }
  if (relay.error() != nullptr) std::cerr << relay.error()->to_string() << '\n';
  return relay.ending() == RelayEnding::clean ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  TransportOptions options;
  options.url = argv[1];
  auto transport = Transport::create(options);
  if (!transport) return answer(error_answer(transport.error(), ""));
  std::string body((std::istreambuf_iterator<char>(std::cin)), {});
  std::shared_ptr<Inspector> inspector;
  if (argc > 2) inspector = std::make_shared<Deny>(argv[2]);
  return pass_on(*transport, std::move(body), std::move(inspector));
}
