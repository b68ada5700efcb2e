#!/bin/sh
# Random programs through Taper, compared with PyTorch (test/oracle/random_graphs.py).
#
#   scripts/random_graphs.sh --available          exit 0 if the Python environment exists or can be made
#   scripts/random_graphs.sh [BUILD] [OPTION...]  run it; BUILD defaults to build/release
#
# The environment is that of scripts/oracle.sh. TAPER_PYTHON names a Python that already has torch
# 2.13.0; then nothing is made.
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" = --available ]; then
  exec scripts/oracle.sh --available
fi
build=build/release
case "${1:-}" in '' | --*) ;; *)
  build=$1
  shift
  ;;
esac
python=${TAPER_PYTHON:-${TAPER_VENV:-build/venv}/bin/python}
exec "$python" test/oracle/random_graphs.py --taper "$build/bin/taper" "$@"
