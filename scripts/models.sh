#!/bin/sh
# Makes the full-size models that the benchmarks export, into build/models.
#
#   scripts/models.sh [VENV]       TAPER_PYTHON=/path/to/python uses that one instead
set -eu
venv=${1:-build/venv}
cd "$(dirname "$0")/.."
python=${TAPER_PYTHON:-}
if [ -z "$python" ]; then
  scripts/venv.sh "$venv"
  python=$venv/bin/python
fi
"$python" test/models/make.py --full --out build/models
