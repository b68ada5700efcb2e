#!/bin/sh
# Builds the Python package from a clean clone of HEAD, and tests the installed wheel: with Python
# alone, in every version that is found here, with NumPy, and with PyTorch. It says which versions these
# are; with CI=true Debian's, which deps.sh installs, must be one of them.
#
#   scripts/python.sh            all of that
#   scripts/python.sh --wheel    only builds build/wheel/*.whl, from this folder
#   scripts/python.sh --asan     runs the tests with Python alone on a compiled half that has
#                                AddressSanitizer and UndefinedBehaviorSanitizer, from this folder
#
# ARCH=aarch64 builds the wheel for 64-bit ARM, and tests it with Python alone under qemu.
# PLATFORM=win_amd64 builds that for Windows and Python 3.11 and later, and tests it under wine.
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
arch=${ARCH:-$(uname -m)}
platform=${PLATFORM:-manylinux_2_28_$arch}

# cross: settings of a build for another processor or system than this one.
cross() {
  if [ "$platform" = win_amd64 ]; then
    scripts/xnnpack.sh windows
    # With precompiled headers ccache would find nothing of what clang compiles.
    echo "-C build-dir=../../build/python-windows -C wheel.py-api=cp311
      -C cmake.define.TAPER_PRECOMPILED_HEADERS=OFF
      -C cmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchains/windows.cmake
      -C cmake.define.TAPER_WINDOWS_ROOT=$(scripts/windows_libraries.sh)"
    return
  fi
  case "$arch" in
    "$(uname -m)") return ;;
    aarch64) ;;
    *) echo "python.sh: there is no cross build for '$arch', only for aarch64" >&2 && exit 2 ;;
  esac
  scripts/xnnpack.sh aarch64
  libraries=$(scripts/arm_libraries.sh arm64)
  headers=$(scripts/arm_libraries.sh python)/usr/include/python3.11
  echo "-C build-dir=../../build/python-aarch64
    -C cmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchains/arm64.cmake
    -C cmake.define.TAPER_ARM_ROOT=$libraries -C cmake.define.Python_INCLUDE_DIR=$headers"
}

# build FOLDER: build/wheel/*.whl of the checkout in FOLDER, and what is in it in $out/inside.
build() {
  (
    cd "$1"
    rm -rf build/wheel
    settings=$(cross)
    # The first names the wheel; with the others ccache finds what 'make build' has compiled.
    _PYTHON_HOST_PLATFORM=$platform \
      CC=cc CXX=c++ CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 \
      python3 -m pip wheel --quiet --disable-pip-version-check --no-deps -w build/wheel $settings \
      ./bindings/python
    advzip -q -z -3 build/wheel/*.whl  # A better deflate than zlib's.
    ls build/wheel/*.whl
  )
  python3 -m zipfile -e "$1"/build/wheel/*.whl "$out/inside"
  compilers=gcc-runtime
  [ "$platform" != win_amd64 ] || compilers="gcc-runtime mingw-w64-runtime"
  scripts/check_licenses.sh "$out/inside/taper/licenses/taper.spdx" "$out/inside/taper/licenses" \
    flatbuffers zlib simdjson cxxopts $compilers
  case "$platform" in
    manylinux_2_*)
      old_enough
      known_to_windows
      ;;
  esac
}

# old_enough: whether the wheel's libraries need no symbol that the glibc of its platform lacks.
old_enough() {
  newest=${platform#manylinux_2_}
  newest=${newest%%_*}
  find "$out/inside" -name '*.so*' -exec readelf --dyn-syms -W {} + | awk -v newest="$newest" '
    match($8, /@GLIBC_2\.[0-9]+/) && substr($8, RSTART + 9, RLENGTH - 9) + 0 > newest {
      print "python.sh: the wheel needs " $8
      found = 1
    }
    END { exit found || NR == 0 }' >&2
}

# known_to_windows: whether the list that a wheel for Windows is linked with names what the compiled
# half takes of Python.
known_to_windows() {
  readelf --dyn-syms -W "$out"/inside/taper/*.so | awk '
    FNR == NR { known[$1] = 1; next }
    $7 == "UND" && $8 ~ /^_?Py/ && !($8 in known) {
      print "python.sh: bindings/python/windows/python3.def lacks " $8
      missing = 1
    }
    END { exit missing }' bindings/python/windows/python3.def - >&2
}

if [ "${1:-}" = --wheel ]; then
  build .
  exit
fi

# sanitized: the package with sanitizers in build/python-asan, which Python has to preload. Python
# keeps memory to its end, so leaks are not looked for.
sanitized() {
  cmake -S . -B build/python-asan -G Ninja -DCMAKE_BUILD_TYPE=Sanitize \
    -DTAPER_SANITIZE=address,undefined -DTAPER_PRECOMPILED_HEADERS=OFF -DTAPER_PYTHON=ON \
    -DTAPER_TESTS=OFF -DTAPER_BENCH=OFF >/dev/null
  cmake --build build/python-asan -j "${JOBS:-2}" --target taper_python >/dev/null
  cmake --install build/python-asan --component python --prefix "$out/site" >/dev/null
  cp bindings/python/taper/*.py "$out/site/taper"
  libraries="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libstdc++.so)"
  (cd bindings/python/tests && LD_PRELOAD=$libraries ASAN_OPTIONS=detect_leaks=0 \
    PYTHONPATH=$out/site TAPER_TESTS_UNDER_ASAN=1 \
    python3 run.py -q test_runtime test_compiler test_tools)
}

if [ "${1:-}" = --asan ]; then
  sanitized
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

# under_qemu: tests the wheel for 64-bit ARM with Debian's Python. A program that starts Python starts
# this script, which starts qemu.
under_qemu() {
  root=$(scripts/arm_libraries.sh python)
  cat >"$out/python" <<END
#!/bin/sh
exec qemu-aarch64 -L /usr/aarch64-linux-gnu \\
  -E LD_LIBRARY_PATH=$root/lib/aarch64-linux-gnu:$root/usr/lib/aarch64-linux-gnu \\
  $root/usr/bin/python3.11 "\$@"
END
  chmod +x "$out/python"
  (cd "$tests" && PYTHONPATH=$out/inside TAPER_TESTS_UNDER_QEMU=1 "$out/python" -c "
import run, sys
sys.executable = '$out/python'
sys.exit(run.main(['-q', 'test_runtime', 'test_compiler']))")
}

# under_wine: tests the wheel for Windows with a Python of its own. It writes into a pipe: a file is
# no stream for Python under wine.
under_wine() {
  python=$(scripts/windows_python.sh)
  export WINEPREFIX="$out/wine" WINEDEBUG=-all
  trap '/usr/lib/wine/wineserver64 -k >/dev/null 2>&1 || true; rm -rf "$out"' EXIT
  {
    cd "$tests"
    true | PYTHONPATH="Z:$out/inside;Z:$tests" /usr/lib/wine/wine64 "$python/python.exe" \
      run.py -q test_runtime test_compiler test_tools 2>&1 && touch "$out/passed"
  } | cat
  [ -e "$out/passed" ]
}

if [ "$platform" = win_amd64 ]; then
  echo "python.sh: with Python 3.11 for Windows alone, under wine"
  under_wine
  exit
fi
if [ "$arch" != "$(uname -m)" ]; then
  echo "python.sh: with Python 3.11 for $arch alone, under qemu"
  under_qemu
  exit
fi

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
  (cd "$tests" && "$2/bin/python" run.py -q test_runtime test_compiler test_stubs test_tools)
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
echo "python.sh: tested with Python alone:${found:- none}; not found here:${missing:- none}"
[ -n "$found" ] || exit 1
if [ "${CI:-}" = true ]; then  # Debian's is what deps.sh installs.
  debian=$(/usr/bin/python3 -c "import sys; print('%d.%d' % sys.version_info[:2])")
  case "$found " in *" $debian "*) ;; *)
    echo "python.sh: not tested with Debian's Python $debian" >&2
    exit 1
    ;;
  esac
fi

venv=$out/venv-${found##* }
pip="$venv/bin/pip install --quiet --disable-pip-version-check"
echo "python.sh: with NumPy"
$pip numpy
(cd "$tests" && TAPER_TESTS_NEED=numpy "$venv/bin/python" run.py -q)

echo "python.sh: with PyTorch"
if ! python=$(scripts/venv.sh); then
  echo "python.sh: PyTorch cannot be installed here" >&2
  [ "${CI:-}" != true ]
  exit
fi
# Beside the packages of that environment, which it must not change.
$pip --target "$out/site" --no-deps --no-index "$wheel"
(cd "$tests" && PYTHONPATH=$out/site TAPER_TESTS_NEED="numpy torch executorch sklearn" \
  "$python" run.py -q)
