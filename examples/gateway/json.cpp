#include "json.hpp"

#include <set>
#include <vector>

namespace gateway {

std::optional<Json> parse_unambiguous(std::string_view text) {
  using Event = Json::parse_event_t;
  std::vector<std::set<std::string>> names;  // of the objects that are open
  bool twice = false;
  const auto look = [&](int /*depth*/, Event event, Json& value) {
    if (event == Event::object_start) names.emplace_back();
    if (event == Event::object_end) names.pop_back();
    if (event == Event::key && !names.back().insert(value.get<std::string>()).second) twice = true;
    return true;
  };
  Json json = Json::parse(text.begin(), text.end(), look, false);
  if (twice || json.is_discarded()) return std::nullopt;
  return json;
}

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace gateway
