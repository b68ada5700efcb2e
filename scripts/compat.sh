#!/bin/sh
# Files exchanged with ExecuTorch: theirs in our runtime, ours in theirs (test/compat/run.py).
#
#   scripts/compat.sh --available   exit 0 if the Python environment exists or can be made
#   scripts/compat.sh [BUILD]       run it; BUILD defaults to build/release
#
# The environment lies in build/compat-venv and is kept. TAPER_COMPAT_PYTHON names a Python that
# already has torch 2.13.0 and executorch 1.5.1; then nothing is made.
set -eu
cd "$(dirname "$0")/.."
venv=build/compat-venv

if [ "${1:-}" = --available ]; then
  [ -f test/compat/run.py ] || exit 1
  [ -z "${TAPER_COMPAT_PYTHON:-}" ] || exit 0
  scripts/venv.sh "$venv" torch==2.13.0 executorch==1.5.1 numpy >/dev/null 2>&1
  exit
fi
exec "${TAPER_COMPAT_PYTHON:-$venv/bin/python}" test/compat/run.py --build "${1:-build/release}"
