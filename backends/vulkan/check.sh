#!/bin/sh
# What CI runs besides the tests, on drivers that compute on the processor:
#
#   1. validation    a third of the conformance suite and of the unit tests, and some models on
#                    lavapipe, while Khronos' layer checks every call, and what runs at the same time
#   2. accesses      a sixth of the suite on lavapipe without the driver's bounds checks, while the
#                    layer checks every access of the shaders
#   3. swiftshader   a third of the suite and some models on a driver with the least that a GPU may
#                    have: 256 invocations in a workgroup, 4 in a subgroup, no 8- and 16-bit types
#
# With TAPER_VULKAN_ALL=1 they run all of that. The suite's cases in float16 (half_cases_test)
# are left out: they run with the tests, on lavapipe.
#
#   backends/vulkan/check.sh BUILD [PART]      # one part only: validation, accesses or swiftshader
set -uf
cd "$(dirname "$0")/../.."
build=${1:?usage: check.sh BUILD [PART]}
parts=${2:-validation accesses swiftshader}
cases="$build/bin/test_backends_test --gtest_brief=1 --gtest_filter="
suite=$cases*/vulkan*-*HalfCases*
harmless=$suite:*Hostile*  # Without what damages payloads.
damaged=$cases*Hostile*/vulkan*
units="$build/bin/backends_vulkan_runtime_test --gtest_brief=1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
  echo "check.sh: $1" >&2
  failed=1
}

# validated FEATURES COMMAND...: runs it with the layer, which must be active and say nothing.
validated() {
  features=$1
  shift
  rm -f "$work/log"
  cat >"$work/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,perf,info
khronos_validation.log_filename = $work/log
END
  VK_LAYER_SETTINGS_PATH=$work VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation \
    VK_LAYER_ENABLES=$features TAPER_VULKAN_DEVICE=llvmpipe "$@" || fail "failed: $*"
  grep -q "Enables: ${features%_EXT}" "$work/log" 2>/dev/null ||
    fail "the validation layer is not active"
  # The layer's first message says that it is there; another may say that it has no cache yet.
  messages=$(grep 'msgNum' "$work/log" 2>/dev/null |
    grep -v -e 'createinstance-status-message' -e 'cache-file-error')
  [ -z "$messages" ] || fail "the validation layer says: $(echo "$messages" | head -n 5)"
}

# part INDEX COUNT: the words before a test program that let it run a part of its tests, or nothing.
part() {
  [ -n "${TAPER_VULKAN_ALL:-}" ] || echo "env GTEST_TOTAL_SHARDS=$2 GTEST_SHARD_INDEX=$1"
}

# models COMMAND...: exports some models, runs them with that command and compares with PyTorch.
models() {
  data=test/models/data
  for model in mobilenet_v2 resnet18 vit_tiny bert_mini unet llama; do
    "$build/bin/taper" export $data/$model.pt2 --backend vulkan -o "$work/model.pte" >/dev/null &&
      "$@" "$build/bin/taper" verify "$work/model.pte" \
        --inputs "$(find $data -name "$model.in*.npy" | sort -V | paste -s -d ,)" \
        --expected "$(find $data -name "$model.out*.npy" | sort -V | paste -s -d ,)" ||
      fail "failed: $model"
  done
}

check_validation() {
  features=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
  validated $features $(part 0 3) $harmless
  validated $features $damaged
  validated $features $(part 0 3) $units
  models validated $features
}

# Layers report an access outside of a buffer only where the driver does not make it harmless, so
# what damages payloads is left out.
check_accesses() {
  TAPER_VULKAN_VALIDATION=1 validated VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT \
    $(part 1 6) $harmless
}

check_swiftshader() {
  driver=$(backends/vulkan/deps.sh where)
  if [ -z "$driver" ]; then
    fail "SwiftShader is not there: run scripts/deps.sh vulkan"
    return
  fi
  export VK_ICD_FILENAMES="$driver" VK_DRIVER_FILES="$driver" TAPER_VULKAN_DEVICE=SwiftShader
  $(part 2 3) $suite || fail "failed: $suite"
  models env
}

for name in $parts; do
  "check_$name" || fail "there is no part '$name'"
done
exit $failed
