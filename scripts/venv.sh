#!/bin/sh
# Creates the Python environment for everything that makes models or compares with PyTorch, if it
# does not exist yet, and prints the path of its python.
#
#   python=$(scripts/venv.sh)
#
# The environment lies in $TAPER_VENV, by default in the user's cache, where all checkouts share it.
# It is created anew when this list changes. TAPER_PYTHON names a Python that has the packages.
set -eu
packages="torch==2.13.0 numpy expecttest==0.3.0 scikit-learn==1.9.1 pillow
  executorch==1.5.1 transformers==5.23.0"
alone="torchvision==0.28.0 timm==1.0.31"  # Their dependencies would be other builds of PyTorch.

if [ -n "${TAPER_PYTHON:-}" ]; then
  echo "$TAPER_PYTHON"
  exit 0
fi
venv=${TAPER_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/taper/venv}
wanted=$(echo $packages $alone)
stamp="$venv/.installed"
if ! [ -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
  "$(dirname "$0")"/deps.sh python >&2
  rm -rf "$venv"
  mkdir -p "$(dirname "$venv")"
  python3 -m venv "$venv"
  pip="$venv/bin/pip install --quiet --disable-pip-version-check"
  # torch comes first: as a dependency of another package, pip would choose a larger build of it.
  $pip torch==2.13.0 numpy >&2
  $pip $packages >&2
  $pip --no-deps $alone >&2
  "$venv/bin/python" -c "from executorch.runtime import Runtime; Runtime.get()" >/dev/null 2>&1
  echo "$wanted" >"$stamp"
fi
echo "$venv/bin/python"
