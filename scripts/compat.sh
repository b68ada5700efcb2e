#!/bin/sh
# Files exchanged with ExecuTorch: theirs in our runtime, ours in theirs (test/compat/run.py).
#
#   scripts/compat.sh [BUILD]       BUILD defaults to build/release
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
exec "$python" test/compat/run.py --taper "${1:-build/release}/bin/taper"
