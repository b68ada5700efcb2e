#!/bin/sh
# Times random layers beside PyTorch and ONNX Runtime, and writes docs/benchmarks_layers.md; options
# are those of test/bench/layers/sweep.py. A layer takes some two seconds of a core.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
folder=$(scripts/peers.sh)
cmake --preset release >/dev/null
cmake --build --preset release --target taper >/dev/null
PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 \
  exec "$python" test/bench/layers/sweep.py --markdown docs/benchmarks_layers.md "$@"
