#!/bin/sh
# Builds the Swift package (bindings/swift) and runs its tests.
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
set -- env "PATH=/usr/libexec/swift/bin:$PATH" "LD_LIBRARY_PATH=$lib" "TAPER_ROOT=$tree" \
  "TAPER_PROGRAMS=$tree/$out/programs" swift-test --package-path "$tree/bindings/swift" \
  --scratch-path "$tree/$out/scratch" -Xcc "-I$tree/$out/prefix/include" -Xlinker "-L$lib"
# What is mounted is seen by these processes alone, and goes with them.
if [ -n "$root" ]; then
  set -- unshare --mount sh -euc '
    mount -t proc proc "$0/proc"
    mount --bind /dev "$0/dev"
    mount --bind . "$0/tree"
    exec chroot "$0" "$@"' "$root" "$@"
fi
"$@" >"$out/tests.log" 2>&1 || {
  grep -v ' \(started\|passed\)' "$out/tests.log" | tail -60 >&2
  fail "tests failed; see $out/tests.log"
}
grep 'Executed [0-9]* tests' "$out/tests.log" | tail -n 1
