#!/bin/sh
# Exchanges files with ExecuTorch: its files run in Taper, Taper's in ExecuTorch
# (test/compat/run.py). Also calls the shared library from Python; where it is not built, that is said,
# and is an error with CI=true.
#
#   scripts/compat.sh [BUILD]       BUILD defaults to build/release
#
# What ExecuTorch made of a model is kept in the user's cache; it does not depend on Taper.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
build=${1:-build/release}
library=$build/libtaper.so
if [ -e "$library" ]; then
  "$python" test/compat/call_from_python.py "$build/bin/taper" "$library"
else
  echo "compat.sh: the C API is not called, because there is no $library" >&2
  [ "${CI:-}" != true ]
fi
exec "$python" test/compat/run.py --taper "$build/bin/taper" \
  --cache "${XDG_CACHE_HOME:-$HOME/.cache}/taper/compat"
