#!/bin/sh
# Builds the Python package from a clean clone of HEAD, and tests the installed wheel: with Python
# alone, in every version that is found here, with NumPy, and with PyTorch.
#
#   scripts/python.sh            all of that
#   scripts/python.sh --wheel    only builds build/wheel/*.whl, from this folder
#
# The wheel is for glibc 2.28 and later; what a library of it needs beyond that is named and an
# error. PLATFORM=linux_x86_64 makes one for this machine alone.
#
# The environment with PyTorch is that of scripts/venv.sh; without it that part is left out, which
# is said, and is an error with CI=true.
set -eu
cd "$(dirname "$0")/.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
platform=${PLATFORM:-manylinux_2_28_$(uname -m)}

# build FOLDER: build/wheel/*.whl of the checkout in FOLDER.
build() {
  (
    cd "$1"
    rm -rf build/wheel
    # The first names the wheel; with the others ccache finds what 'make build' has compiled.
    _PYTHON_HOST_PLATFORM=$platform CC=cc CXX=c++ CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 \
      python3 -m pip wheel --quiet --disable-pip-version-check --no-deps -w build/wheel \
      ./bindings/python
    ls build/wheel/*.whl
  )
  case "$platform" in manylinux_2_*) old_enough "$1"/build/wheel/*.whl ;; esac
}

# old_enough WHEEL: whether its libraries need no symbol that the glibc of its platform lacks.
old_enough() {
  newest=${platform#manylinux_2_}
  newest=${newest%%_*}
  python3 -m zipfile -e "$1" "$out/inside"
  find "$out/inside" -name '*.so*' -exec objdump -T {} + | awk -v newest="$newest" '
    match($0, /GLIBC_2\.[0-9]+/) && substr($0, RSTART + 8, RLENGTH - 8) + 0 > newest {
      print "python.sh: the wheel needs " $NF " of " substr($0, RSTART, RLENGTH)
      found = 1
    }
    END { exit found }' >&2
}

if [ "${1:-}" = --wheel ]; then
  build .
  exit
fi

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

# interpreter VERSION: the path of a Python of that version that works. Fails if there is none.
interpreter() {
  for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*[0-9]/bin/python; do
    "$python" -c 'import sys, ensurepip; print(sys.executable)' 2>/dev/null && return
  done
  return 1
}

# alone PYTHON FOLDER: installs the wheel in an environment in that folder, and tests it there.
alone() {
  "$1" -m venv "$2"
  "$2/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
  (cd "$tests" && "$2/bin/python" -m unittest -q test_runtime test_compiler \
    test_tools)
  "$2/bin/taper" --help >/dev/null
}

found=""
missing=""
for version in 3.10 3.11 3.12 3.13 3.14; do
  if python=$(interpreter $version); then
    echo "python.sh: with Python $version alone"
    alone "$python" "$out/venv-$version"
    found="$found $version"
  else
    missing="$missing $version"
  fi
done
[ -z "$missing" ] || echo "python.sh: not tested, since not found here: Python$missing" >&2
[ -n "$found" ] || exit 1

venv=$out/venv-${found##* }
pip="$venv/bin/pip install --quiet --disable-pip-version-check"
echo "python.sh: with NumPy"
$pip numpy
(cd "$tests" && TAPER_TESTS_NEED=numpy "$venv/bin/python" -m unittest -q)

echo "python.sh: with PyTorch"
if ! python=$(scripts/venv.sh); then
  echo "python.sh: PyTorch cannot be installed here" >&2
  [ "${CI:-}" != true ]
  exit
fi
# Beside the packages of that environment, which it must not change.
$pip --target "$out/site" --no-deps --no-index "$wheel"
(cd "$tests" && PYTHONPATH=$out/site TAPER_TESTS_NEED="numpy torch executorch sklearn" \
  "$python" -m unittest -q)
