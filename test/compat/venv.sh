#!/bin/sh
# Makes, or finds again, the environment of this folder: torch 2.13.0, executorch 1.5.1, numpy.
#
#   test/compat/venv.sh [DIR]      default: $TAPER_VENV, else build/venv
set -eu
dir=${1:-${TAPER_VENV:-build/venv}}
stamp="$dir/.compat-installed"
wanted="torch==2.13.0 executorch==1.5.1 numpy"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi

[ -x "$dir/bin/python" ] || python3 -m venv "$dir"
# torch first: executorch alone would let pip choose another version of it.
"$dir/bin/pip" install --quiet --disable-pip-version-check torch==2.13.0 numpy
"$dir/bin/pip" install --quiet --disable-pip-version-check executorch==1.5.1 torch==2.13.0
"$dir/bin/python" -c "from executorch.runtime import Runtime; Runtime.get()" >/dev/null 2>&1
echo "$wanted" >"$stamp"
