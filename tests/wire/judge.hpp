// What the checks of single expectations have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/fields.hpp"
#include "wire/observation.hpp"
#include "wire/script.hpp"

namespace mcphttp::test::wire {

struct Judge {
  const Script& script;
  const Observation& seen;
  const double time_scale;
  std::vector<std::string> differences;

  void differ(std::string what) { differences.push_back(std::move(what)); }
  // Values; long ones are shortened in the report.
  void equal(std::string_view what, const Json& wanted, const Json& got);
  // True if `value` has that type; else it is a difference.
  template <class T>
  bool read(std::string_view what, const Json& value, T& target) {
    if (convert(value, target)) return true;
    differ(std::string(what) + ": has the wrong type or range");
    return false;
  }
  // Reports what the reader of an object found wrong: unknown keys above all.
  void check(const Fields& fields);

  // `actual` must not be over the window, which is scaled.
  void within(std::string_view what, Milliseconds window, Milliseconds actual);

  // The client's own id in place of the script's, as the server writes it.
  std::string with_ids(const std::string& text) const;
  // {port} and {other_port} replaced.
  std::string with_ports(std::string text) const;
};

// Bytes as JSON text; those that are no UTF-8 are escaped one by one, so that two values differ as
// their bytes do.
Json to_json(std::string_view bytes);

// One check each; the second argument is the value of the expectation.
using Check = void (*)(Judge&, const Json&);

// What the call returned (judge_answer.cpp).
void check_outcome(Judge&, const Json&);
void check_error(Judge&, const Json&);
void check_error_any(Judge&, const Json&);
void check_status(Judge&, const Json&);
void check_content_type(Judge&, const Json&);
void check_location(Judge&, const Json&);
void check_www_authenticate(Judge&, const Json&);
void check_retry_after(Judge&, const Json&);
void check_retryable(Judge&, const Json&);
void check_cause(Judge&, const Json&);
void check_limit(Judge&, const Json&);
void check_diag(Judge&, const Json&);
void check_result(Judge&, const Json&);
void check_result_text_bytes(Judge&, const Json&);
void check_results_delivered(Judge&, const Json&);
void check_rpc_error(Judge&, const Json&);
void check_rpc_error_data(Judge&, const Json&);
void check_era(Judge&, const Json&);

// What was handed out before, and when (judge_events.cpp).
void check_events(Judge&, const Json&);
void check_events_total(Judge&, const Json&);
void check_ids_in_order(Judge&, const Json&);
void check_messages(Judge&, const Json&);
void check_warnings(Judge&, const Json&);
void check_timing(Judge&, const Json&);
void check_body_read_at_most(Judge&, const Json&);

// What the servers got, and the state afterwards (judge_requests.cpp).
void check_follow_ups(Judge&, const Json&);
void check_requests_total(Judge&, const Json&);
void check_request_headers(Judge&, const Json&);
void check_never_sends(Judge&, const Json&);
void check_other_origin_requests(Judge&, const Json&);
void check_concurrent(Judge&, const Json&);
void check_next_initialize(Judge&, const Json&);
void check_session_after(Judge&, const Json&);
void check_connection(Judge&, const Json&);
void check_stream(Judge&, const Json&);
void check_scope(Judge&, const Json&);

}  // namespace mcphttp::test::wire
