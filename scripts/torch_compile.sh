#!/bin/sh
# Compares torch.compile(backend="taper") with eager mode on architectures and on PyTorch's operator
# samples (test/torch_compile).
#
#   scripts/torch_compile.sh                              100 architectures and 1,000 samples
#   scripts/torch_compile.sh architectures [OPTION...]    one of the two, see its --help
#   scripts/torch_compile.sh operators [OPTION...]
#
# It tests the newest wheel of this machine in build/wheel, which 'make wheel' writes.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
wheel=$(ls -t build/wheel/*linux*_"$(uname -m)".whl | head -n 1)
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check --target "$site" --no-deps --no-index \
  "$wheel"
what=${1:-architectures operators}
[ $# -eq 0 ] || shift
for each in $what; do
  PYTHONPATH=$site "$python" "test/torch_compile/$each.py" "$@"
done
