#!/bin/bash
# Measures how long a first build takes: builds in a fresh folder with empty caches and without
# ccache, and prints a table. Wall time depends on the load of the machine; CPU time hardly does.
#
#   scripts/cold_build.sh          make demo, then what else make test compiles
#   scripts/cold_build.sh demo     make demo alone
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
  "" | demo) ;;
  *) echo "cold_build.sh: unknown argument '$1' (demo)" >&2; exit 2 ;;
esac
scripts/deps.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 XDG_CACHE_HOME=$work/cache JOBS=${JOBS:-$(nproc)}
TIMEFORMAT='%R %U %S'

# measure NAME COMMAND...: runs the command and prints a row with its times in minutes.
measure() {
  name=$1
  shift
  { time "$@" >"$work/log" 2>&1; } 2>"$work/time" || { cat "$work/log" >&2; exit 1; }
  awk -v name="$name" '{ printf "| %s | %.1f | %.1f |\n", name, ($2 + $3) / 60, $1 / 60 }' "$work/time"
}
configure_and_build() {
  cmake --preset release -B "$work/build" && cmake --build "$work/build" -j "$JOBS" --target "$1"
}

features=$(grep -m 1 '^flags' /proc/cpuinfo | tr ' ' '\n' | grep -xE 'avx2|avx512f|avx512_vnni|amx_int8' | tr '\n' ' ' || true)
echo "$JOBS at a time on $(nproc) cores ($(uname -m) ${features% }), $(c++ --version | head -n 1)"
echo "| cold, without ccache | CPU minutes | minutes |"
echo "|---|---|---|"
measure '`make demo`' configure_and_build taper_demo
[ "${1:-}" != demo ] || exit 0
measure 'XNNPACK, once for all checkouts' scripts/xnnpack.sh
measure 'the rest of `make build`, with every test' configure_and_build all
