#!/bin/sh
# Builds glslang, which compiles the shaders for matrix units, and gets SwiftShader, a driver that
# computes on the processor, for check.sh: two files of Debian's package chromium-common, unpacked
# into the user's cache and not installed. Prints nothing if both are there. Without them everything
# else builds and runs, so that is no failure.
#
#   deps.sh          downloads the package (32 MB), if that has not been done yet
#   deps.sh where    prints the path of the driver's description if it is there
set -eu
folder=${XDG_CACHE_HOME:-$HOME/.cache}/taper/swiftshader
description=$folder/vk_swiftshader_icd.json

case "${1:-}" in
  where) [ ! -f "$description" ] || echo "$description"; exit 0 ;;
  "") ;;
  *) echo "deps.sh: unknown argument '$1' (where)" >&2; exit 2 ;;
esac

"$(dirname "$0")/../../scripts/glslang.sh" ||
  echo "deps.sh: the Vulkan backend will be built without matrix units" >&2
[ ! -f "$description" ] || exit 0
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"
if ! { apt-get download chromium-common && dpkg -x chromium-common_*.deb .; } >log 2>&1; then
  reason=$(grep -m1 '^E:' log || tail -n 1 log)
  echo "deps.sh: no SwiftShader for backends/vulkan/check.sh: $reason" >&2
  exit 0
fi
mkdir driver
mv usr/lib/chromium/libvk_swiftshader.so usr/lib/chromium/vk_swiftshader_icd.json driver
rm -rf "$folder"
mv driver "$folder"
