#!/usr/bin/env bash
# Fails if a source file is not formatted, or if a rule of the house (docs/design.md) that grep can see is broken.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

status=0
check() {  # RULE COMMAND...: the command prints what breaks the rule
  local found
  found=$("${@:2}")
  [ -z "$found" ] || { printf '%s:\n%s\n' "$1" "$found"; status=1; }
}
files() { git ls-files --cached --others --exclude-standard "$@"; }

# The formatter's output changes from version to version.
formatter=$(command -v clang-format-14 || command -v clang-format)
"$formatter" --version | grep -q 'version 14\.' || echo "warning: not clang-format 14" >&2
unformatted() {
  local file
  for file in $(files '*.cpp' '*.hpp'); do
    "$formatter" "$file" | cmp -s - "$file" || echo "$file"
  done
}
includers() {  # LIBRARY FOLDER EXCEPTION: files that include a header of the library
  grep -rlE "#include *[<\"]$1" "$2" --include='*.[ch]pp' | grep -vE "$3" || true
}
unfinished() { grep -rnE '\b(TODO|FIXME|XXX)\b' include src examples tests --include='*.[ch]pp' || true; }
long() {
  local file
  for file in $(files 'include/*.hpp' 'src/*.[ch]pp'); do
    awk 'NF && $1 !~ /^\/\// { ++code } END { if (code > 400) print FILENAME ": " code }' "$file"
  done
}

check "not formatted (clang-format -i mends it)" unformatted
check "public headers include no header of curl, simdjson or fmt" \
  includers '(curl|simdjson|fmt)' include '^$'
check "curl is known in three rooms" includers curl src '^src/(transfer|handle_pool|event_loop|url)\.[ch]pp$'
check "simdjson is known in one file" includers simdjson src '^src/json_check\.cpp$'
check "no work is left in comments" unfinished
check "files have at most 400 lines of code" long

[ $status -ne 0 ] || echo "style: in order"
exit $status
