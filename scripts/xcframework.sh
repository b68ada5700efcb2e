#!/bin/sh
# On a Mac with Xcode: builds the device half for iOS, for its simulator and for macOS, each as one
# static library with the C API, and puts them together as bindings/swift/CTaper.xcframework, which
# the Swift package then uses. Also needs CMake, Ninja and FlatBuffers (Homebrew has them), and
# Highway for the fast kernels; without it the portable ones are built.
#
#   scripts/xcframework.sh
#
# No Mac is at hand where Taper is built: THIS SCRIPT HAS NEVER BEEN RUN ON ONE. scripts/macos.sh
# compiles the same sources for macOS and iOS elsewhere.
set -eu
cd "$(dirname "$0")/.."
out=build/xcframework
framework=bindings/swift/CTaper.xcframework

fail() {
  echo "xcframework.sh: $1" >&2
  exit 1
}
[ "$(uname -s)" = Darwin ] || fail "this is $(uname -s), but only a Mac with Xcode can do this"
for tool in xcodebuild libtool cmake ninja flatc; do
  command -v "$tool" >/dev/null || fail "$tool is missing"
done
# Where Highway's headers are, if they come from the same place as flatc.
CMAKE_PREFIX_PATH=$(dirname "$(dirname "$(command -v flatc)")")
export CMAKE_PREFIX_PATH

rm -rf "$out" "$framework"
mkdir -p "$out/headers/taper"
cp runtime/include/taper/taper.h "$out/headers/taper"
cat >"$out/headers/module.modulemap" <<'END'
module CTaper {
  header "taper/taper.h"
  link "c++"
  export *
}
END

set --
for preset in ios ios-simulator macos; do
  log=$out/$preset.log
  cmake --preset "$preset" >"$log" 2>&1 &&
    cmake --build --preset "$preset" --target taper_shared >>"$log" 2>&1 ||
    fail "$preset does not build; see $log"
  # The linker has made a whole libtaper.dylib of these objects and libraries.
  mkdir "$out/$preset"
  libtool -static -no_warning_for_no_symbols -o "$out/$preset/libtaper.a" \
    $(find "build/$preset/CMakeFiles/taper_shared.dir" -name '*.o') "build/$preset"/libtaper_*.a
  set -- "$@" -library "$out/$preset/libtaper.a" -headers "$out/headers"
done
xcodebuild -create-xcframework "$@" -output "$framework"
cmake --install build/ios --component licenses --prefix "$framework" >"$out/licenses.log"
scripts/check_licenses.sh "$framework/licenses/taper.spdx" "$framework/licenses" flatbuffers
