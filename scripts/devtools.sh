#!/bin/sh
# Exchanges traces and test cases with ExecuTorch's developer tools, its Inspector and bundled
# programs, in both directions (test/compat/devtools.py).
#
#   scripts/devtools.sh [BUILD]       BUILD defaults to build/release
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
exec "$python" test/compat/devtools.py --build "${1:-build/release}"
