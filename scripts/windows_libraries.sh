#!/bin/sh
# Builds the libraries that Taper needs on Windows into the user's cache, where all checkouts share
# them, and prints their folder: simdjson and libsodium from pinned sources of Debian, GoogleTest from
# the sources that libgtest-dev brings, and zlib and cxxopts as Debian's packages have them.
# pinned_sources.sh says where the sources come from.
set -eu
recipe=1  # Must be changed with anything that changes what is built.

# SHA-256, archive, Debian package and suite.
sources="\
156b1bc5eb0561b2bd166b46d191fd3d95a3e709cc63761477d3b7aec2b6e9ed simdjson_3.0.1.orig.tar.gz simdjson/bookworm
d59323c6b712a1519a5daf710b68f5e7fde57040845ffec53850911f10a5d4f4 libsodium_1.0.18.orig.tar.gz libsodium/bookworm"

here=$(cd "$(dirname "$0")" && pwd)
prefix=${XDG_CACHE_HOME:-$HOME/.cache}/taper/windows-libraries-$recipe
[ ! -f "$prefix/complete" ] || { echo "$prefix" && exit; }

mkdir -p "${prefix%/*}"
work=$(mktemp -d "$prefix.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
. "$here/pinned_sources.sh"

echo "windows_libraries.sh: building simdjson, libsodium and GoogleTest once into $prefix" >&2
unpack_sources
out=$work/out
mkdir -p "$out/include" "$out/lib/pkgconfig"

# build NAME FOLDER OPTIONS...: builds and installs sources that CMake describes.
build() {
  name=$1
  shift
  cmake -S "$@" -B "$work/build-$name" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$here/../cmake/toolchains/windows.cmake" \
    -DCMAKE_INSTALL_PREFIX="$out" -DBUILD_SHARED_LIBS=OFF >"$work/log" 2>&1 &&
    cmake --build "$work/build-$name" -j "${JOBS:-$(nproc)}" --target install >>"$work/log" 2>&1 ||
    fail "cannot build $name: $(grep -m 1 -i error "$work/log" || tail -n 1 "$work/log")"
}
build simdjson "$work/simdjson" -DSIMDJSON_DEVELOPER_MODE=OFF
build googletest /usr/src/googletest -DBUILD_GMOCK=OFF

# libsodium's own build needs autotools. Its plain C files and Debian's headers of the same version
# are enough.
cp /usr/include/sodium/version.h "$work/libsodium/src/libsodium/include/sodium/"
cat >"$work/libsodium/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(libsodium LANGUAGES C)
file(GLOB_RECURSE sources src/libsodium/*.c)
add_library(sodium STATIC ${sources})
target_include_directories(sodium PRIVATE src/libsodium/include src/libsodium/include/sodium)
target_compile_definitions(sodium PRIVATE CONFIGURED=1 SODIUM_STATIC NATIVE_LITTLE_ENDIAN
  HAVE_TI_MODE HAVE_CPUID HAVE_INTTYPES_H HAVE_STDINT_H _CRT_RAND_S)
target_compile_options(sodium PRIVATE -w)
install(TARGETS sodium DESTINATION lib)
install(DIRECTORY src/libsodium/include/ DESTINATION include FILES_MATCHING PATTERN *.h)
END
build libsodium "$work/libsodium"

cp /usr/include/cxxopts.hpp "$out/include/"
for library in "zlib -lz" "cxxopts"; do
  echo "Name: ${library%% *}
Description: of Debian
Version: 1
Cflags: -I$prefix/include
Libs: ${library#${library%% *}}" >"$out/lib/pkgconfig/${library%% *}.pc"
done
cp "$(dirname "$(find /usr/x86_64-w64-mingw32 -name libz.a)")/libz.a" "$out/lib/"
sed -i "s|$out|$prefix|g" "$out"/lib/pkgconfig/*.pc
touch "$out/complete"
# Another run may have finished first; its result is kept.
[ -f "$prefix/complete" ] || { rm -rf "$prefix" && mv -T "$out" "$prefix"; }
echo "$prefix"
