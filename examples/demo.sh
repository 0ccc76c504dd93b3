#!/usr/bin/env bash
# demo.sh [URL]: builds the agent example and runs it against the MCP server at URL, or against the demo server, started here on
# a free port of the loopback interface. Installs the Debian packages it needs (root or sudo). Exits with the agent's status.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/demo
tests/install_packages.sh demo
cmake --preset release -B "$build" -DMCPHTTP_BUILD_TESTS=OFF -DMCPHTTP_WERROR=OFF
cmake --build "$build" --parallel "$(nproc)" --target demo_server agent

if [ $# -gt 0 ]; then
  exec "$build/examples/agent" "$1"
fi

coproc DEMO_SERVER { exec "$build/examples/demo_server"; }
server=$DEMO_SERVER_PID
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
read -r -t 10 line <&"${DEMO_SERVER[0]}" || { echo "the demo server did not start" >&2; exit 1; }
"$build/examples/agent" "${line#listening on }"
