#include "challenges.hpp"

#include <optional>

#include "field_scanner.hpp"
#include "http_fields.hpp"

namespace mcphttp::http {
namespace {

bool is_token68_char(char c) {
  constexpr std::string_view marks = "-._~+/";
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         marks.find(c) != std::string_view::npos;
}

bool is_padding(char c) { return c == '='; }

bool is_unquoted_char(char c) { return !is_ows(c) && c != ',' && c != '"'; }

class ChallengeParser {
 public:
  explicit ChallengeParser(std::string_view value) : scanner_(value) {}

  std::vector<Challenge> parse() {
    for (bool begins_element = skip_separators(true); !scanner_.at_end();
         begins_element = skip_separators(false)) {
      const std::string_view name = scanner_.token();
      scanner_.skip_ows();
      if (!name.empty() && scanner_.consume('=')) {
        read_parameter(name);
      } else if (name.empty() || !begins_element) {
        scanner_.skip_to(',');
      } else if (!begin_challenge(name)) {
        break;
      }
    }
    return std::move(challenges_);
  }

 private:
  // True if an element of the list begins here: at the start, and after a comma.
  bool skip_separators(bool at_start) {
    bool begins_element = at_start;
    scanner_.skip_ows();
    while (scanner_.consume(',')) {
      begins_element = true;
      scanner_.skip_ows();
    }
    return begins_element;
  }

  // False if there is no room for another challenge.
  bool begin_challenge(std::string_view scheme) {
    if (challenges_.size() == max_challenges) return false;
    challenges_.push_back({to_lower(scheme), std::string(read_token68()), {}});
    return true;
  }

  // The token68 that is all the rest of this element; otherwise empty, and nothing is consumed.
  std::string_view read_token68() {
    const FieldScanner before = scanner_;
    const std::string_view start = scanner_.rest();
    const std::size_t size =
        scanner_.take_while(is_token68_char).size() + scanner_.take_while(is_padding).size();
    scanner_.skip_ows();
    if (is_token68_char(start.empty() ? ',' : start.front()) &&
        (scanner_.at_end() || scanner_.sees(','))) {
      return start.substr(0, size);
    }
    scanner_ = before;
    return {};
  }

  void read_parameter(std::string_view name) {
    scanner_.skip_ows();
    std::optional<std::string> value = scanner_.quoted_string();
    if (!value) {
      const std::string_view unquoted = scanner_.take_while(is_unquoted_char);
      if (!unquoted.empty()) value = std::string(unquoted);
    }
    if (value && !challenges_.empty() && parameters_ < max_challenge_parameters) {
      challenges_.back().parameters.emplace_back(to_lower(name), std::move(*value));
      ++parameters_;
    }
    // What touches the value is no part of the grammar; taken for a scheme it would claim the
    // parameters that follow.
    const bool ends = scanner_.at_end() || scanner_.sees(',') || is_ows(scanner_.rest().front());
    if (!ends) scanner_.skip_to(',');
  }

  FieldScanner scanner_;
  std::vector<Challenge> challenges_;
  std::size_t parameters_ = 0;
};

}  // namespace

std::vector<Challenge> parse_challenges(std::string_view value) {
  return ChallengeParser(value).parse();
}

}  // namespace mcphttp::http
