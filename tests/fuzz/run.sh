#!/usr/bin/env bash
# Fuzzes each target for a time: run.sh [SECONDS [FOLDER]]
# SECONDS for each (default 60). FOLDER: where built targets are; without one, the preset fuzz is configured and built first.
# Prints what each target executed and found, and ends with 1 if any found something. What a target learns is kept for the next
# run, in corpus/ beside the programs, and what it finds in findings/. JOBS=N runs N targets at a time.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."

seconds=${1:-60}
if [ $# -gt 1 ]; then
  folder=$(cd "$2" && pwd)
else
  cmake --preset fuzz
  cmake --build --preset fuzz_targets --parallel "$(nproc)"
  folder=$PWD/build/fuzz/tests/fuzz
fi
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1

fuzz() {  # TARGET: one line about it
  local corpus=$folder/corpus/$1 findings=$folder/findings/$1 log=$folder/$1.log failed=0
  mkdir -p "$corpus" "$findings"
  "$folder/$1_fuzz" -max_total_time="$seconds" -print_final_stats=1 -timeout=25 \
    -artifact_prefix="$findings/" "$corpus" "$here/corpus/$1" > "$log" 2>&1 || failed=1
  printf '%-16s %12s executions  %s\n' "$1" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$([ $failed = 0 ] && echo 'nothing found' || echo "FAILED, see $log and $findings")"
  return $failed
}

status=0
for target in "$folder"/*_fuzz; do
  while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do
    wait -n || status=1
  done
  fuzz "$(basename "$target" _fuzz)" &
done
while [ -n "$(jobs -p)" ]; do
  wait -n || status=1
done
exit $status
