#!/usr/bin/env bash
# check_seen.sh FOLDER: fails if a code or warning of include/mcphttp/error.hpp has been met by no test. FOLDER holds what the
# test programs wrote down (support/seen.hpp); run the whole suite first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Need not be met, and why.
exceptions=(
  "error internal"             # means a bug, and no bug is known
  "error queue_full"           # of HTTP/2 alone: http2_test meets it with libcurl 8.14 or newer
  "warning http2_unavailable"  # http2_test meets it with an older libcurl
)

enumerators() {  # WORD ENUM
  sed -n "/^enum class $2\\b/,/^};/s/^  \\([a-z0-9_]*\\) *[=,].*/$1 \\1/p" include/mcphttp/error.hpp
}
all=$(enumerators error ErrorCode; enumerators warning WarningKind)
[ "$(wc -l <<< "$all")" -gt 40 ] || { echo "error.hpp cannot be read"; exit 2; }
[ -n "$(ls "$1" 2> /dev/null)" ] || { echo "$1 is empty: run the whole suite"; exit 2; }
seen=$(sort -u "$1"/*)

status=0
while read -r name; do
  printf '%s\n' "${exceptions[@]}" | grep -qxF "$name" && continue
  grep -qxF "$name" <<< "$seen" || { echo "met by no test: $name"; status=1; }
done <<< "$all"
[ $status -ne 0 ] || echo "$(wc -l <<< "$all") codes and warnings, all met but those excepted"
exit $status
