#!/bin/sh
# Builds Taper for Windows on x86-64 and tests it under wine.
#
#   scripts/windows.sh build/release
#
# BUILD is this machine's. What it writes is what the programs for Windows have to write, byte for
# byte: every committed model, compiled for the kernels and for the backends, and the texts of errors.
# The tests of BUILD drive the command line for Windows, too. Then the tests of the runtime, of the
# tools and of all models (test/e2e) run as programs for Windows. Needs what `scripts/deps.sh windows`
# installs.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
build=$here/${1:?usage: windows.sh BUILD}
windows=$here/build/windows
out=$windows/run
programs="taper taper_with_test_backends executor_runner"
tests="runtime_test tools_test signing_test test_e2e_test"

fail() {
  echo "windows.sh: $1" >&2
  exit 1
}
[ -x "$build/bin/test_cli_test" ] || fail "$build/bin/test_cli_test is missing: run 'make build'"

scripts/xnnpack.sh windows
TAPER_WINDOWS_ROOT=$(scripts/windows_libraries.sh)
export TAPER_WINDOWS_ROOT
rm -rf "$out"
mkdir -p "$out/programs" "$out/here" "$out/there"
cmake --preset windows -DTAPER_TESTS=ON >"$out/configure.log" || fail "cannot be configured; see $out/configure.log"
cmake --build "$windows" -j "${JOBS:-$(nproc)}" --target $programs $tests taper_shared taper_compiler \
  c_api c_compile >"$out/build.log" || {
  grep -v '^\[' "$out/build.log" | head -40 >&2
  fail "the build failed"
}

# --- wine, with a registry of its own and a server that stays until the end.
export WINEPREFIX="$windows/wine" WINEDEBUG=-all
wine=/usr/lib/wine/wine64
wineserver=/usr/lib/wine/wineserver64
trap '"$wineserver" -k >/dev/null 2>&1 || true' EXIT
trap 'exit 1' HUP INT TERM
"$wineserver" -p
"$wine" cmd /c exit >"$out/wine.log" 2>&1 || fail "wine does not start; see $out/wine.log"
for program in $programs; do
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$wine" "$windows/bin/$program.exe" >"$out/programs/$program"
  chmod +x "$out/programs/$program"
done
taper=$out/programs/taper

# --- The same bytes: every committed model, on the kernels and for each backend.
backends=$(cd backends && ls -d */ | tr -d /)
for place in here there; do
  for model in "$here"/test/models/data/*.pt2; do
    name=$(basename "$model" .pt2)
    echo "export \"$model\" -o \"$out/$place/$name.pte\""
    for backend in $backends; do
      echo "export \"$model\" -o \"$out/$place/$name.$backend.pte\" --backend $backend"
    done
  done >"$out/$place.txt"
done
"$build/bin/taper" batch "$out/here.txt" >"$out/here.log" 2>&1 || true
"$taper" batch "$out/there.txt" >"$out/there.log" 2>&1 || true
sed -i "s,$out/there,$out/here,g" "$out/there.log"
cmp "$out/here.log" "$out/there.log" || {
  diff "$out/here.log" "$out/there.log" | head -20 >&2
  fail "the command line says something else than on this machine"
}
count=0
for file in "$out"/here/*.pte; do
  cmp "$file" "$out/there/${file##*/}" || fail "${file##*/} has other bytes than on this machine"
  count=$((count + 1))
done
echo "windows.sh: $count programs have the same bytes"

# --- Unusual paths, and files over 4 GB, most of which takes no space on the disk.
cd "$out"
folder="a folder with \"ä ñ 文 🕯'"
folder=$(echo "$folder" | tr -d '"')
mkdir "$folder"
cp "$here/test/models/data/add.pt2" "$folder/mödel é.pt2"
cp "$here"/test/models/data/add_in*.npy "$folder/"
"$taper" export "$folder/mödel é.pt2" -o "$folder/mödel é.pte" >/dev/null
cmp "$folder/mödel é.pte" here/add.pte || fail "a path with all kinds of letters changes the program"
cd "$here"

# --- The tests of the command line, which start its programs under wine.
TAPER_TEST_PROGRAMS="$out/programs" "$build/bin/test_cli_test" --gtest_brief=1

# --- Tests as programs for Windows.
for test in $tests; do
  "$wine" "$windows/bin/$test.exe" --gtest_brief=1 >"$out/$test.log" 2>&1 || {
    tail -40 "$out/$test.log" >&2
    fail "$test fails"
  }
done
"$wine" "$windows/bin/c_api.exe" "$out/here/add.pte" >/dev/null || fail "c_api.exe fails"
echo "windows.sh: tests pass"
