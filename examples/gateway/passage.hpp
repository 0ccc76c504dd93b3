// One answer of upstream on its way to the client.
#pragma once

#include <httplib.h>

#include <memory>
#include <optional>
#include <string>

#include <mcphttp/relay.hpp>

#include "audit.hpp"
#include "downstream.hpp"
#include "policy.hpp"

namespace gateway {

class Passage {
 public:
  // `seen` looks on as the relay's inspector. `place` is given back at the end.
  Passage(mcphttp::Relay relay, std::shared_ptr<Inspection> seen, Trail trail,
          std::shared_ptr<void> place);
  // If the body was never asked for, the client has left.
  ~Passage();
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  // Waits for the head, and has httplib send it and then the body, piece by piece.
  static void send(const std::shared_ptr<Passage>& passage, const httplib::Request& request,
                   httplib::Response& response);

 private:
  bool pump(httplib::DataSink& sink, Framing framing);
  bool send_pieces(Downstream& downstream);
  void note_sent(std::size_t size);
  void note_end(const char* downstream);

  mcphttp::Relay relay_;
  const std::shared_ptr<Inspection> seen_;
  const Trail trail_;
  const std::shared_ptr<void> place_;
  std::optional<std::string> piece_;  // the next one to be sent
  std::size_t sent_ = 0;
  bool ended_ = false;
};

// An answer of the gateway's own. `close`: the connection must not be used any more, since the
// request was not read to its end.
void send_answer(const mcphttp::ErrorAnswer& answer, httplib::Response& response,
                 bool close = false);

}  // namespace gateway
