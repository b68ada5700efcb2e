#!/bin/sh
# XNNPACK for the delegate: the pinned sources of 2024-11, built statically with clang into the
# user's cache, where all checkouts share it. Silent when it is there.
#
#   scripts/xnnpack.sh          gets and builds it, if it is not there
#   scripts/xnnpack.sh where    prints its folder (include/, lib/) if it is there, else nothing
#
# The sources come from $TAPER_DEPS_DIR, a folder that holds the archives named below, else from
# the Debian mirror of this machine, with a configuration of its own: the system's lists of packages
# stay as they are. Whatever compiler builds Taper, clang builds this: gcc 12 gives half the speed.
set -eu
recipe=20241108-27  # To be changed with anything below that changes what is built.

# SHA-256, archive, Debian package and suite. What Debian adds to the sources is not used.
sources="\
90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99 xnnpack_0.0~git20241108.4ea82e5.orig.tar.xz xnnpack/trixie
4cc3cbd933b28131d2a34edc54f76af9fb41bc490af5eae1a5bd3cd07ea90708 pthreadpool_0.0~git20240616.560c60d.orig.tar.xz pthreadpool/trixie
557ca404a3836b9f335a3a06b65ff9fe9dbaaefab7fb5c0185f53d9f33615a10 cpuinfo_0.0~git20250905.877328f.orig.tar.xz cpuinfo/sid
7d7782b37b74136e0e12593a2a93ccbe7db831f4374cc408e44623d9b708b54e fp16_0.0~git20200514.4dfe081.orig.tar.xz fp16/trixie
7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b fxdiv_0.0~git20200417.b408327.orig.tar.xz fxdiv/trixie
32bbce81289866e3419e36cab6541bbddb6d45d3db10a7dcd2598dc9d0c8c6f4 psimd_0.0~git20200517.072586a.orig.tar.xz psimd/trixie"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/taper
prefix=$cache/xnnpack-$recipe-$(uname -m)

case "${1:-}" in
  where) [ ! -f "$prefix/built" ] || echo "$prefix"; exit 0 ;;
  "") [ ! -f "$prefix/built" ] || exit 0 ;;
  *) echo "xnnpack.sh: unknown argument '$1' (where)" >&2; exit 2 ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
library=$here/../backends/xnnpack/library
"$here"/deps.sh clang
mkdir -p "$cache"
work=$(mktemp -d "$cache/xnnpack-build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
  echo "xnnpack.sh: $1" >&2
  exit 1
}

# The one mirror that this machine installs Debian from, in either form that its lists may have.
mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
    2>/dev/null | grep -v '^ *#' | grep -v security | grep -o '\(https\{0,1\}\|mirror+file\):[^ ]*/debian/\{0,1\}\( \|$\)' |
    head -n 1 | tr -d ' '
}

# Debian's own description of the sources may be missing from a mirror that still has the archives;
# apt-get then fails although the archive has come: only its checksum counts.
from_debian() {
  [ -n "${apt:-}" ] || {
    base=$(mirror)
    [ -n "$base" ] || base=http://deb.debian.org/debian
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    for suite in trixie sid; do
      echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $base $suite main"
    done >"$work/apt/sources.list"
    apt="apt-get -q -o Dir::Etc::sourcelist=$work/apt/sources.list -o Dir::Etc::sourceparts=-
      -o Dir::State::lists=$work/apt/lists -o Dir::Cache=$work/apt/cache"
    $apt update >"$work/apt/log" 2>&1 || true
  }
  (cd "$work/archives" && $apt source --download-only "$1" >>"$work/apt/log" 2>&1) || true
}

is_good() { [ -f "$2" ] && echo "$1  $2" | sha256sum --check --status; }

echo "xnnpack.sh: XNNPACK is not here yet: getting its sources, then building them (minutes, once)" >&2
mkdir "$work/archives"
while read -r sum archive package; do
  place=$work/archives/$archive
  if [ -n "${TAPER_DEPS_DIR:-}" ]; then
    place=$TAPER_DEPS_DIR/$archive
    is_good "$sum" "$place" || fail "$place is missing or not the archive that is pinned"
  else
    from_debian "$package"
    is_good "$sum" "$place" ||
      fail "cannot get $archive from Debian ($package); put it into a folder, set TAPER_DEPS_DIR to it"
  fi
  name=${archive%%_*}
  mkdir "$work/$name"
  strip=1
  [ "$name" != xnnpack ] || strip=0  # Its archive has no folder around it.
  tar -xf "$place" -C "$work/$name" --strip-components=$strip
done <<END
$sources
END

# Kernels of 14 rows write rows that there are not over the last one, with parameters of the row that
# they stand for: 13 copies are needed, 10 are made.
sed -i 's/define XNN_EXTRA_QUANTIZATION_PARAMS 10/define XNN_EXTRA_QUANTIZATION_PARAMS 16/' \
  "$work/xnnpack/include/xnnpack.h"

# clang 14 would keep the pointers to the rows of a convolution in a vector, and take them out of it
# one by one in the innermost loop. The option counts only behind the last -O, so not in CMAKE_C_FLAGS.
sed -i 's/COMPILE_FLAGS " -fno-math-errno ")/COMPILE_FLAGS " -fno-math-errno -fno-slp-vectorize ")/' \
  "$work/xnnpack/CMakeLists.txt"

# The x86 kernels that approximate square roots turn infinity, and 0 under a reciprocal, into NaN.
x86='__\(avx512f\|fma3\|avx\|sse\)_rsqrt_u[0-9]*;'
sed -i -e "/xnn_f32_vsqrt/s/$x86/__scalar_sqrt_u1;/" -e "/xnn_f32_vrsqrt/s/$x86/__scalar_rsqrt_u1;/" \
  "$work/xnnpack/src/configs/unary-elementwise-config.c"

# Of two operands, one of them NaN, minimum and maximum on x86 give the second: the result, then, and
# not its bound.
for family in gemm igemm dwconv avgpool pavgpool vclamp vmulcaddc; do
  find "$work/xnnpack/src/f32-$family" -name '*.c' -exec sed -i -E \
    's/(_mm(256|512)?_m(ax|in)_ps)\((\w+), (v(output_)?m(in|ax))\)/\1(\5, \4)/' {} +
done

# The same where they are what is asked for.
find "$work/xnnpack/src/f32-vbinary" "$work/xnnpack/src/f32-maxpool" -name '*.c' \
  -exec grep -l '_mm[0-9]*_m\(ax\|in\)_ps' {} + | while read -r file; do
  sed -i -E -e '1i #include "backends/xnnpack/library/nan_extremes.h"' \
    -e 's/_mm512_maskz_(max|min)_ps\(vmask, /taper_\1_512(/g' \
    -e 's/_mm_(max|min)_ps/taper_\1_128/g; s/_mm(256|512)_(max|min)_ps/taper_\2_\1/g' "$file"
done

# Code of ours, and changes that say why at their head.
mkdir -p "$work/xnnpack/src/backends/xnnpack/library"
cp "$library"/*.h "$library"/*.c "$library"/*.cpp "$work/xnnpack/src/backends/xnnpack/library/"
for change in "$library"/*.patch; do
  patch --quiet -d "$work/xnnpack" -p1 <"$change" || fail "$change does not fit the sources"
done

# Look-ups of packed weights say how many bytes they will read, where they come before the packing;
# elsewhere they say 0. A cache can then refuse an entry of another size.
operators=$work/xnnpack/src/operators
sed -i '/^struct xnn_weights_cache_look_up_key {/,/^};/ s/^  const void\* bias;/&\n  size_t size;/' \
  "$work/xnnpack/include/xnnpack.h"
sed -i 's/^\( *struct xnn_weights_cache_look_up_key cache_key\);/\1 = {0};/' "$operators"/*.c
sed -i 's/^\( *\)cache_key.bias = bias;/&\n\1cache_key.size = aligned_total_weights_size;/' \
  "$operators/fully-connected-nc.c"
sed -i '/^static enum xnn_status create_gemm_or_igemm(/,/xnn_weights_cache_look_up(/ s/^\( *\)cache_key.bias = bias;/&\n\1cache_key.size = round_up_po2((((kernel_size * k_stride) << log2_filter_element_size) + bias_element_size + extra_weights_bytes) * n_stride * groups, XNN_ALLOCATION_ALIGNMENT);/' \
  "$operators/convolution-nhwc.c"

echo "xnnpack.sh: building XNNPACK once into $prefix (about two minutes)" >&2
flags="-ffunction-sections -fdata-sections -ffile-prefix-map=$work=."
{
  cmake -S "$work/xnnpack" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_ASM_COMPILER=clang-14 \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DXNNPACK_LIBRARY_TYPE=static -DPTHREADPOOL_LIBRARY_TYPE=static -DCPUINFO_LIBRARY_TYPE=static \
    -DXNNPACK_BUILD_TESTS=OFF -DXNNPACK_BUILD_BENCHMARKS=OFF -DXNNPACK_BUILD_ALL_MICROKERNELS=OFF \
    -DXNNPACK_ENABLE_KLEIDIAI=OFF -DXNNPACK_ENABLE_AVXVNNIINT8=OFF -DXNNPACK_USE_SYSTEM_LIBS=OFF \
    -DPTHREADPOOL_SOURCE_DIR="$work/pthreadpool" -DCPUINFO_SOURCE_DIR="$work/cpuinfo" \
    -DFP16_SOURCE_DIR="$work/fp16" -DFXDIV_SOURCE_DIR="$work/fxdiv" \
    -DPSIMD_SOURCE_DIR="$work/psimd" -DCPUINFO_BUILD_TOOLS=OFF -DCPUINFO_BUILD_UNIT_TESTS=OFF \
    -DCPUINFO_BUILD_MOCK_TESTS=OFF -DCPUINFO_BUILD_BENCHMARKS=OFF &&
    cmake --build "$work/build" --target XNNPACK -j "$(nproc)"
} >"$work/log" 2>&1 || fail "the build failed: $(grep -m 1 -i 'error' "$work/log" || tail -n 1 "$work/log")"

out=$work/out
mkdir -p "$out/include" "$out/lib" "$out/licenses"
cp "$work/xnnpack/include/xnnpack.h" "$work/pthreadpool/include/pthreadpool.h" \
  "$work/cpuinfo/include/cpuinfo.h" "$out/include/"
find "$work/build" -name '*.a' -exec cp {} "$out/lib/" \;
for name in xnnpack pthreadpool cpuinfo fp16 fxdiv psimd; do
  cp "$work/$name/LICENSE" "$out/licenses/$name"
done
touch "$out/built"
# Another build may have come first: then its result stays.
[ -f "$prefix/built" ] || { rm -rf "$prefix" && mv -T "$out" "$prefix"; }
