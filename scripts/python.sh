#!/bin/sh
# Builds the Python package from a clean clone of HEAD, and tests the installed wheel: with Python
# alone, with NumPy, and with PyTorch.
#
#   scripts/python.sh            all of that
#   scripts/python.sh --wheel    only builds build/wheel/*.whl, from this folder
#
# The environment with PyTorch is that of scripts/venv.sh; without it that part is left out, which
# is said, and is an error with CI=true.
set -eu
cd "$(dirname "$0")/.."

# build FOLDER: build/wheel/*.whl of the checkout in FOLDER.
build() {
  (
    cd "$1"
    rm -rf build/wheel
    # With these names ccache finds what 'make build' has compiled.
    CC=cc CXX=c++ CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 \
      python3 -m pip wheel --quiet --disable-pip-version-check --no-deps -w build/wheel \
      ./bindings/python
    ls build/wheel/*.whl
  )
}

if [ "${1:-}" = --wheel ]; then
  build .
  exit
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
git clone --quiet . "$out/clone"
build "$out/clone"
wheel=$(ls "$out"/clone/build/wheel/*.whl)
bytes=$(stat -c %s "$wheel")
echo "python.sh: the wheel has $bytes bytes"
[ "$bytes" -le 5000000 ] || {
  echo "python.sh: that is more than 5 MB" >&2
  exit 1
}
tests=$out/clone/bindings/python/tests

echo "python.sh: with Python alone"
python3 -m venv "$out/venv"
pip="$out/venv/bin/pip install --quiet --disable-pip-version-check"
$pip --no-index "$wheel"
(cd "$tests" && "$out/venv/bin/python" -m unittest -q test_runtime test_compiler)
"$out/venv/bin/taper" --help >/dev/null

echo "python.sh: with NumPy"
$pip numpy
(cd "$tests" && TAPER_TESTS_NEED=numpy "$out/venv/bin/python" -m unittest -q)

echo "python.sh: with PyTorch"
if ! python=$(scripts/venv.sh); then
  echo "python.sh: PyTorch cannot be installed here" >&2
  [ "${CI:-}" != true ]
  exit
fi
# Beside the packages of that environment, which it must not change.
$pip --target "$out/site" --no-deps --no-index "$wheel"
(cd "$tests" && PYTHONPATH=$out/site TAPER_TESTS_NEED="numpy torch executorch" \
  "$python" -m unittest -q)
