#!/bin/sh
# Files exchanged with ExecuTorch: theirs in our runtime, ours in theirs (test/compat/run.py).
#
#   scripts/compat.sh --available   exit 0 if the Python environment exists or can be made
#   scripts/compat.sh [BUILD]       run it; BUILD defaults to build/release
#
# The environment lies in build/venv ($TAPER_VENV) and is kept. TAPER_PYTHON names a Python that
# already has torch 2.13.0 and executorch 1.5.1; then nothing is made.
set -eu
cd "$(dirname "$0")/.."
venv=${TAPER_VENV:-build/venv}

if [ "${1:-}" = --available ]; then
  [ -f test/compat/run.py ] || exit 1
  [ -z "${TAPER_PYTHON:-}" ] || exit 0
  mkdir -p build
  scripts/deps.sh python >/dev/null && test/compat/venv.sh "$venv" >build/compat-venv.log 2>&1
  exit
fi
exec "${TAPER_PYTHON:-$venv/bin/python}" test/compat/run.py --taper "${1:-build/release}/bin/taper"
