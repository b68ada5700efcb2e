#!/bin/sh
# Tests `taper export --format=c` from end to end on one board; test/firmware/README.md says what is
# checked.
#
#   scripts/firmware.sh build/release [cortex_m4 | riscv32 | wasm32]
set -eu
cd "$(dirname "$0")/.."
build=${1:?usage: firmware.sh BUILD [BOARD]}
board=${2:-cortex_m4}
out=build/firmware/$board
mkdir -p "$out/include"

fail() {
  echo "firmware.sh: $1" >&2
  exit 1
}

core_limit=0
libraries=""
case $board in
cortex_m4)
  tools=arm-none-eabi
  machine="-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
  libraries="--specs=nano.specs"
  emulator="qemu-system-arm -M mps2-an386"
  core_limit=24576
  ;;
riscv32) # Debian has no C++ headers for it; those of the same compiler for ARM are used.
  tools=riscv64-unknown-elf
  headers=$(ls -d /usr/include/newlib/c++/* | tail -1)
  machine="-march=rv32imafc -mabi=ilp32f --specs=picolibc.specs -isystem $headers
    -isystem $headers/arm-none-eabi"
  libraries="-nodefaultlibs -lm -lc -lgcc -Wl,--no-warn-rwx-segments"
  emulator="qemu-system-riscv32 -M virt -bios none -m 16M"
  ;;
wasm32) ;; # Not a board: WebAssembly, which Node runs.
*) fail "unknown board '$board': cortex_m4, riscv32 or wasm32" ;;
esac
if [ "$board" = wasm32 ]; then
  compiler="clang++-22 --target=wasm32-wasi -Wno-deprecated"
  machine=-fhosted
  link="-Wl,--gc-sections,--strip-all"
  start=""
  emulator="node --no-warnings test/firmware/run_wasm.mjs"
else
  compiler=$tools-g++
  link="-nostartfiles -Wl,--gc-sections -T test/firmware/$board.ld"
  start=test/firmware/start_$board.cpp
  emulator="$emulator -nographic -monitor none -serial none -semihosting -kernel"
fi
cxx="${CCACHE:-$(command -v ccache || true)} $compiler"

# size_of IMAGE: its bytes of code and data.
size_of() {
  if [ "$board" = wasm32 ]; then wc -c <"$1"; else
    $tools-size "$1" | awk 'NR == 2 { print $1 + $2 }'
  fi
}

# FlatBuffers' headers alone: other headers of the host must not be found.
flatbuffers=$(echo '#include "flatbuffers/flatbuffers.h"' | ${CXX:-c++} -x c++ -E - |
  sed -n 's|^# [0-9]* "\(.*\)/flatbuffers.h".*|\1|p' | head -1)
ln -sfn "$flatbuffers" "$out/include/flatbuffers"
flags="-std=c++17 -Os -DNDEBUG -ffreestanding $machine
  -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffunction-sections
  -fdata-sections -fno-math-errno -fno-trapping-math -DTAPER_ERROR_TEXT=0 -Wall -Wextra
  -Iruntime/include -I. -isystem $build/generated -isystem $out/include"
flags=$(echo $flags)

# compile FOLDER FLAGS SOURCES...: compiles the sources into the folder, two at a time.
compile() {
  to=$1
  extra=$2
  shift 2
  mkdir -p "$to"
  printf '%s\n' "$@" | xargs -P 2 -I{} sh -c \
    "$cxx $flags $extra -c '{}' -o $to/\$(basename '{}' .cpp).o" || fail "does not compile"
}

sources=$(ls runtime/core/*.cpp runtime/program/*.cpp runtime/executor/*.cpp | grep -v _test)
compile "$out/runtime" "" $sources
shared=$(find kernels_portable -name '*.cpp' | LC_ALL=C sort | grep -vE '_test|/op_|/kernel_table')

link_image() {
  $compiler $flags $link "$1"/model/*.o "$1"/kernels/*.o "$out"/runtime/*.o \
    $libraries -o "$1/image.elf" 2>"$1/link.txt" || { cat "$1/link.txt"; fail "$1 does not link"; }
}
run_image() {
  timeout 300 $emulator "$1/image.elf" 2>&1
}

# step METHOD FILES: a step of main.cpp. In model.h the only method of a program (-) has no name.
step() {
  if [ "$1" = - ]; then echo "STEP(model_, MODEL_, \"$2\")"; else
    echo "STEP(model_${1}_, MODEL_$(echo "$1" | tr a-z A-Z)_, \"$2\")"
  fi
}

# model NAME "PROGRAMS" STEPS: exports the programs, compiles and runs them.
model() {
  name=$1
  folder=$out/$name
  rm -rf "$folder"
  "$build/bin/taper" export --format=c $memories $2 -o "$folder" >/dev/null
  dtypes=$(sed -n 's/^#.*-DTAPER_DTYPES=\([0-9a-fx]*u\).*/\1/p' "$folder/sources.txt")
  compile "$folder/kernels" "-DTAPER_DTYPES=$dtypes" $shared
  for own in $(sed -n 's/^[^#].* //p' "$folder/sources.txt" | sort -u); do
    compile "$folder/kernels" "$own" \
      $(awk -v own="$own" '$2 == own { print "kernels_portable/" $1 }' "$folder/sources.txt")
  done
  compile "$folder/model" "-I$folder $places" "$folder"/model.cpp "$folder"/kernels.cpp "$folder"/program.cpp
  $cxx $flags "-I$folder" -Werror "-DTEST_STEPS=$(echo $3)" -c test/firmware/main.cpp -o "$folder/model/main.o"
  [ -z "$start" ] || compile "$folder/model" "" "$start"
  link_image "$folder"
  for symbol in malloc _malloc_r printf fopen _sbrk _write __cxa_throw; do
    [ "$board" != wasm32 ] || break  # There the test itself needs a heap to read files.
    if $tools-nm "$folder/image.elf" | grep -q " [TtWw] $symbol\$"; then
      fail "$symbol is in the image of $name"
    fi
  done
  said=$(run_image "$folder") || fail "$name: $said"
  program=$(sed -n 's/.*model_program_bytes = \([0-9]*\);.*/\1/p' "$folder/program.cpp")
  code=$(size_of "$folder/image.elf")
  echo "$name: $said; $((code - program)) bytes of code, $program of the program," \
    "$(sed -n 's/#define MODEL_ARENA_BYTES //p' "$folder/model.h") of arena," \
    "$(sed -n 's/#define MODEL_.*BLOCK_BYTES //p' "$folder/model.h" |
      awk 'NR % 2 { bytes += $1 } END { print bytes }') of block"
}

# The core by itself: the whole image, including the start-up code of the board.
compile "$out/core" "" test/size/size_core.cpp $start
$compiler $flags $link "$out"/core/*.o "$out"/runtime/*.o $libraries -o "$out/core.elf"
core=$(size_of "$out/core.elf")
echo "core runtime with its verifier, $board: $core bytes"
if [ "$core_limit" -ne 0 ] && [ "$core" -gt "$core_limit" ]; then
  fail "the core runtime is over its limit of $core_limit bytes"
fi

data=$PWD/test/models/data
memories="--memory sram=16K,dram" places=""
if [ "$board" != wasm32 ]; then places="-DMODEL_BUFFER_1='[[gnu::section(\".bss.sram\")]]'"; fi
model mobilenet_v2 $data/mobilenet_v2.pt2 "$(step - $data/mobilenet_v2)"
memories="" places=""
model bert_mini $data/bert_mini.pt2 "$(step - $data/bert_mini)"
# Methods share one arena and run in turns; methods with state keep their own memory. Sizes change
# from run to run.
model three "llama=$data/llama.pt2 digits=$data/mobilenet_v2.pt2 batch=$data/dynamic_batch.pt2" "
  $(step llama $data/llama.step0) $(step digits $data/mobilenet_v2)
  $(step llama $data/llama.step1) $(step batch $data/dynamic_batch_3)
  $(step batch $data/dynamic_batch_8) $(step llama $data/llama.step2)
  $(step batch $data/dynamic_batch_1)"
model llama $data/llama.pt2 "
  $(step - $data/llama.step0) $(step - $data/llama.step1) $(step - $data/llama.step2)"

# The memory is exact: a block that is one byte smaller is refused.
block=$(sed -n 's/#define MODEL_BLOCK_BYTES //p' "$out/llama/model.h" | head -1)
sed -i "s/MODEL_BLOCK_BYTES $block/MODEL_BLOCK_BYTES $((block - 1))/" "$out/llama/model.h"
compile "$out/llama/model" "-I$out/llama" "$out/llama/model.cpp"
link_image "$out/llama"
if said=$(run_image "$out/llama"); then fail "a block that is a byte too small was accepted"; fi
[ "$said" = "a run fails" ] || fail "a block that is a byte too small gives: $said"
echo "4 programs run on $board"
