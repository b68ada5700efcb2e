#!/bin/sh
# Prints how many bytes the runtime adds to a statically linked program (test/size/README.md), for
# every compiler that is installed, with the figures stored in test/size/sizes.txt. Exits 1 if the
# core, the core with all kernels, or a binary trimmed to a model exceeds its limit, or if a program
# exceeds its stored figure by more than 2 %. A compiler that is not installed is named, and is an error
# with CI=true.
#
#   scripts/size.sh build/release           compares with the stored figures
#   scripts/size.sh build/release --store   replaces the stored figures
set -eu
cd "$(dirname "$0")/.."
taper=$(pwd)/${1:?usage: size.sh BUILD [--store]}/bin/taper
stored=test/size/sizes.txt
models=$(pwd)/build/size-models
measured=build/size-measured.txt
mkdir -p "$models"
"$taper" export demo/digits.pt2 -o "$models/digits.pte" >/dev/null
"$taper" export test/models/data/mobilenet_v2.pt2 -o "$models/mobilenet_v2.pte" >/dev/null

fail() {
  echo "size.sh: $1" >&2
  exit 1
}

# limit_of NAME: the most bytes that a program may take with any compiler; empty without a limit.
limit_of() {
  case $1 in
    core) echo 49152 ;;
    all) echo 512000 ;;
    of_digits) echo 92160 ;;
    of_mobilenet_v2) echo 122880 ;;
  esac
}

# measure PRESET: builds the programs of the preset, prints their sizes and appends them to a file.
measure() {
  preset=$1
  tool=size
  [ "$preset" != size-arm64 ] || tool=aarch64-linux-gnu-size
  cmake --preset "$preset" -DTAPER_COMMAND="$taper" \
    "-DTAPER_SIZE_MODELS=$models/digits.pte;$models/mobilenet_v2.pte" >/dev/null
  cmake --build "build/$preset" -j "$(nproc)" >"build/$preset/log" 2>&1 ||
    fail "$preset does not build: $(tail -n 5 "build/$preset/log")"
  empty=$($tool "build/$preset/bin/size_empty" | awk 'NR == 2 { print $1 + $2 }')
  for name in core add all of_digits of_mobilenet_v2; do
    bytes=$($tool "build/$preset/bin/size_$name" | awk 'NR == 2 { print $1 + $2 }')
    echo "$preset $name $((bytes - empty))" >>"$measured"
    compare "$preset" "$name" $((bytes - empty))
  done
}

# compare PRESET NAME BYTES: prints the size and fails if it is too large.
compare() {
  limit=$(limit_of "$2")
  before=$(awk -v p="$1" -v n="$2" '$1 == p && $2 == n { print $3 }' "$stored")
  printf '%-11s %-16s %7d bytes%s%s\n' "$1" "$2" "$3" "${before:+, stored $before}" \
    "${limit:+, limit $limit}"
  [ -z "$limit" ] || [ "$3" -le "$limit" ] || fail "$1: $2 is over its limit"
  [ -n "$storing" ] || [ -z "$before" ] || [ $(($3 * 100)) -le $((before * 102)) ] ||
    fail "$1: $2 has grown by more than 2 %; if it must, store the figure (make size STORE=1)"
}

storing=""
[ "${2:-}" != --store ] || storing=1
rm -f "$measured"
measure size
for other in size-clang:clang++-14 size-arm64:aarch64-linux-gnu-g++; do
  if command -v "${other#*:}" >/dev/null; then
    measure "${other%%:*}"
  else
    echo "${other%%:*}: not measured, because ${other#*:} is not installed" >&2
    [ "${CI:-}" != true ]
  fi
done
[ -z "$storing" ] || cp "$measured" "$stored"
