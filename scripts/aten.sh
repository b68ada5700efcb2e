#!/bin/sh
# Builds libtaper_aten.so for the PyTorch of scripts/venv.sh, and a library of custom operators, and
# runs programs that need them, by the command and by the Python package (test/aten).
#
#   scripts/aten.sh [BUILD]                  BUILD defaults to build/aten
#   scripts/aten.sh --operators [OPTION...]  PyTorch's operator database instead, with what has no
#                                            kernel here left to PyTorch (test/oracle/opinfo.py)
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh)
build=build/aten  # What is installed from build/release is not to depend on PyTorch.
case "${1:-}" in '' | --*) ;; *)
  build=$1
  shift
  ;;
esac
scripts/deps.sh wheel >&2
cmake --preset release -B "$build" -DTAPER_TESTS=OFF -DTAPER_BENCH=OFF -DTAPER_PYTHON=ON \
  -DTAPER_ATEN=ON -DTAPER_ATEN_PYTHON="$python" >/dev/null
cmake --build "$build" --parallel "${JOBS:-2}" --target taper taper_aten taper_python
if [ "${1:-}" = --operators ]; then
  shift
  exec scripts/oracle.sh "$build" --aten "$@"
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
torch=$("$python" -c "import torch; print(torch.__path__[0])")
c++ -std=c++20 -O1 -fPIC -shared test/aten/custom.cpp -o "$out/custom.so" \
  -isystem "$torch/include" -L"$torch/lib" -Wl,-rpath,"$torch/lib" -lc10 -ltorch_cpu
"$python" test/aten/run.py --taper "$build/bin/taper" --library "$out/custom.so" --folder "$out"
mkdir "$out/package"
cp -r bindings/python/taper "$build/bindings/python/_taper.abi3.so" "$out/package"
mv "$out/package/_taper.abi3.so" "$out/package/taper"
"$python" -W ignore test/aten/python_package.py "$out/package" "$build/bin/libtaper_aten.so"
