#!/bin/sh
# Mutates .pte and .pt2 files and runs them through the runtime and the compiler, under sanitizers.
#
#   scripts/fuzz.sh build/asan 200000 50000      runs that many mutants of .pte and of .pt2
#
# Mutant N is the same file in every run of one commit, so a run can be repeated; a failure prints
# the number of its mutant.
set -eu
build=${1:?usage: fuzz.sh BUILD [PTE_RUNS [PT2_RUNS]]}
pte=${2:-200000}
pt2=${3:-$((pte / 4))}
cd "$(dirname "$0")/.."

cmake --build "$build" --target taper_fuzz taper >/dev/null
"$build"/bin/taper_fuzz --kind pte --runs "$pte"
"$build"/bin/taper_fuzz --kind pt2 --runs "$pt2"
