#!/bin/sh
# Tests what a 32-bit ARM processor runs under qemu-user, as a Cortex-A7 has it: the runtime, the
# portable kernels, the XNNPACK delegate, every committed model, and networks in the delegate.
#
#   scripts/armv7.sh
set -eu
cd "$(dirname "$0")/.."
build=$(pwd)/build/armv7-tests

fail() {
  echo "armv7.sh: $1" >&2
  exit 1
}

scripts/xnnpack.sh armv7
TAPER_ARM_ROOT=$(scripts/arm_libraries.sh armhf)
export TAPER_ARM_ROOT
cmake --preset armv7-tests >/dev/null
cmake --build "$build" --target kernels_portable_test runtime_test backends_xnnpack_runtime_test \
  test_e2e_test taper >"$build/build.log" || {
  tail -20 "$build/build.log" >&2
  exit 1
}
as_cortex_a7() { qemu-arm -L /usr/arm-linux-gnueabihf -cpu cortex-a7 "$@"; }

# run TEST FILTER
run() (
  [ -z "${GTEST_OUTPUT:-}" ] || export GTEST_OUTPUT="$GTEST_OUTPUT$1.xml"
  as_cortex_a7 "$build/bin/$1" --gtest_brief=1 "--gtest_filter=$2" >"$build/$1.log" 2>&1 || {
    grep -v Skipped "$build/$1.log" | tail -30 >&2
    fail "$1 fails"
  }
)
run kernels_portable_test '*'
run runtime_test '*'
run backends_xnnpack_runtime_test '-GroupedStage.ComputesGroupsOfAnySize'  # Takes most of the time.
# What does not depend on the processor has been tested on this machine.
run test_e2e_test '-*SameTwice*:*InTwoMemories*:*StateIsReset*:*OtherVersions*:*Selected*:*InTheApplicationsBuffers*'

# The delegate beside the portable kernels, compiled and run there.
for model in resnet18 mobilenet_v2 int8_convnet; do
  inputs=$(ls "test/models/data/$model".in*.npy | paste -s -d ,)
  as_cortex_a7 "$build/bin/taper" export "test/models/data/$model.pt2" -o "$build/$model.pte" \
    --backend xnnpack >/dev/null
  as_cortex_a7 "$build/bin/taper" compare "test/models/data/$model.pt2" "$build/$model.pte" \
    --inputs "$inputs" >"$build/$model.txt" || fail "$model differs: $(tail -5 "$build/$model.txt")"
done
echo "armv7: tests pass"
