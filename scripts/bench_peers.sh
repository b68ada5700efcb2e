#!/bin/sh
# Measures Taper and other runtimes and writes docs/benchmarks.md (see test/bench/peers/README.md).
#
#   scripts/bench_peers.sh [--models a,b] [--peers x,y] [--kinds f32x1,int8x2] [--again] [--report]
#   scripts/bench_peers.sh --breadth ...    # many architectures, into docs/benchmarks_breadth.md
#   scripts/bench_peers.sh --compile ...    # torch.compile's, into docs/benchmarks_compile.md
#
# With --compile, Taper is the newest wheel of this machine in build/wheel.
# The peers' packages are downloaded once into the user's cache. A package that cannot be installed
# is left out, and the report says so. The first run takes about half an hour, mostly for exports.
set -eu
cd "$(dirname "$0")/.."
packages="onnxruntime==1.31.1 onnx==1.23.2 onnxscript==0.7.2 onnx_ir==1.1.0 ml_dtypes==0.6.0
  protobuf==7.36.2 flatbuffers==25.12.19 openvino==2026.4.1 openvino-telemetry==2025.2.0
  ncnn==1.0.20261020 pnnx==20261020 portalocker==4.4.2 tqdm==4.70.1 ai-edge-litert==2.3.0
  litert-torch==0.10.0
  absl-py==2.5.1 ai-edge-quantizer==0.10.0 fire==0.7.1 immutabledict==4.3.1 jax==0.10.2
  jaxlib==0.10.2 jaxtyping==0.3.11 kagglehub==1.0.3 litert-converter==0.5.0
  markdown-it-py==4.3.0 mdurl==0.1.2 multipledispatch==1.0.0 opt-einsum==3.4.0
  pygments==2.21.0 rich==15.0.0 tabulate==0.10.0 termcolor==3.3.0 wadler-lindig==0.1.8"

python=$(scripts/venv.sh)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/taper/peers
wanted=$(echo $packages)
if ! [ -f "$folder/.installed" ] || [ "$(cat "$folder/.installed")" != "$wanted" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  for package in $packages; do
    # Without dependencies, which are listed here or already in the environment.
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" \
      "$package" >"$folder/log" 2>&1 || echo "bench_peers.sh: $package cannot be installed here" >&2
  done
  echo "$wanted" >"$folder/.installed"
fi

if [ "${1:-}" = --compile ]; then
  shift
  site=$(mktemp -d)
  trap 'rm -rf "$site"' EXIT
  "$python" -m pip install --quiet --disable-pip-version-check --target "$site" --no-deps --no-index \
    "$(ls -t build/wheel/*linux*_"$(uname -m)".whl | head -n 1)"
  PYTHONPATH=$site:$folder${PYTHONPATH:+:$PYTHONPATH} "$python" test/bench/peers/compiled.py \
    --markdown docs/benchmarks_compile.md "$@"
  exit
fi
markdown=docs/benchmarks.md
case " $* " in *" --breadth "*) markdown=docs/benchmarks_breadth.md ;; esac
cmake --preset release >/dev/null
cmake --build --preset release --target taper >/dev/null
PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 \
  exec "$python" test/bench/peers/bench.py --taper build/release/bin/taper --out build/peers \
  --markdown "$markdown" "$@"
