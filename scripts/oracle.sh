#!/bin/sh
# PyTorch's OpInfo database through Taper (test/oracle/opinfo.py).
#
#   scripts/oracle.sh --available          exit 0 if the Python environment exists or can be made
#   scripts/oracle.sh [BUILD] [OPTION...]  run it; BUILD defaults to build/release
#
# The environment lies in build/venv ($TAPER_VENV) and is kept, as are the exported programs in
# build/oracle ($TAPER_ORACLE_CACHE). TAPER_PYTHON names a Python that already has torch 2.13.0.
set -eu
cd "$(dirname "$0")/.."
venv=${TAPER_VENV:-build/venv}

if [ "${1:-}" = --available ]; then
  [ -f test/oracle/opinfo.py ] || exit 1
  [ -z "${TAPER_PYTHON:-}" ] || exit 0
  mkdir -p build
  scripts/deps.sh python >/dev/null && test/oracle/venv.sh "$venv" >build/oracle-venv.log 2>&1
  exit
fi
build=build/release
case "${1:-}" in '' | --*) ;; *)
  build=$1
  shift
  ;;
esac
exec "${TAPER_PYTHON:-$venv/bin/python}" test/oracle/opinfo.py --taper "$build/bin/taper" \
  --cache "${TAPER_ORACLE_CACHE:-build/oracle}" "$@"
