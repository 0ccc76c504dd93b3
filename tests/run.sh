#!/usr/bin/env bash
# Installs what the tests need, builds, and runs everything: run.sh [--preset NAME] [ctest argument...]
# Presets: release (default), dev, clang, asan, tsan, fuzz. Examples of ctest arguments: -L unit, -R sse.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=release
if [ "${1-}" = --preset ]; then
  preset=$2
  shift 2
fi

purpose=tests
case $preset in clang | fuzz) purpose=checks ;; esac
tests/install_packages.sh "$purpose"

jobs=$(nproc)
cmake --preset "$preset"
cmake --build --preset "$preset" --parallel "$jobs"
ctest --preset "$preset" --parallel "$jobs" "$@"
