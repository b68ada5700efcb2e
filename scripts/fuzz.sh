#!/bin/sh
# Mutates .pte and .pt2 files and runs them through the runtime and the compiler, under sanitizers.
#
#   scripts/fuzz.sh build/asan 200000             that many .pte mutants, a quarter of it .pt2
#   scripts/fuzz.sh --seconds 90 build/asan       as many as fit, split evenly
#
# Seeds are fixed: a failing run prints the number that repeats it.
set -eu
seconds=0
if [ "${1:-}" = --seconds ]; then
  seconds=$2
  shift 2
fi
build=${1:?usage: fuzz.sh [--seconds N] BUILD [RUNS]}
runs=${2:-200000}
cd "$(dirname "$0")/.."

cmake --build "$build" --target taper_fuzz taper >/dev/null
if [ "$seconds" -gt 0 ]; then
  "$build"/bin/taper_fuzz --kind pte --runs 0 --seconds $((seconds / 2))
  "$build"/bin/taper_fuzz --kind pt2 --runs 0 --seconds $((seconds / 2))
else
  "$build"/bin/taper_fuzz --kind pte --runs "$runs"
  "$build"/bin/taper_fuzz --kind pt2 --runs $((runs / 4))
fi
