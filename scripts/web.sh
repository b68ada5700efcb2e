#!/bin/sh
# Builds the npm package (bindings/web) and tests it in Node and in a headless Chromium.
#
#   scripts/web.sh [BUILD]              all of it; BUILD defaults to build/release
#   scripts/web.sh --package [BUILD]    only the package and the example, in build/web
#
# BUILD has the command line, which compiles the tests' programs. build/web gets package/ and the
# same as a file for npm, taper-runtime-*.tgz; example/, the page of examples/web; and programs/. A
# module that is trimmed to MobileNetV2 is built and run, too, and both sizes are held against their
# limits. Needs what `scripts/deps.sh web` installs.
set -eu
cd "$(dirname "$0")/.."
what=all
if [ "${1:-}" = --package ]; then
  what=package
  shift
fi
build=${1:-build/release}
taper=$(pwd)/$build/bin/taper
out=build/web
full_limit=921600  # 900 KB, compressed, with every kernel.
trimmed_limit=163840

fail() {
  echo "web.sh: $1" >&2
  exit 1
}
[ -x "$taper" ] || fail "$taper is missing: run 'make build'"

# build_modules FOLDER TARGET OPTIONS...: FOLDER/bin/taper*.wasm.
build_modules() {
  folder=$1 target=$2
  shift 2
  cmake --preset wasm -B "$folder" "-DTAPER_COMMAND=$taper" "$@" >"$folder.log" 2>&1 &&
    cmake --build "$folder" --target "$target" >>"$folder.log" 2>&1 || {
    tail -20 "$folder.log" >&2
    fail "the modules do not compile"
  }
}

# size NAME FILE LIMIT: prints the size of a module, and fails if it is over its limit.
size() {
  bytes=$(gzip -9 -c "$2" | wc -c)
  echo "web.sh: $1: $(wc -c <"$2") bytes, $bytes with gzip (limit $3)"
  [ "$bytes" -le "$3" ] || fail "$2 is too large"
}

mkdir -p "$out"
rm -rf "$out/package" "$out/example" "$out"/*.tgz
for relaxed in OFF ON; do
  folder=build/wasm
  [ "$relaxed" = OFF ] || folder=build/wasm-relaxed
  build_modules "$folder" taper_web_modules "-DTAPER_WEB_RELAXED=$relaxed"
  cmake --install "$folder" --component web --prefix "$out/package" >/dev/null
done
cmake --install build/wasm --component licenses --prefix "$out/package" >/dev/null
scripts/check_licenses.sh "$out/package/licenses/taper.spdx" "$out/package/licenses" \
  flatbuffers wasi-libc libcxx
version=$(sed -n 's/.*"version": "\(.*\)".*/\1/p' "$out/package/package.json")
tar -C "$out" -czf "$out/taper-runtime-$version.tgz" package
mkdir "$out/example"
cp -r examples/web/index.html "$out/package/taper" "$out/example"
"$taper" export demo/digits.pt2 -o "$out/example/digits.pte" >/dev/null
for form in "" -threads -relaxed -relaxed-threads; do
  size "every kernel$form" "$out/package/taper/taper$form.wasm" "$full_limit"
done
[ "$what" = all ] || exit 0

programs=$out/programs
python3 bindings/programs.py "$taper" "$programs"
build_modules build/wasm-trimmed taper_web "-DTAPER_WEB_MODELS=$(pwd)/$programs/mobilenet_v2.pte"
cp build/wasm-trimmed/bin/taper.wasm "$programs/trimmed.wasm"
size "trimmed to MobileNetV2" "$programs/trimmed.wasm" "$trimmed_limit"

# The types, without the package's tests in it, which follow.
tsc --noEmit --strict --target es2022 --moduleResolution node bindings/web/tests/types.ts ||
  fail "the types are wrong"
cp -r bindings/web/tests "$out/package/tests"
echo "web.sh: in Node $(node --version)"
node bindings/web/tests/in_node.mjs "$out/package" "$programs" || fail "checks failed in Node"
echo "web.sh: in Chromium"
python3 bindings/web/tests/in_browser.py "$out/package" "$programs" "$out/example" ||
  fail "checks failed in Chromium"
rm -rf "$out/package/tests"
