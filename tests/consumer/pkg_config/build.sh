#!/usr/bin/env bash
# build.sh SOURCE PROGRAM: a build without CMake.
set -euo pipefail
read -ra flags <<<"$(pkg-config --cflags --libs mcphttp)"
"${CXX:-c++}" -std=c++20 "$1" -o "$2" "${flags[@]}"
