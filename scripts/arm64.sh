#!/bin/sh
# Tests the device half on 64-bit ARM: cross-compiles it, runs every committed model under qemu-user
# and compares with PyTorch's numbers; then checks that libtaper.so has the page size of phones.
#
#   scripts/arm64.sh build/release
set -eu
cd "$(dirname "$0")/.."
taper=$(pwd)/${1:?usage: arm64.sh BUILD}/bin/taper
out=$(pwd)/build/arm64-models
mkdir -p "$out"
rm -f "$out"/*.pte

names=""
list=""
for model in test/models/data/*.pt2; do
  name=$(basename "$model" .pt2)
  "$taper" export "$model" -o "$out/$name.pte" >/dev/null
  names="$names $name"
  list="$list${list:+|}$out/$name.pte"
done
cmake --preset arm64 -DTAPER_COMMAND="$taper" "-DTAPER_SELECTED_MODELS=$list" >/dev/null
cmake --build --preset arm64 --target selected_0 taper_shared >build/arm64/build.log || {
  tail -20 build/arm64/build.log >&2
  exit 1
}
qemu-aarch64 build/arm64/bin/selected_0 "$out" $names
aarch64-linux-gnu-readelf -lW build/arm64/libtaper.so | awk '
  $1 == "LOAD" { ++seen; if ($NF != "0x4000") wrong = 1 }
  END { if (!seen || wrong) { print "arm64.sh: libtaper.so is not aligned to 16 KB pages"; exit 1 } }'
echo "arm64: the committed models match; libtaper.so is aligned to 16 KB pages"
