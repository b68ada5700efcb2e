#!/bin/sh
# Runs programs with conditions on their inputs and compares with PyTorch (test/oracle/guards.py).
#
#   scripts/guards.sh [BUILD]  BUILD defaults to build/release
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
exec "$python" test/oracle/guards.py --taper "${1:-build/release}/bin/taper"
