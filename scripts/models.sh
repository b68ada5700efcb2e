#!/bin/sh
# Makes the full-size models that the benchmarks export, into build/models.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
exec "$python" test/models/make.py --full --out build/models
