#!/bin/sh
# Counts the instructions of inferences on 64-bit ARM and writes docs/benchmarks_arm64.md (see
# test/bench/arm64/README.md). No ARM hardware is needed; it takes about 20 minutes.
#
#   scripts/bench_arm64.sh [BUILD]       BUILD defaults to build/release; scripts/arm64.sh has run
#   scripts/bench_arm64.sh BUILD loops   writes only the table of inner loops anew, in a minute
#   scripts/bench_arm64.sh BUILD peers   first measures the other runtimes, too (peers.json)
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
arm=build/arm64-tests
models=build/peers/models
programs=build/bench-arm64
document=docs/benchmarks_arm64.md
names="mobilenet_v2 mobilenet_v3_small resnet18 vit_tiny bert_mini ds_cnn lstm"
quantised="mobilenet_v2 resnet18 ds_cnn"

fail() {
  echo "bench_arm64.sh: $1" >&2
  exit 1
}
[ -x "$arm/bin/taper" ] || fail "$arm/bin/taper is missing: run scripts/arm64.sh $build"
command -v llvm-mca-19 >/dev/null || fail "llvm-mca-19 is missing: install Debian's llvm-19"
commit() {
  PYTHONPATH=test/bench/figures python3 -c 'import provenance; print(provenance.commit())'
}
inner_loops() {
  cat <<END
## Inner loops

Estimated cycles of a hundred multiply-adds in the innermost loops: ours / those of the kernel that XNNPACK takes for such
work on that core, or, if it has none for it, on a Cortex-A76. A dash stands where XNNPACK's kernel does the work in Taper,
too, or where the core has no such instruction. Winograd's products are f32 products of any rows.

Every loop repeats for ever with its data in the nearest cache. The estimate does not see what comes before and after a loop,
the edges of images, caches, memory and branch prediction. Its models are llvm-mca's: the Neoverse N1 for the Cortex-A76,
an older core for the Apple A14, and a Cortex-A55 that starts two multiplications of whole vectors in a cycle.

Commit $(commit).

END
  python3 test/bench/arm64/inner_loops.py --taper "$arm/bin/taper"
}
if [ "${2:-}" = loops ]; then
  { sed '/^## Inner loops/,$d' "$document" && inner_loops; } >"$arm/document.md"
  mv "$arm/document.md" "$document"
  exit
fi
python=$(scripts/venv.sh)
folder=$(scripts/peers.sh)
# make NAME,PEER,KIND: what a peer runs, in the folder of models.
make() {
  PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1 "$python" test/bench/peers/bench.py \
    --taper "$build/bin/taper" --out build/peers --export "$1" >/dev/null 2>&1
}
if [ "${2:-}" = peers ]; then
  [ -f "$models/lstm.inputs.npz" ] || fail "$models has no peers' models: run scripts/bench_peers.sh"
  "$python" test/bench/arm64/measure_peers.py --models "$models" --root "$arm/cortex-a76" \
    --site "$(scripts/peers.sh aarch64)" --python "$(scripts/arm_libraries.sh python)" \
    $names $(printf '%s_int8 ' $quantised)
fi
rm -rf "$programs"
mkdir -p "$programs"
list=""
for name in $names; do
  [ -f "$models/$name.pt2" ] || make "$name,pytorch,f32"
  for precision in f32 f16; do
    program=$programs/$name
    [ "$precision" = f32 ] || program=${program}_f16
    "$build/bin/taper" export "$models/$name.pt2" -o "$program.pte" --backend xnnpack \
      --precision "$precision" >/dev/null
    list="$list $program.pte"
  done
done
for name in $quantised; do
  int8=$models/$name.int8.executorch.pte
  [ -f "$int8" ] || make "$name,executorch,int8"
  cp "$int8" "$programs/${name}_int8.pte"
  list="$list $programs/${name}_int8.pte"
done

{
  cat <<END
# Instructions on 64-bit ARM

Written by \`scripts/bench_arm64.sh\`. No hardware was used: user-mode qemu executes as a Cortex-A76, with one thread, and
counts; llvm-mca estimates the cycles of a Neoverse N1, whose core is the same.
\`test/bench/arm64/README.md\` says what such an estimate leaves out. Models are those of \`docs/benchmarks.md\`, batch 1. A name
that ends in f16 is the same model with \`--precision f16\`; others are float32, as are the peers.

Commit $(commit).

END
  python3 test/bench/arm64/instructions.py --taper "$arm/bin/taper" --root "$arm/cortex-a76" $list
  echo
  inner_loops
} >"$programs/document.md"
mv "$programs/document.md" "$document"
