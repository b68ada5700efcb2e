#!/bin/sh
# Measures Taper and other runtimes and writes docs/benchmarks.md (see test/bench/peers/README.md).
#
#   scripts/bench_peers.sh [--models a,b] [--peers x,y] [--kinds f32x1,int8x2] [--again] [--report]
#   scripts/bench_peers.sh --breadth ...    # many architectures, into docs/benchmarks_breadth.md
#   scripts/bench_peers.sh --compile ...    # torch.compile's, into docs/benchmarks_compile.md
#
# With --compile, Taper is the newest wheel of this machine in build/wheel.
# A peer whose package cannot be installed (scripts/peers.sh) is left out, and the report says so. The
# first run takes about half an hour, mostly for exports.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
folder=$(scripts/peers.sh)
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
