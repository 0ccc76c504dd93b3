#!/usr/bin/env bash
# One step of the consumer tests: run.sh install|find_package|pkg_config|add_subdirectory static|shared
# `install` puts the library under $WORK/KIND/prefix, the others build a program against it and run it. Compiler: $CXX.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
step=$1
kind=$2
prefix=$WORK/$kind/prefix
build=$WORK/$kind/$step
[ "$kind" = shared ] && shared=ON || shared=OFF
mkdir -p "$build"

configure() {  # SOURCE ARGUMENT...
  cmake -G Ninja -S "$1" -B "$build" -DCMAKE_BUILD_TYPE=Release "${@:2}"
  cmake --build "$build"
}

case $step in
  install)
    rm -rf "$prefix"
    configure "$here/../.." -DBUILD_SHARED_LIBS=$shared -DCMAKE_INSTALL_PREFIX="$prefix" \
      -DMCPHTTP_BUILD_TESTS=OFF -DMCPHTTP_BUILD_EXAMPLES=OFF
    cmake --install "$build"
    exit
    ;;
  find_package)
    configure "$here/find_package" -DCMAKE_PREFIX_PATH="$prefix"
    ;;
  add_subdirectory)
    configure "$here/add_subdirectory" -DBUILD_SHARED_LIBS=$shared
    ;;
  pkg_config)
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name mcphttp.pc)") \
      "$here/pkg_config/build.sh" "$here/main.cpp" "$build/consumer"
    ;;
esac
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name 'libmcphttp.*' 2>/dev/null | head -n 1)") \
  "$build/consumer"
