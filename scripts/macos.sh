#!/bin/sh
# Compiles the device half on Linux for Macs with 64-bit ARM and links libtaper.dylib, and compiles
# the runtime for iOS: a check that nothing in it is of Linux alone. Nothing is run, and a Mac needs
# none of this. The compiler, macOS's headers and the linker are those of Zig's Python package, which
# lies in the user's cache (0.4 GB); the first time it also compiles the C++ library, which takes
# minutes. Needs what `scripts/deps.sh macos` installs.
#
#   scripts/macos.sh
set -eu
cd "$(dirname "$0")/.."
package=ziglang==0.17.1
tools=${XDG_CACHE_HOME:-$HOME/.cache}/taper/macos-${package#*==}

fail() {
  echo "macos.sh: $1" >&2
  exit 1
}

# tool FOLDER NAME COMMAND: a program of a name that CMake and ccache know.
tool() {
  mkdir -p "$work/$1"
  cat >"$work/$1/$2" <<END
#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR="$tools/cache" ZIG_LOCAL_CACHE_DIR="$tools/cache"
exec "$tools/ziglang/zig" $3 "\$@"
END
  chmod +x "$work/$1/$2"
}
get_tools() {
  echo "macos.sh: downloading $package, once" >&2
  mkdir -p "${tools%/*}"
  work=$(mktemp -d "$tools.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$work" \
    "$package" >"$work/log" 2>&1 || fail "cannot install $package: $(tail -n 1 "$work/log")"
  # The package has the headers of macOS only; those of C are the same on iOS.
  lib=$tools/ziglang/lib
  headers="-isystem $lib/libcxx/include -isystem $lib/libc/include/any-darwin-any"
  for system in macos.12.0 ios.15.0; do
    target="-target aarch64-$system"
    [ "$system" = macos.12.0 ] || target="$target $headers"
    tool "${system%%.*}" clang "cc $target"
    tool "${system%%.*}" clang++ "c++ $target"
    tool "${system%%.*}" ar ar
    tool "${system%%.*}" ranlib ranlib
  done
  rm -rf "$tools"
  mv -T "$work" "$tools"
}

# compile SYSTEM TARGET...
compile() {
  build=build/$1-cross
  export TAPER_APPLE_TOOLS="$tools/$1"
  shift
  mkdir -p "$build"
  cmake --preset apple-cross -B "$build" >"$build/configure.log" 2>&1 ||
    fail "cannot be configured; see $build/configure.log"
  cmake --build "$build" -j "${JOBS:-$(nproc)}" --target "$@" >"$build/build.log" 2>&1 || {
    grep -v '^\[' "$build/build.log" | head -40 >&2
    fail "the build failed; see $build/build.log"
  }
}

[ -x "$tools/ios/clang++" ] || get_tools
compile macos taper_shared
compile ios taper_devtools  # And what it stands on: the runtime and the C API.
echo "macos.sh: libtaper.dylib is linked ($(wc -c <build/macos-cross/libtaper.dylib) bytes)," \
  "and the runtime compiles for iOS"
