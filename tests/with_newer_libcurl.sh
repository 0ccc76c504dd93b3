#!/usr/bin/env bash
# with_newer_libcurl.sh COMMAND...: runs a command with the libcurl of Debian's bookworm-backports (8.14.1) in place of
# the system's. It has the same soname, so no program need be built anew. The first run fetches the package, which needs
# a network; it is unpacked into a folder of the build (or NEWER_LIBCURL) and nothing is installed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${NEWER_LIBCURL:-$root/build/newer_libcurl}
libraries=$folder/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

# An apt that knows this one suite and keeps its state to itself.
fetch() {  # FOLDER
  local apt=$1/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
  cat > "$apt/sources.list" <<-END
	deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main
	END
  cat > "$apt/apt.conf" <<-END
	Dir::State "$apt";
	Dir::State::status "/var/lib/dpkg/status";
	Dir::Cache "$apt/cache";
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "$apt/parts";
	Dir::Etc::preferencesparts "$apt/parts";
	END
  export APT_CONFIG=$apt/apt.conf
  apt-get -qq update
  (cd "$1" && apt-get -qq download libcurl4)
  dpkg -x "$1"/libcurl4_*.deb "$1"
  rm -r "$apt"
}

if [ ! -e "$libraries/libcurl.so.4" ]; then
  rm -rf "$folder.part"
  mkdir -p "$folder.part"
  fetch "$folder.part" >&2
  rm -rf "$folder"
  mv "$folder.part" "$folder"
fi
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec "$@"
