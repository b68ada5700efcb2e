#!/bin/sh
# Puts a Python for Windows into the user's cache, where all checkouts share it, and prints its
# folder. Its python.exe runs under wine, for tests of the wheel.
#
# The interpreter is python311.dll of the Python Software Foundation, which Panda3D's wheel for
# Windows has in it, together with the compiled modules. The modules in Python are those of this
# machine's Python 3.11. python.exe and python3.dll, which only call and forward, are made here.
set -eu
recipe=1  # Must be changed with anything that changes what is made.
wheel=panda3d-1.10.16-cp311-cp311-win_amd64.whl
sum=37acfb92655c4226879f95c988e2ef1449a53c54486d6c1ebc00e2772429af82
names=$(cd "$(dirname "$0")/.." && pwd)/bindings/python/windows/python3.def

root=${XDG_CACHE_HOME:-$HOME/.cache}/taper/windows-python-$recipe-$(sha256sum "$names" | cut -c 1-8)
[ ! -f "$root/complete" ] || { echo "$root" && exit; }

fail() {
  echo "windows_python.sh: $1" >&2
  exit 1
}
mkdir -p "${root%/*}"
work=$(mktemp -d "$root.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

for python in python3.11 /usr/bin/python3; do
  library=$("$python" -c "import sys, sysconfig
assert sys.version_info[:2] == (3, 11)
print(sysconfig.get_path('stdlib'))" 2>/dev/null) && break
done
[ -n "$library" ] || fail "Python 3.11 is not here"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
  --platform win_amd64 --python-version 3.11 --abi cp311 -d "$work" panda3d==1.10.16 >"$work/log" 2>&1 ||
  fail "cannot download $wheel: $(tail -n 1 "$work/log")"
echo "$sum  $work/$wheel" | sha256sum --check --quiet >&2 || fail "$wheel has another checksum"

mkdir "$work/wheel" "$work/root"
python3 -m zipfile -e "$work/$wheel" "$work/wheel"
rm "$work"/wheel/deploy_libs/api-ms-*  # wine has its own.
cp "$work"/wheel/deploy_libs/* "$work/root"
cp -r "$library" "$work/root/Lib"
rm -rf "$work"/root/Lib/site-packages "$work"/root/Lib/dist-packages "$work"/root/Lib/lib-dynload \
  "$work"/root/Lib/test "$work"/root/Lib/config-* "$work"/root/Lib/sitecustomize.py
find "$work/root/Lib" -name __pycache__ -prune -exec rm -rf {} +

cc=x86_64-w64-mingw32-gcc
cat >"$work/python.c" <<'END'
#include <wchar.h>
__declspec(dllimport) int Py_Main(int, wchar_t**);
int wmain(int argc, wchar_t** argv) { return Py_Main(argc, argv); }
END
echo 'int DllMain(void* a, unsigned b, void* c) { return 1; }' >"$work/dll.c"
printf 'LIBRARY python311.dll\nEXPORTS\nPy_Main\n' >"$work/main.def"
# The names of python3.def, each forwarded.
awk '/^ / { $1 = $1 " = python311." $1 } { print }' "$names" >"$work/forward.def"
x86_64-w64-mingw32-dlltool --input-def "$work/main.def" --output-lib "$work/main.a"
$cc -municode "$work/python.c" "$work/main.a" -o "$work/root/python.exe"
$cc -shared -nostdlib -e DllMain "$work/dll.c" "$work/forward.def" -o "$work/root/python3.dll"

touch "$work/root/complete"
# Another run may have finished first; its result is kept.
[ -f "$root/complete" ] || { rm -rf "$root" && mv -T "$work/root" "$root"; }
echo "$root"
