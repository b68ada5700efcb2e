#!/bin/sh
# Runs random programs through Taper and compares with PyTorch (test/oracle/random_graphs.py).
#
#   scripts/random_graphs.sh [BUILD] [OPTION...]  BUILD defaults to build/release
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
build=build/release
case "${1:-}" in '' | --*) ;; *)
  build=$1
  shift
  ;;
esac
exec "$python" test/oracle/random_graphs.py --taper "$build/bin/taper" "$@"
