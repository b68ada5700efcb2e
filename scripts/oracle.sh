#!/bin/sh
# Runs PyTorch's OpInfo database through Taper and compares (test/oracle/opinfo.py).
#
#   scripts/oracle.sh [BUILD] [OPTION...]      BUILD defaults to build/release
#
# Exported programs are kept in the user's cache, where all checkouts share them ($TAPER_ORACLE_CACHE);
# they depend on PyTorch and on how samples are drawn, not on Taper.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
build=build/release
case "${1:-}" in '' | --*) ;; *)
  build=$1
  shift
  ;;
esac
exec "$python" test/oracle/opinfo.py --taper "$build/bin/taper" \
  --cache "${TAPER_ORACLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/taper/oracle}" "$@"
