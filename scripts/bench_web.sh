#!/bin/sh
# Compares Taper with onnxruntime-web in a headless Chromium (test/bench/web/README.md).
#
#   scripts/bench_web.sh [--rounds N] [--module LABEL=FILE.wasm] [MODEL...]
#
# Needs build/release and what `scripts/deps.sh web` installs, npm, and PyTorch (scripts/venv.sh).
# The packages that it downloads go to the user's cache, models to build/web/bench.
set -eu
cd "$(dirname "$0")/.."
ort=1.30.0
packages="onnx==1.23.2 onnxscript==0.7.2 onnx_ir==1.1.0 ml_dtypes==0.6.0 protobuf==7.36.2"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/taper/bench-web-$ort
models=build/web/bench

options=""
while [ $# -gt 1 ] && [ "${1#--}" != "$1" ]; do
  options="$options $1 $2"
  shift 2
done
[ $# -gt 0 ] || set -- mobilenet_v2 resnet18 bert_mini vit_tiny lstm

python=$(scripts/venv.sh)
if ! [ -d "$cache" ]; then
  work=$cache.$$
  mkdir -p "$work"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" \
    "onnxruntime-web@$ort"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --target "$work/python" $packages
  mv "$work" "$cache"
fi
scripts/web.sh --package
for model in "$@"; do
  [ -f "$models/$model.onnx" ] || PYTHONPATH=$cache/python "$python" test/bench/web/models.py \
    "$models" "$model" >"$models.log" 2>&1 || {
    tail -5 "$models.log" >&2
    exit 1
  }
  build/release/bin/taper export "$models/$model.pt2" -o "$models/$model.pte" >/dev/null
done
exec python3 test/bench/web/bench.py --package build/web/package --models "$models" \
  --ort "$cache/node_modules/onnxruntime-web/dist" $options "$@"
