#!/bin/sh
# Tests everything on 64-bit ARM under qemu-user, as three processors: Cortex-A53, Cortex-A76 (dot
# products, float16), and one with matrix products of bytes and bfloat16.
#
#   scripts/arm64.sh build/release
#
# Each runs the tests of the fast kernels and of the backends, and a part of what depends less on the
# processor: a third of the committed models on the kernels and on the backends and of the files that
# ExecuTorch lowered, and a sixth of the conformance suite (TAPER_ARM64_ALL=1 runs all on each).
# Packed weights move from one processor to the next, which has to refuse them. A trimmed binary runs
# all models; libtaper.so must have the page size of phones.
set -eu
cd "$(dirname "$0")/.."
taper=$(pwd)/${1:?usage: arm64.sh BUILD}/bin/taper
build=$(pwd)/build/arm64-tests
out=$build/run
mkdir -p "$out/models"
rm -f "$out"/models/* "$out"/*.log "$out"/*.failed

fail() {
  echo "arm64.sh: $1" >&2
  exit 1
}

scripts/xnnpack.sh aarch64
TAPER_ARM_ROOT=$(scripts/arm_libraries.sh arm64)
export TAPER_ARM_ROOT
names=""
list=""
for model in test/models/data/*.pt2; do
  name=$(basename "$model" .pt2)
  "$taper" export "$model" -o "$out/models/$name.pte" >/dev/null
  names="$names $name"
  list="$list${list:+|}$out/models/$name.pte"
done
cmake --preset arm64-tests -DTAPER_COMMAND="$taper" "-DTAPER_SELECTED_MODELS=$list" >/dev/null
tests="kernels_optimized_test test_e2e_test test_backends_test"
for folder in backends/*/runtime; do
  test=$(echo "$folder" | tr / _)_test
  if ninja -C "$build" -t query "$test" >/dev/null 2>&1; then tests="$tests $test"; fi
done
cmake --build "$build" --target $tests taper selected_0 taper_shared >"$out/build.log" || {
  tail -20 "$out/build.log" >&2
  exit 1
}

# root CPU PART FEATURES: where qemu finds libraries as that processor. Programs read in /proc/cpuinfo
# which core they run on; qemu would show them the host's.
root() {
  mkdir -p "$build/$1/proc"
  ln -sfn /usr/aarch64-linux-gnu/lib "$build/$1/lib"
  printf 'processor\t: 0\nFeatures\t: %s\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: %s\nCPU revision\t: 4\n\n' \
    "$3" "$2" >"$build/$1/proc/cpuinfo"
}
old="fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"
new="$old atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp"
root cortex-a53 0xd03 "$old"
root cortex-a76 0xd0b "$new"
root max 0xd0b "$new jscvt fcma asimdfhm ilrcpc flagm i8mm bf16"
as() {
  cpu=$1
  shift
  qemu-aarch64 -L "$build/$cpu" -cpu "$cpu" "$@"
}

# run CPU TEST: runs a test program. A failure leaves a file.
run() (
  if [ -n "${GTEST_OUTPUT:-}" ]; then export GTEST_OUTPUT="$GTEST_OUTPUT$2.$1.xml"; fi
  # What does not depend on the processor has been tested on the host.
  case "$2" in
    test_e2e_test) filter='-*SameTwice*:*InTwoMemories*:*StateIsReset*:*OtherVersions*:*Selected*' ;;
    test_backends_test) filter='-*understudy*' ;;  # That computes with the kernels.
    *) filter='*' ;;
  esac
  # Short vectors are the same on all, and so is where an application's buffers are.
  case "$1.$2.${TAPER_ARM64_ALL:-}" in
    cortex-a76.kernels_optimized_test.) filter='-Sorts.*:Parallel.*' ;;
    *.test_e2e_test.) filter="$filter:*InTheApplicationsBuffers*" ;;
  esac
  case "$2.${TAPER_ARM64_ALL:-}" in
    test_e2e_test.) parts=3 ;;
    test_backends_test.) parts=6 ;;
    *) parts=1 ;;
  esac
  if [ "$parts" -gt 1 ]; then
    case "$1" in cortex-a53) part=0 ;; cortex-a76) part=1 ;; *) part=2 ;; esac
    export GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$part
  fi
  log=$out/$1.$2.log
  as "$1" "$build/bin/$2" --gtest_brief=1 "--gtest_filter=$filter" >"$log" 2>&1 || {
    { echo "arm64.sh: $2 fails as $1:"; grep -v Skipped "$log" | tail -30; } >&2
    touch "$out/$1.$2.failed"
  }
)

# Two at a time; each half of the last processor's follows one of the others.
(for test in $tests; do run cortex-a53 "$test"; done; run max test_backends_test) &
for test in $tests; do run cortex-a76 "$test"; done
for test in $tests; do [ "$test" = test_backends_test ] || run max "$test"; done
wait
[ -z "$(find "$out" -name '*.failed')" ] || exit 1

# Weights packed as one processor are refused and packed anew as the next; the numbers stay the same.
for model in resnet18 int8_convnet; do
  file=$out/packed.pte
  rm -f "$out"/packed.*
  "$taper" export "test/models/data/$model.pt2" -o "$file" --backend xnnpack >/dev/null
  for cpu in cortex-a53 max cortex-a76; do
    as "$cpu" "$build/bin/taper" run "$file" -t 1 --cache >"$out/first.txt" 2>"$out/first.err"
    as "$cpu" "$build/bin/taper" run "$file" -t 1 >"$out/again.txt" 2>"$out/again.err"
    cmp -s "$out/first.txt" "$out/again.txt" || fail "$model: packed weights differ as $cpu"
    ! grep -q "is not used" "$out/again.err" || fail "$model: as $cpu $(cat "$out/again.err")"
    [ "$cpu" = cortex-a53 ] || grep -q "is not used" "$out/first.err" ||
      fail "$model: weights packed as another processor were used as $cpu"
  done
done

as cortex-a53 "$build/bin/selected_0" "$out/models" $names
aarch64-linux-gnu-readelf -lW "$build/libtaper.so" | awk '
  $1 == "LOAD" { ++seen; if ($NF != "0x4000") wrong = 1 }
  END { if (!seen || wrong) { print "arm64.sh: libtaper.so is not aligned to 16 KB pages"; exit 1 } }'
echo "arm64: tests pass as three processors; libtaper.so is aligned to 16 KB pages"
