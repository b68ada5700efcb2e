#!/bin/sh
# Public architectures with random weights, compiled, run and compared with PyTorch (test/zoo).
#
#   scripts/zoo.sh --available        exit 0 if the Python environment exists or can be made
#   scripts/zoo.sh --quick            some twenty small models, a few minutes the first time
#   scripts/zoo.sh [OPTION...]        all, and docs/models.md written anew; options: test/zoo/zoo.py
#
# The environment lies in build/zoo-venv ($TAPER_ZOO_VENV) and is kept, the results in build/zoo.
# TAPER_PYTHON names a Python that already has torch 2.13.0, torchvision, timm and transformers.
set -eu
cd "$(dirname "$0")/.."
venv=${TAPER_ZOO_VENV:-build/zoo-venv}

# torchvision and timm alone: with their dependencies they would choose another torch.
make_venv() {
  scripts/deps.sh python
  stamp="$venv/.zoo-installed"
  wanted="torch 2.13.0, executorch 1.5.1, torchvision 0.28.0, timm 1.0.31, transformers 5.23.0"
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return; fi
  test/compat/venv.sh "$venv"
  pip="$venv/bin/pip --quiet --disable-pip-version-check"
  $pip install transformers==5.23.0 pillow
  $pip install --no-deps torchvision==0.28.0 timm==1.0.31
  echo "$wanted" >"$stamp"
}

if [ "${1:-}" = --available ]; then
  [ -f test/zoo/zoo.py ] || exit 1
  [ -z "${TAPER_PYTHON:-}" ] || exit 0
  mkdir -p build
  (make_venv) >build/zoo-venv.log 2>&1
  exit
fi
if [ -z "${TAPER_PYTHON:-}" ]; then make_venv; fi
case " $* " in
  *" --quick "* | *" --only "* | *" --list "*) set -- "$@" ;;
  *) set -- --table docs/models.md "$@" ;;
esac
exec "${TAPER_PYTHON:-$venv/bin/python}" test/zoo/zoo.py --taper build/release/bin/taper "$@"
