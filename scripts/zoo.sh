#!/bin/sh
# Public architectures with random weights, compiled, run and compared with PyTorch (test/zoo).
#
#   scripts/zoo.sh --quick            some twenty small models, a few minutes
#   scripts/zoo.sh [OPTION...]        all, and docs/models.md written anew; options: test/zoo/zoo.py
#
# Results are kept in build/zoo.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
case " $* " in
  *" --quick "* | *" --only "* | *" --list "*) set -- "$@" ;;
  *) set -- --table docs/models.md "$@" ;;
esac
exec "$python" test/zoo/zoo.py --taper build/release/bin/taper "$@"
