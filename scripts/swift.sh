#!/bin/sh
# Builds the Swift package (bindings/swift) and runs its tests, and those of examples/ios.
#
#   scripts/swift.sh [BUILD]    BUILD defaults to build/release
#
# BUILD has the command line, which compiles the tests' programs, and libtaper. Where no Swift is on
# PATH it uses Debian's (scripts/swift_root.sh). Needs what `scripts/deps.sh swift` gets.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
out=build/swift

fail() {
  echo "swift.sh: $1" >&2
  exit 1
}
[ -x "$build/bin/taper" ] || fail "$build/bin/taper is missing: run 'make build'"
rm -rf "$out/prefix" "$out/programs"
mkdir -p "$out"
cmake --install "$build" --prefix "$out/prefix" >"$out/install.log" ||
  fail "$build cannot be installed; see $out/install.log"
python3 bindings/programs.py "$build/bin/taper" "$out/programs" 2>"$out/programs.log" ||
  fail "the tests' programs do not compile; see $out/programs.log"

tree=$PWD root=""
if ! command -v swift-test >/dev/null; then
  root=$(scripts/swift_root.sh)
  tree=/tree
fi
lib=$tree/$(dirname "$(find "$out/prefix" -name pkgconfig)")

# tests PACKAGE: runs the tests of the package in that folder.
tests() {
  log=$out/$(echo "$1" | tr / _).log
  set -- env "PATH=/usr/libexec/swift/bin:$PATH" "LD_LIBRARY_PATH=$lib" "TAPER_ROOT=$tree" \
    "TAPER_PROGRAMS=$tree/$out/programs" swift-test --package-path "$tree/$1" \
    --scratch-path "$tree/$out/scratch/$1" -Xcc "-I$tree/$out/prefix/include" -Xlinker "-L$lib"
  # What is mounted is seen by these processes alone, and goes with them.
  [ -z "$root" ] || set -- unshare --mount sh -euc '
    mount -t proc proc "$0/proc"
    mount --bind /dev "$0/dev"
    mount --bind . "$0/tree"
    exec chroot "$0" "$@"' "$root" "$@"
  "$@" >"$log" 2>&1 || {
    grep -v ' \(started\|passed\)' "$log" | tail -60 >&2
    fail "tests failed; see $log"
  }
  grep 'Executed [0-9]* test' "$log" | tail -n 1
}
tests bindings/swift
tests examples/ios
