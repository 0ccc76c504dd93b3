#!/usr/bin/env bash
# Builds, measures and compares: run.sh [--short] [--instructions]. What it prints is explained in docs/benchmarks.md.
# MCPHTTP_BENCHMARK_PACKAGES may name a folder that holds the packages of package.json already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests/install_packages.sh benchmarks

build=build/benchmarks
parts=(-DMCPHTTP_BUILD_TESTS=OFF -DMCPHTTP_BUILD_EXAMPLES=OFF)
cmake --preset release -B $build "${parts[@]}" -DMCPHTTP_BUILD_BENCHMARKS=ON
cmake --build $build --parallel "$(nproc)"
cmake --preset release -B $build/shared "${parts[@]}" -DBUILD_SHARED_LIBS=ON
cmake --build $build/shared --parallel "$(nproc)" --target mcphttp

packages=${MCPHTTP_BENCHMARK_PACKAGES:-$build/packages}
if [ -z "${MCPHTTP_BENCHMARK_PACKAGES-}" ] && ! cmp -s benchmarks/package-lock.json $packages/installed; then
  mkdir -p $packages
  cp benchmarks/package.json benchmarks/package-lock.json $packages
  (cd $packages && npm ci --ignore-scripts --no-audit --no-fund && cp package-lock.json installed) ||
    echo "warning: no npm packages, so no rivals" >&2
fi

exec python3 benchmarks/run.py $build "$packages" "$@"
