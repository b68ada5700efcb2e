#!/bin/sh
# Configures a preset and builds the given targets, or all of them. On a terminal it shows progress;
# elsewhere it prints only failures.
#
#   scripts/build.sh PRESET [TARGET...]     JOBS=4 runs four jobs at a time
set -eu
[ $# -ge 1 ] || { echo "usage: build.sh PRESET [TARGET...]" >&2; exit 2; }
preset=$1
shift
cd "$(dirname "$0")/.."

# Presets with sanitizers use a library of a backend that has them, too.
case "$preset" in
  asan | fuzz) scripts/xnnpack.sh asan ;;
  tsan) scripts/xnnpack.sh tsan ;;
esac

build() {
  cmake --build --preset "$preset" -j "${JOBS:-$(nproc 2>/dev/null || echo 2)}" ${*:+--target "$@"}
}
if [ -t 1 ]; then
  echo "configuring $preset"
  cmake --preset "$preset" >/dev/null
  build "$@"
else
  cmake --preset "$preset" >/dev/null
  said=$(build "$@" 2>&1) || { echo "$said" | grep -v '^\[[0-9]*/[0-9]*\]' >&2; exit 1; }
fi
