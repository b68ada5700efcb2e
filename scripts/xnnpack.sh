#!/bin/sh
# Builds XNNPACK for the delegate: the pinned sources of 2024-11, built statically with clang in the
# user's cache, where all checkouts share it. Prints nothing if it has been built. pthreadpool is that
# of 2025-10: a call no longer waits for threads that have not begun to work on it, which on a busy
# machine took a time slice for each operator.
#
#   scripts/xnnpack.sh [TARGET]        downloads and builds it, if that has not been done yet
#   scripts/xnnpack.sh where [TARGET]  prints its folder (include/, lib/) if it is built, else nothing
#
# TARGET is the machine that it is built for: this one, aarch64 or armv7 (Linux, with Debian's cross libraries),
# android (64-bit ARM, with the NDK's compiler; ANDROID_NDK names its folder), windows (x86-64, with
# the headers of mingw-w64), or asan or tsan (this one, with AddressSanitizer or ThreadSanitizer, for
# the presets of those names; micro-kernels, which read beyond their rows on purpose and know nothing
# of threads, are those of the ordinary build).
#
# pinned_sources.sh says where the sources come from. backends/xnnpack/library holds Taper's changes;
# a change that does not apply stops the build. Whatever compiler builds Taper, clang builds XNNPACK:
# gcc 12 gives half the speed.
set -eu
recipe=20241108-39  # Must be changed with anything that changes what is built.

# SHA-256, archive, Debian package and suite.
sources="\
90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99 xnnpack_0.0~git20241108.4ea82e5.orig.tar.xz xnnpack/trixie
7a385b6585abe8f8658952c50b44a1dabe200de2c88eabe65d15168b8a82295c pthreadpool_0.0~git20251020.0e6ca13.orig.tar.xz pthreadpool/sid
557ca404a3836b9f335a3a06b65ff9fe9dbaaefab7fb5c0185f53d9f33615a10 cpuinfo_0.0~git20250905.877328f.orig.tar.xz cpuinfo/sid
7d7782b37b74136e0e12593a2a93ccbe7db831f4374cc408e44623d9b708b54e fp16_0.0~git20200514.4dfe081.orig.tar.xz fp16/trixie
7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b fxdiv_0.0~git20200417.b408327.orig.tar.xz fxdiv/trixie
32bbce81289866e3419e36cab6541bbddb6d45d3db10a7dcd2598dc9d0c8c6f4 psimd_0.0~git20200517.072586a.orig.tar.xz psimd/trixie"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/taper
here_is=$(uname -m)
where=""
[ "${1:-}" != where ] || { where=yes && shift; }
target=${1:-$here_is}
prefix=$cache/xnnpack-$recipe-$target
if [ -n "$where" ] || [ -f "$prefix/built" ]; then
  [ -z "$where" ] || [ ! -f "$prefix/built" ] || echo "$prefix"
  exit 0
fi

here=$(cd "$(dirname "$0")" && pwd)
library=$here/../backends/xnnpack/library
more_flags=""
ordinary=""  # The folder of the build that micro-kernels are taken from.
targets=XNNPACK
compilers="-DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_ASM_COMPILER=clang-14"
case "$target" in
  "$here_is") "$here"/deps.sh clang ;;
  asan | tsan)
    "$0"
    ordinary=$("$0" where)
    case "$target" in
      asan) more_flags="-fsanitize=address -fno-omit-frame-pointer" ;;
      tsan) more_flags="-fsanitize=thread" ;;
    esac
    targets="XNNPACK pthreadpool"
    compilers="$compilers -DCMAKE_OPTIMIZE_DEPENDENCIES=ON"  # Without micro-kernels.
    ;;
  aarch64 | armv7)
    case "$target" in
      aarch64) "$here"/deps.sh clang arm64 && triple=aarch64-linux-gnu ;;
      armv7) "$here"/deps.sh clang armv7 && triple=arm-linux-gnueabihf ;;
    esac
    compilers="$compilers -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$target"
    for language in C CXX ASM; do
      compilers="$compilers -DCMAKE_${language}_COMPILER_TARGET=$triple"
    done
    ;;
  windows)
    "$here"/deps.sh clang windows
    # Assembly passes arguments as other systems do, and the matrix unit has to be asked for first.
    compilers="-DCMAKE_TOOLCHAIN_FILE=$here/../cmake/toolchains/windows.cmake
      -DXNNPACK_ENABLE_ASSEMBLY=OFF -DXNNPACK_ENABLE_AVX512AMX=OFF"
    ;;
  android)
    ndk=${ANDROID_NDK:?names the folder of the Android NDK}
    compilers="-DCMAKE_TOOLCHAIN_FILE=$ndk/build/cmake/android.toolchain.cmake
      -DANDROID_ABI=arm64-v8a -DANDROID_PLATFORM=android-24"
    ;;
  *) echo "xnnpack.sh: unknown argument '$target' (where, aarch64, armv7, android, windows, asan, tsan)" >&2; exit 2 ;;
esac
mkdir -p "$cache"
work=$(mktemp -d "$cache/xnnpack-build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
. "$here/pinned_sources.sh"

echo "xnnpack.sh: downloading and building XNNPACK, which takes minutes and is done once" >&2
unpack_sources xnnpack

mkdir -p "$work/xnnpack/src/backends/xnnpack/library"
cp "$library"/*.h "$library"/*.c "$library"/*.cpp "$work/xnnpack/src/backends/xnnpack/library/"
"$here/apply_series.sh" "$library/patches" "$work/xnnpack"
# What Visual C++ has, and MinGW has not or elsewhere: this macro, in a file for Windows alone, ...
sed -i '1i #define max(a, b) ((a) > (b) ? (a) : (b))' "$work/cpuinfo/src/x86/windows/init.c"
# ... alloca, and the threads of C11.
[ "$target" != windows ] || {
  sed -i 's/<alloca.h>/<malloc.h>/' "$work/pthreadpool/src/pthreads.c"
  more_flags=-DPTHREADPOOL_USE_PTHREADS=1
}

echo "xnnpack.sh: building XNNPACK once into $prefix" >&2
flags="-ffunction-sections -fdata-sections -ffile-prefix-map=$work=. $more_flags"
# In the environment, as a toolchain may have flags of its own.
CFLAGS=$flags CXXFLAGS=$flags cmake -S "$work/xnnpack" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  $compilers \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
  -DXNNPACK_LIBRARY_TYPE=static -DPTHREADPOOL_LIBRARY_TYPE=static -DCPUINFO_LIBRARY_TYPE=static \
  -DXNNPACK_BUILD_TESTS=OFF -DXNNPACK_BUILD_BENCHMARKS=OFF -DXNNPACK_BUILD_ALL_MICROKERNELS=OFF \
  -DXNNPACK_ENABLE_KLEIDIAI=OFF -DXNNPACK_ENABLE_AVXVNNIINT8=OFF -DXNNPACK_USE_SYSTEM_LIBS=OFF \
  -DPTHREADPOOL_SOURCE_DIR="$work/pthreadpool" -DCPUINFO_SOURCE_DIR="$work/cpuinfo" \
  -DFP16_SOURCE_DIR="$work/fp16" -DFXDIV_SOURCE_DIR="$work/fxdiv" \
  -DPSIMD_SOURCE_DIR="$work/psimd" -DCPUINFO_BUILD_TOOLS=OFF -DCPUINFO_BUILD_UNIT_TESTS=OFF \
  -DCPUINFO_BUILD_MOCK_TESTS=OFF -DCPUINFO_BUILD_BENCHMARKS=OFF >"$work/log" 2>&1 ||
  fail "cannot configure XNNPACK: $(grep -m 1 -i 'error' "$work/log" || tail -n 1 "$work/log")"
build_sources "$targets"

out=$work/out
mkdir -p "$out/include" "$out/lib" "$out/licenses"
cp "$work/xnnpack/include/xnnpack.h" "$work/pthreadpool/include/pthreadpool.h" \
  "$work/cpuinfo/include/cpuinfo.h" "$out/include/"
[ -z "$ordinary" ] || cp "$ordinary"/lib/*.a "$out/lib/"
find "$work/build" -name '*.a' -exec cp {} "$out/lib/" \;
for name in xnnpack pthreadpool cpuinfo fp16 fxdiv psimd; do
  cp "$work/$name/LICENSE" "$out/licenses/$name"
done
touch "$out/built"
# Another build may have finished first; its result is kept.
[ -f "$prefix/built" ] || { rm -rf "$prefix" && mv -T "$out" "$prefix"; }
