#!/bin/sh
# Makes, or finds again, a virtual environment with PyTorch for the scripts that make models.
#
#   scripts/venv.sh DIR [PACKAGE...]      default: torch==2.13.0 numpy scikit-learn
#
# TAPER_PYTHON names a Python that already has the packages; then nothing is made.
set -eu
dir=${1:?usage: venv.sh DIR [PACKAGE...]}
shift
[ $# -gt 0 ] || set -- torch==2.13.0 numpy scikit-learn
stamp="$dir/.installed"
wanted=$(echo "$@")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi
"$(dirname "$0")"/deps.sh python
python3 -m venv "$dir"
"$dir"/bin/pip install --quiet --disable-pip-version-check "$@"
echo "$wanted" >"$stamp"
