#!/bin/sh
# Mutates .pte and .pt2 files, and what belongs to them, and runs them through the runtime and the compiler, under sanitizers.
#
#   scripts/fuzz.sh build/asan 200000 50000      runs that many mutants of .pte and of .pt2
#   scripts/fuzz.sh --first 200000 build/asan    runs those from this number on, instead of from 0 on
#   scripts/fuzz.sh --log build/asan 200000      adds a line for each part to test/fuzz/campaigns.txt:
#                                                commit, build, mutants, result; the tree must be as
#                                                it was committed
#   scripts/fuzz.sh --only npy build/asan 20000  runs mutants of that kind alone
#
# As many mutants as of .pte are read of the files of ExecuTorch's tools (.bpte, .etdp), and a tenth as
# many of external weights (.ptd) and of packed weights are run with the programs that they belong to,
# and of arrays (.npy, .npz) and of signed files with their keys are read. A tenth as many as of .pt2 are
# quantised.
# If the build has Vulkan, ten times as many damaged payloads of it are planned, without a GPU, for the
# limits of many devices; and a two-hundredth as many run on lavapipe, which compiles their shaders. Where
# either is missing, that is said, and is an error with CI=true.
#
# Mutant N is the same file in every run of one commit, so a run can be repeated; a failure prints
# the number of its mutant.
set -eu
log=""
only=""
first=0
while :; do
  case "${1:-}" in
    --log) log=yes && shift ;;
    --first) first=$2 && shift 2 ;;
    --only) only=$2 && shift 2 ;;
    *) break ;;
  esac
done
build=${1:?usage: fuzz.sh [--log] [--first N] [--only KIND] BUILD [PTE_RUNS [PT2_RUNS]]}
pte=${2:-200000}
pt2=${3:-$((pte / 4))}
cd "$(dirname "$0")/.."
campaigns=test/fuzz/campaigns.txt
[ -z "$log" ] || scripts/committed.sh fuzz.sh "$campaigns"

vulkan=""
[ -n "$only" ] || [ ! -e "$build/libtaper_vulkan_shaders.a" ] || vulkan=backends_vulkan_planner_test
cmake --build "$build" --target taper_fuzz $vulkan >/dev/null

# note PART FIRST RUNS RESULT: a line of the log.
note() {
  [ -n "$log" ] || return 0
  sanitizers=$(sed -n 's/^TAPER_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
  printf '%s %s %s %s..%s %s\n' "$(git rev-parse --short=10 HEAD)" \
    "$(basename "$build"):${sanitizers:-none}" "$1" "$2" $(($2 + $3 - 1)) "$4" >>"$campaigns"
}

# fuzz PART RUNS ARGUMENTS...: runs taper_fuzz, and notes what it says.
fuzz() {
  part=$1
  runs=$2
  shift 2
  if said=$("$build"/bin/taper_fuzz "$@" --first "$first" --runs "$runs"); then
    echo "$said"
    note "$part" "$first" "$runs" "$(echo "$said" | sed 's/.* seeds, //')"
  else
    note "$part" "$first" "$runs" "stopped by a finding"
    exit 1
  fi
}

if [ -n "$only" ]; then
  fuzz "$only" "$pte" --kind "$only"
  exit
fi
fuzz pte "$pte" --kind pte
fuzz pt2 "$pt2" --kind pt2
fuzz ptd $((pte / 10)) --kind ptd
fuzz packed $((pte / 10)) --kind packed
fuzz quantize $((pt2 / 10)) --kind quantize
for kind in npy npz signed; do fuzz "$kind" $((pte / 10)) --kind "$kind"; done
fuzz bpte "$pte" --kind bpte
fuzz etdp "$pte" --kind etdp

# without WHAT: says that the rest cannot run.
without() {
  echo "fuzz.sh: not run, because there is no $1" >&2
  [ "${CI:-}" != true ] || exit 1
  exit 0
}

[ -n "$vulkan" ] || without "Vulkan in $build: damaged payloads of it"
rounds=$((pte * 10))
if said=$(TAPER_ROUNDS=$rounds "$build/bin/$vulkan" --gtest_filter='DamagedPayloads.*'); then
  result=$(echo "$said" | grep damaged)
  echo "$result"
  note vulkan_plans 0 "$rounds" "${result#*: }, nothing reported"
else
  echo "$said"
  note vulkan_plans 0 "$rounds" "stopped by a finding"
  exit 1
fi
ls /usr/share/vulkan/icd.d/lvp_icd*.json >/dev/null 2>&1 || without "lavapipe: programs for it"
seeds=""
for name in encoder sizes image positions; do
  seeds="$seeds --seed test/compat/data/vulkan_$name.pte"
done
export TAPER_VULKAN_DEVICE=llvmpipe
fuzz pte_on_lavapipe $((pte / 200)) --kind pte $seeds
