#!/bin/sh
# Compares Taper with onnxruntime-web, LiteRT and tfjs in a headless Chromium, on one thread and on
# two (test/bench/web/README.md).
#
#   scripts/bench_web.sh [--rounds N] [--module LABEL=FILE.wasm] [--markdown FILE] [MODEL...]
#
# Needs build/release and what `scripts/deps.sh web` installs, npm, and PyTorch (scripts/venv.sh).
# The packages that it downloads go to the user's cache, models to build/web/bench.
set -eu
cd "$(dirname "$0")/.."
npm="onnxruntime-web@1.30.0 @litertjs/core@2.5.3 @tensorflow/tfjs@4.22.0
  @tensorflow/tfjs-backend-wasm@4.22.0"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/taper/bench-web
models=build/web/bench

options=""
while [ $# -gt 1 ] && [ "${1#--}" != "$1" ]; do
  options="$options $1 $2"
  shift 2
done
[ $# -gt 0 ] || set -- mobilenet_v2 resnet18 bert_mini

python=$(scripts/venv.sh)
wanted=$(echo $npm)
if [ "$(cat "$cache/.installed" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$cache"
  mkdir -p "$cache"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$cache" $npm
  echo "$wanted" >"$cache/.installed"
fi
scripts/web.sh --package
missing=""
for model in "$@"; do
  [ -f "$models/$model.pt2" ] || missing="$missing $model"
done
[ -z "$missing" ] || PYTHONPATH=$(scripts/peers.sh) "$python" test/bench/web/models.py \
  "$models" $missing >build/web/models.log 2>&1 || {
  tail -5 build/web/models.log >&2
  exit 1
}
for model in "$@"; do
  build/release/bin/taper export "$models/$model.pt2" -o "$models/$model.pte" >/dev/null
done
exec python3 test/bench/web/bench.py --package build/web/package --models "$models" \
  --npm "$cache/node_modules" $options "$@"
