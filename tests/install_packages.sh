#!/usr/bin/env bash
# install_packages.sh demo|tests|checks|benchmarks: installs the Debian 12 packages that this purpose needs, as root or with
# sudo. Does nothing, and needs no rights, where everything is there. The one list of packages.
set -euo pipefail

demo=(
  ca-certificates g++ cmake ninja-build pkg-config ccache
  libcurl4-openssl-dev libsimdjson-dev libfmt-dev libexpected-dev libcpp-httplib-dev nlohmann-json3-dev
)
tests=("${demo[@]}" git catch2 nodejs npm nginx-light openssl tinyproxy-bin)
checks=("${tests[@]}" clang clang-tidy clang-format)
benchmarks=("${tests[@]}" libbenchmark-dev python3 valgrind)

case ${1-} in
  demo) packages=("${demo[@]}") ;;
  tests) packages=("${tests[@]}") ;;
  checks) packages=("${checks[@]}") ;;
  benchmarks) packages=("${benchmarks[@]}") ;;
  *) echo "usage: $0 demo|tests|checks|benchmarks" >&2; exit 2 ;;
esac

# A command of the package's name will do: Node may come from elsewhere, and Debian's npm cannot stand beside such a one.
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
    command -v "$package" >/dev/null || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -qq install -y --no-install-recommends "${missing[@]}"
