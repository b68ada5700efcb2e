#!/bin/sh
# Tests selective build from end to end; test/selected/README.md says what is checked.
#
#   scripts/selected.sh build/release
#
# What needs Vulkan in that build, or lavapipe, is left out where they are missing; that is said, and is
# an error with CI=true.
set -eu
cd "$(dirname "$0")/.."
taper=$(pwd)/${1:?usage: selected.sh BUILD}/bin/taper
out=$(pwd)/build/selected
mkdir -p "$out/models" "$out/groups"
rm -f "$out"/groups/*

fail() {
  echo "selected.sh: $1" >&2
  exit 1
}

# without WHAT: says that a part cannot run.
without() {
  echo "selected.sh: not run, because there is no $1" >&2
  [ "${CI:-}" != true ]
}

# Models that use the same dtypes form a group.
for model in test/models/data/*.pt2; do
  name=$(basename "$model" .pt2)
  "$taper" export "$model" -o "$out/models/$name.pte" >/dev/null
  "$taper" select "$out/models/$name.pte" -o "$out/table.cpp" --cmake "$out/table.cmake"
  dtypes=$(sed -n 's/.*DTYPES \(0x[0-9a-f]*\).*/\1/p' "$out/table.cmake")
  echo "$name" >>"$out/groups/$dtypes"
done

list=""
for group in "$out"/groups/*; do
  models=$(sed "s|.*|$out/models/&.pte|" "$group" | paste -s -d '|')
  list="$list${list:+;}$models"
done
cmake -S . -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=MinSizeRel -DTAPER_HOST=OFF \
  -DTAPER_TESTS=OFF -DTAPER_BENCH=OFF -DTAPER_BACKENDS=NONE -DTAPER_COMMAND="$taper" \
  "-DTAPER_SELECTED_MODELS=$list" "-DTAPER_SELECTED_FAST=${list%%;*}" >/dev/null
cmake --build "$out/build" >"$out/build.log" || { tail -20 "$out/build.log"; fail "does not build"; }

number=0
for group in "$out"/groups/*; do
  "$out/build/bin/selected_$number" "$out/models" $(cat "$group") || fail "group $number differs"
  number=$((number + 1))
done

"$out/build/bin/selected_fast_0" "$out/models" $(cat "$(ls "$out"/groups/* | head -1)") ||
  fail "fast kernels differ"

# Programs for Vulkan are linked with the shaders that they need. Their size is that of the smallest
# build, in which a lack of memory ends the process: the tables that errors need are a tenth of it.
if [ -e "$(dirname "$taper")/../libtaper_vulkan_shaders.a" ]; then
  mkdir -p "$out/vulkan"
  list=""
  for group in "mobilenet_v2" "vit_tiny bert_mini dynamic_batch" "lstm unet"; do
    models=""
    for name in $group; do
      "$taper" export "test/models/data/$name.pt2" --backend vulkan -o "$out/vulkan/$name.pte" \
        >/dev/null
      models="$models${models:+|}$out/vulkan/$name.pte"
    done
    list="$list${list:+;}$models"
  done
  cmake -S . -B "$out/build_vulkan" -G Ninja -DCMAKE_BUILD_TYPE=MinSizeRel -DTAPER_HOST=OFF \
    -DTAPER_TESTS=OFF -DTAPER_BENCH=OFF -DTAPER_BACKENDS=vulkan -DTAPER_COMMAND="$taper" \
    -DTAPER_EXCEPTIONS=OFF \
    "-DTAPER_SELECTED_DELEGATED=$list" -DTAPER_SELECTED_BACKEND=VulkanBackend >/dev/null
  cmake --build "$out/build_vulkan" >"$out/build.log" ||
    { tail -20 "$out/build.log"; fail "does not build with Vulkan"; }
  if ls /usr/share/vulkan/icd.d/lvp_icd*.json >/dev/null 2>&1; then
    number=0
    for group in "mobilenet_v2" "vit_tiny bert_mini dynamic_batch" "lstm unet"; do
      TAPER_VULKAN_DEVICE=llvmpipe "$out/build_vulkan/bin/selected_delegated_$number" \
        "$out/vulkan" $group || fail "group $number differs with Vulkan"
      number=$((number + 1))
    done
    if TAPER_VULKAN_DEVICE=llvmpipe "$out/build_vulkan/bin/selected_delegated_0" "$out/vulkan" \
      vit_tiny 2>"$out/missing.txt"; then fail "runs without its shaders"; fi
    grep -q "not linked with the shader" "$out/missing.txt" ||
      { cat "$out/missing.txt"; fail "does not name the missing shader"; }
  else
    without "lavapipe: programs for it"
  fi
  scripts/vulkan_size.sh "$out/build_vulkan" selected_delegated_0
else
  without "Vulkan in ${1}: programs for it"
fi

# refused TEXT ARGUMENTS...: `taper select` must fail with a message that contains the text.
refused() {
  text=$1
  shift
  if "$taper" select "$@" -o "$out/refused.cpp" 2>"$out/refused.txt"; then fail "$* is accepted"; fi
  grep -q "$text" "$out/refused.txt" || { cat "$out/refused.txt"; fail "does not say '$text'"; }
  [ ! -e "$out/refused.cpp" ] || fail "the table of a refused selection was written"
}
model=$out/models/mobilenet_v2.pte
refused "aten::convolution.out is excluded" "$model" --exclude aten::convolution.out
refused "called with float16, which is not built" "$out/models/float16.pte" --dtypes float32,int64
refused "aten::no_such.out.* has no portable kernel" "$model" --operators aten::no_such.out
for folder in backends/*/; do
  "$taper" export test/models/data/mobilenet_v2.pt2 --backend "$(basename "$folder")" --delegate-all \
    -o "$out/delegated.pte" >/dev/null
  refused "backend .* is not linked" "$out/delegated.pte"
done

# A table with the same kernel twice does not compile.
"$taper" select "$model" -o "$out/table.cpp"
compile="${CXX:-c++} -std=c++17 -fsyntax-only -I runtime/include"
$compile "$out/table.cpp" || fail "the table does not compile"
sed '/kAddOut,$/p; /"aten::add.out"/p' "$out/table.cpp" >"$out/twice.cpp"
if $compile "$out/twice.cpp" 2>"$out/twice.txt"; then fail "a table with a kernel twice compiles"; fi
grep -q "a kernel is listed twice" "$out/twice.txt" || fail "does not say that a kernel is listed twice"

# A kernel of the application's own is compiled for the dtypes that are passed to its operator,
# whatever the other kernels are compiled for.
mkdir -p "$out/own"
"$taper" export examples/custom_op/model.pt2 --ops examples/custom_op/ops.txt -o "$out/own/own.pte" \
  >/dev/null
cat >"$out/own/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(own LANGUAGES CXX)
add_subdirectory($(pwd) taper)
add_executable(own $(pwd)/test/size/size_selected.cpp)
taper_selected_kernels(TARGET own MODELS own.pte OPERATORS aten::sub.out
  OWN my::shrink.out=shrink.cpp my::accumulate_)
END
cat >"$out/own/shrink.cpp" <<END
#include "taper/dtypes.h"
static_assert(taper::kSelectedDtypes == taper::dtype_bit(taper::ScalarType::kFloat), "for float32");
END
cmake -S "$out/own" -B "$out/own/build" -G Ninja -DTAPER_HOST=OFF -DTAPER_BACKENDS=NONE \
  -DTAPER_COMMAND="$taper" >/dev/null || fail "configuring with the application's own kernel fails"
cmake --build "$out/own/build" --target own_taper_kernels_0x40u >"$out/own.txt" ||
  { cat "$out/own.txt"; fail "a kernel of the application's own does not compile"; }

# Configuring an application that leaves out what its model needs fails.
mkdir -p "$out/bad"
cat >"$out/bad/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(bad LANGUAGES CXX)
add_subdirectory($(pwd) taper)
add_executable(bad $(pwd)/test/size/size_selected.cpp)
taper_selected_kernels(TARGET bad MODELS $model EXCLUDE aten::mean.out)
END
if cmake -S "$out/bad" -B "$out/bad/build" -G Ninja -DTAPER_HOST=OFF -DTAPER_BACKENDS=NONE \
  -DTAPER_COMMAND="$taper" >/dev/null 2>"$out/bad.txt"; then
  fail "an application that lacks a kernel was configured"
fi
grep -q "aten::mean.out is excluded" "$out/bad.txt" || fail "the error does not name the kernel"
echo "$number trimmed binaries match"
