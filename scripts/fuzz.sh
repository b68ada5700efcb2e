#!/bin/sh
# Mutates .pte and .pt2 files and runs them through the runtime and the compiler, under sanitizers.
#
#   scripts/fuzz.sh build/asan 200000 50000      runs that many mutants of .pte and of .pt2
#
# As many mutants as of .pte are read of the files of ExecuTorch's tools (.bpte, .etdp).
# If the build has Vulkan, ten times as many damaged payloads of it are planned, without a GPU, for the
# limits of many devices; and a two-hundredth as many run on lavapipe, which compiles their shaders.
#
# Mutant N is the same file in every run of one commit, so a run can be repeated; a failure prints
# the number of its mutant.
set -eu
build=${1:?usage: fuzz.sh BUILD [PTE_RUNS [PT2_RUNS]]}
pte=${2:-200000}
pt2=${3:-$((pte / 4))}
cd "$(dirname "$0")/.."

vulkan=""
[ -e "$build/libtaper_vulkan_shaders.a" ] && vulkan=backends_vulkan_planner_test
cmake --build "$build" --target taper_fuzz taper $vulkan >/dev/null
"$build"/bin/taper_fuzz --kind pte --runs "$pte"
"$build"/bin/taper_fuzz --kind pt2 --runs "$pt2"
"$build"/bin/taper_fuzz --kind bpte --runs "$pte"
"$build"/bin/taper_fuzz --kind etdp --runs "$pte"

[ -n "$vulkan" ] || exit 0
TAPER_ROUNDS=$((pte * 10)) "$build/bin/$vulkan" --gtest_filter='DamagedPayloads.*' | grep damaged
if ls /usr/share/vulkan/icd.d/lvp_icd*.json >/dev/null 2>&1; then
  seeds=""
  for name in encoder sizes image positions; do
    seeds="$seeds --seed test/compat/data/vulkan_$name.pte"
  done
  TAPER_VULKAN_DEVICE=llvmpipe "$build"/bin/taper_fuzz --kind pte --runs $((pte / 200)) $seeds
fi
