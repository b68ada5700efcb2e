#!/bin/sh
# Builds the Swift package (bindings/swift) and runs its tests.
#
#   scripts/swift.sh [BUILD]    BUILD defaults to build/release
#
# BUILD has the command line, which compiles the tests' programs, and libtaper. Where no Swift is on
# PATH it uses Debian's (scripts/swift_root.sh) in a root of its own, as which only root may run it.
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
  [ "$(id -u)" -eq 0 ] || fail "there is no Swift on PATH, and only root can use Debian's"
  root=$(scripts/swift_root.sh)
  tree=/tree
fi
lib=$tree/$(dirname "$(find "$out/prefix" -name pkgconfig)")
set -- env "PATH=/usr/libexec/swift/bin:$PATH" "LD_LIBRARY_PATH=$lib" "TAPER_ROOT=$tree" \
  "TAPER_PROGRAMS=$tree/$out/programs" swift-test --package-path "$tree/bindings/swift" \
  --scratch-path "$tree/$out/scratch" -Xcc "-I$tree/$out/prefix/include" -Xlinker "-L$lib"
[ -n "$root" ] || exec "$@"
# What is mounted is seen by this process alone, and goes with it.
exec unshare --mount sh -euc '
  mount -t proc proc "$0/proc"
  mount --bind /dev "$0/dev"
  mount --bind . "$0/tree"
  exec chroot "$0" "$@"' "$root" "$@"
