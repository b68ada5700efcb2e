#!/bin/sh
# Compiles and runs public architectures with random weights and compares with PyTorch (test/zoo).
#
#   scripts/zoo.sh --quick            about twenty small models, in a few minutes
#   scripts/zoo.sh --backend vulkan   all models, delegated; no table
#   scripts/zoo.sh [OPTION...]        all models, and writes docs/models.md; see test/zoo/zoo.py
#
# Results are kept in build/zoo.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
case " $* " in
  *" --quick "* | *" --only "* | *" --list "* | *" --backend "*) set -- "$@" ;;
  *) set -- --table docs/models.md "$@" ;;
esac
exec "$python" test/zoo/zoo.py --taper build/release/bin/taper "$@"
