#include "retry_after.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "field_scanner.hpp"
#include "http_fields.hpp"

namespace mcphttp::http {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::sys_time<milliseconds>;

// Reads one HTTP-date. A part that is not as expected makes the whole invalid, and what is read
// after it does not matter.
class DateReader {
 public:
  DateReader(std::string_view text, Time now) : rest_(text), now_(now) {}

  std::optional<Time> read() {
    const std::size_t comma = rest_.find(',');
    const bool ok = comma == std::string_view::npos ? read_asctime() : read_after_day_name(comma);
    if (!ok || !rest_.empty() || !date_.ok()) return std::nullopt;
    return std::chrono::sys_days(date_) + time_of_day_;
  }

 private:
  // asctime-date: "Sun Nov  6 08:49:37 1994".
  bool read_asctime() {
    constexpr std::size_t day_name_size = 3;
    rest_.remove_prefix(std::min(day_name_size, rest_.size()));
    int day = 0;
    int year = 0;
    if (!literal(" ") || !month() || !literal(" ")) return false;
    const std::size_t day_digits = literal(" ") ? 1 : 2;
    if (!number(day_digits, day) || !literal(" ") || !time() || !literal(" ")) return false;
    if (!number(4, year)) return false;
    set(year, day);
    return true;
  }

  // IMF-fixdate: "Sun, 06 Nov 1994 08:49:37 GMT"; rfc850-date: "Sunday, 06-Nov-94 08:49:37 GMT".
  bool read_after_day_name(std::size_t comma) {
    rest_.remove_prefix(comma + 1);
    int day = 0;
    int year = 0;
    if (!literal(" ") || !number(2, day)) return false;
    const bool is_rfc850 = literal("-");
    const std::string_view separator = is_rfc850 ? "-" : " ";
    if (!is_rfc850 && !literal(separator)) return false;
    if (!month() || !literal(separator) || !number(is_rfc850 ? 2 : 4, year)) return false;
    if (!literal(" ") || !time() || !literal(" GMT")) return false;
    set(is_rfc850 ? full_year(year) : year, day);
    return true;
  }

  // A two-digit year is the latest that is not more than 50 years ahead (RFC 9110 5.6.7).
  int full_year(int two_digits) const {
    const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(now_));
    const int latest = static_cast<int>(today.year()) + 50;
    const int year = latest - latest % 100 + two_digits;
    return year > latest ? year - 100 : year;
  }

  bool time() {
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    if (!number(2, hours) || !literal(":") || !number(2, minutes) || !literal(":") ||
        !number(2, seconds)) {
      return false;
    }
    time_of_day_ =
        std::chrono::hours(hours) + std::chrono::minutes(minutes) + std::chrono::seconds(seconds);
    return hours < 24 && minutes < 60 && seconds <= 60;  // 60: a leap second
  }

  bool month() {
    constexpr std::array<std::string_view, 12> names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto* const found = std::find(names.begin(), names.end(), rest_.substr(0, 3));
    if (found == names.end()) return false;
    month_ = std::chrono::month(static_cast<unsigned>(found - names.begin()) + 1);
    return literal(*found);
  }

  bool literal(std::string_view text) {
    if (rest_.substr(0, text.size()) != text) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  bool number(std::size_t digits, int& value) {
    const auto parsed = parse_digits(rest_.substr(0, digits));
    if (!parsed || rest_.size() < digits) return false;
    value = static_cast<int>(*parsed);
    rest_.remove_prefix(digits);
    return true;
  }

  void set(int year, int day) {
    date_ = std::chrono::year(year) / month_ / std::chrono::day(static_cast<unsigned>(day));
  }

  std::string_view rest_;
  Time now_;
  std::chrono::month month_{};
  std::chrono::year_month_day date_{};
  std::chrono::seconds time_of_day_{};
};

}  // namespace

std::optional<milliseconds> parse_retry_after(std::string_view value,
                                              std::chrono::system_clock::time_point now) {
  value = trim_ows(value);
  if (const auto seconds = parse_digits(value)) {
    constexpr auto max = static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::seconds>(max_retry_after).count());
    return std::chrono::seconds(std::min(*seconds, max));
  }
  const Time from = std::chrono::floor<milliseconds>(now);
  const std::optional<Time> date = DateReader(value, from).read();
  if (!date) return std::nullopt;
  return std::clamp(*date - from, milliseconds::zero(), max_retry_after);
}

}  // namespace mcphttp::http
