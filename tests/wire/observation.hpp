// What was seen while a case was run: by the application, by the servers and by the clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <mcphttp/error.hpp>
#include <mcphttp/response.hpp>

#include "support/http_request.hpp"

namespace mcphttp::test::wire {

using TimePoint = std::chrono::steady_clock::time_point;

struct SeenEvent {
  std::string type;
  std::string data;
  std::string id;       // in force after the event
  bool has_id = false;  // an id line stood in the event
  TimePoint at;
};

// The application's side of one exchange.
struct Recording {
  std::size_t heads = 0;
  int status = 0;            // of the last head
  std::string content_type;  // of the last head, as sent
  std::vector<SeenEvent> events;
  std::vector<std::string> methods;  // of the messages that are no responses
  std::vector<std::string> answers;  // the responses, as JSON
  std::vector<WarningKind> warnings;
  std::optional<ExchangeEnd> end;
  std::size_t ends = 0;
  TimePoint ended_at;
  std::chrono::milliseconds cpu{0};  // of the thread that drove the exchange
  bool misused = false;              // called during another call, or after the end
};

// A request of the case as the server got it.
struct SeenRequest {
  Request request;
  std::string rpc;                    // its JSON-RPC method; empty if it has none
  std::optional<TimePoint> ended_at;  // the end of the reply; nothing while it goes on
  bool closed_by_client = false;
};

// A call that the harness made beside the case's own, for a reply of the script's `then`.
struct Companion {
  std::string rpc;
  TimePoint started_at;
  TimePoint ended_at;
  std::string failure;  // empty: it was answered
};

// A request that the harness made after the case, to see what the client sends now.
struct Probe {
  std::string failure;             // empty: it was answered
  std::optional<Request> request;  // as the server got it
};

struct Observation {
  std::string outcome;          // as in the cases; empty: none in time
  std::optional<Error> error;   // of a transport_error
  bool through_client = false;  // by Client, which shows no events, heads and figures
  Recording recording;
  std::string stream;  // state of a GET stream: open, reopened, not_offered; else empty
  TimePoint started_at;
  std::string session;  // held afterwards; empty: none

  std::vector<SeenRequest> requests;
  std::vector<Companion> companions;
  std::size_t other_origin_requests = 0;
  std::optional<Probe> next_initialize;  // where the case asks for it
  std::optional<Probe> next_call;        // where the case asks for it
  std::vector<std::string> faults;  // of either side's HTTP, and requests that are not scripted
  std::uint16_t port = 0;
  std::uint16_t other_port = 0;
};

}  // namespace mcphttp::test::wire
