#!/bin/sh
# Builds glslang 15.1 in the user's cache, where all checkouts share it. Debian 12's compilers of GLSL
# do not know GL_KHR_cooperative_matrix, which shaders for matrix units are written in. Prints nothing
# if it has been built.
#
#   scripts/glslang.sh          downloads and builds it, if that has not been done yet
#   scripts/glslang.sh where    prints the path of the compiler if it is built, else nothing
#
# pinned_sources.sh says where the sources come from.
set -eu
recipe=15.1.0  # Must be changed with anything that changes what is built.

# SHA-256, archive, Debian package and suite.
sources="\
180f17ea51e6b71bf57b9e0fea78ba3ecd76e3ec8e4c91f0771b922eb22bf4b2 glslang_15.1.0+1.4.309.0.orig.tar.gz glslang/trixie"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/taper
prefix=$cache/glslang-$recipe-$(uname -m)

case "${1:-}" in
  where) [ ! -f "$prefix/built" ] || echo "$prefix/glslang"; exit 0 ;;
  "") [ ! -f "$prefix/built" ] || exit 0 ;;
  *) echo "glslang.sh: unknown argument '$1' (where)" >&2; exit 2 ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
"$here"/deps.sh
mkdir -p "$cache"
work=$(mktemp -d "$cache/glslang-build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
. "$here/pinned_sources.sh"

echo "glslang.sh: downloading and building glslang, which takes a minute and is done once" >&2
unpack_sources

cmake -S "$work/glslang" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DBUILD_SHARED_LIBS=OFF -DENABLE_OPT=OFF -DENABLE_HLSL=OFF \
  -DGLSLANG_TESTS=OFF -DENABLE_PCH=OFF >"$work/log" 2>&1 ||
  fail "cannot configure glslang: $(grep -m 1 -i 'error' "$work/log" || tail -n 1 "$work/log")"
build_sources glslang-standalone

out=$work/out
mkdir "$out"
cp "$work/build/StandAlone/glslang" "$work/glslang/LICENSE.txt" "$out/"
touch "$out/built"
# Another build may have finished first; its result is kept.
[ -f "$prefix/built" ] || { rm -rf "$prefix" && mv -T "$out" "$prefix"; }
