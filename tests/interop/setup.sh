#!/usr/bin/env bash
# setup.sh DIR: installs the locked npm packages into DIR/node_modules, from whatever registry npm is set up for, and puts the
# servers of our own beside them, where Node finds the packages. Installs nothing if DIR already holds them.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$1
mkdir -p "$dir"
cd "$dir"
cp "$here/bed-v2.mjs" "$here/bind-loopback.cjs" "$here/ts-client.mjs" .
if [ -e installed ] && cmp -s "$here/package-lock.json" installed; then
  exit 0
fi
cp "$here/package.json" "$here/package-lock.json" .
npm ci --ignore-scripts --no-audit --no-fund
cp package-lock.json installed
