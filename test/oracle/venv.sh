#!/bin/sh
# Makes, or finds again, the environment of this folder: torch 2.13.0 and what OpInfo imports.
#
#   test/oracle/venv.sh [DIR]      default: $TAPER_VENV, else build/venv
set -eu
dir=${1:-${TAPER_VENV:-build/venv}}
[ -x "$dir/bin/python" ] || python3 -m venv "$dir"
ready="import torch, numpy, torch.testing._internal.common_methods_invocations as m; m.op_db[0]
assert torch.__version__.startswith('2.13.0')"
if "$dir/bin/python" -c "$ready" 2>/dev/null; then exit 0; fi
"$dir/bin/pip" install --quiet --disable-pip-version-check torch==2.13.0 numpy expecttest
"$dir/bin/python" -c "$ready"
