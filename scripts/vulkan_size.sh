#!/bin/sh
# Prints what the Vulkan backend adds to a program that is trimmed for MobileNetV2, and fails if it
# is more than it may be (scripts/selected.sh builds the program).
#
#   scripts/vulkan_size.sh BUILD TARGET
set -eu
build=${1:?usage: vulkan_size.sh BUILD TARGET}
target=${2:?usage: vulkan_size.sh BUILD TARGET}
failed=""

# shaders FILE: the bytes of those in it.
shaders() {
  nm -S -t d -C "$1" 2>/dev/null | awk '/ [rR] .*::kPacked/ { total += $2 } END { print total + 0 }'
}

# check NAME BYTES LIMIT
check() {
  printf '%-32s %7d bytes, limit %d\n' "$1" "$2" "$3"
  [ "$2" -gt 0 ] && [ "$2" -le "$3" ] || failed="$failed $1;"
}

cmake --build "$build" --target "${target}_sizes" >"$build/vulkan_size.txt"
linked=$(shaders "$build/bin/$target")
backend=$(awk '$2 == "backends" { print $1 }' "$build/vulkan_size.txt")
check "shaders, all" "$(shaders "$build/libtaper_vulkan_shaders.a")" 614400
check "shaders, MobileNetV2" "$linked" 65536
check "delegate without shaders" "$((backend - linked))" 358400
[ -z "$failed" ] || { echo "vulkan_size.sh: over the limit:$failed" >&2; exit 1; }
