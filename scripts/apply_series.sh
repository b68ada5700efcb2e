#!/bin/sh
# Applies a series of changes to the sources of a library, or stops with the name of the change that
# does not apply.
#
#   scripts/apply_series.sh CHANGES SOURCES
#
# CHANGES/series names the changes in order, one a line:
#
#   NAME.patch   has to apply exactly: without fuzz or offset, and only once
#   NAME.sed     the same change in many places: a script for sed -E -z, where a file is one record.
#                Its line "# Rewrites L lines of F files in FOLDER..." has to be true of the *.c
#                files of those folders
set -eu
export LC_ALL=C  # Messages of patch are parsed, and lines are sorted.
[ $# -eq 2 ] || { echo "usage: apply_series.sh CHANGES SOURCES" >&2; exit 2; }
changes=$(cd "$1" && pwd)
cd "$2"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

fail() {
  echo "apply_series.sh: $1" >&2
  exit 1
}

apply_patch() {
  patch -p1 --forward --fuzz=0 --batch --reject-file=- <"$changes/$1" >"$log/patch" 2>&1 ||
    fail "$1 does not apply to these sources: $(grep -v '^patching file' "$log/patch" | head -n 1)"
  ! grep -q '^Hunk' "$log/patch" ||
    fail "$1 was made for other sources: $(grep -m 1 '^Hunk' "$log/patch")"
}

# lines, files: all lines, or the checksums of all files, in the folders that a rewrite names.
lines() { find "$@" -name '*.c' -exec cat {} + | sort; }
files() { find "$@" -name '*.c' -exec cksum {} + | sort; }

apply_rewrite() {
  name=$1
  set -- $(sed -n 's/^# Rewrites \([0-9]* lines of [0-9]* files\) in /\1 /p' "$changes/$name")
  [ $# -gt 5 ] || fail "$name has no line '# Rewrites L lines of F files in FOLDER...'"
  promised="$1 lines of $4 files"
  shift 5
  for folder in "$@"; do
    [ -d "$folder" ] || fail "$name rewrites files of $folder, which these sources do not have"
  done
  lines "$@" >"$log/lines"
  files "$@" >"$log/files"
  find "$@" -name '*.c' -exec sed -i -E -z -f "$changes/$name" {} +
  found="$(lines "$@" | comm -13 "$log/lines" - | wc -l) lines of"
  found="$found $(files "$@" | comm -13 "$log/files" - | wc -l) files"
  [ "$found" = "$promised" ] || fail "$name rewrote $found of these sources, and not $promised"
}

[ -f "$changes/series" ] || fail "$changes has no series"
for change in "$changes"/*.patch "$changes"/*.sed; do
  [ ! -f "$change" ] || grep -qx "${change##*/}" "$changes/series" ||
    fail "$change is not in the series"
done
for name in $(grep -v '^#' "$changes/series"); do
  [ -f "$changes/$name" ] || fail "the series names $name, which is not there"
  case "$name" in
    *.patch) apply_patch "$name" ;;
    *.sed) apply_rewrite "$name" ;;
    *) fail "the series names $name, which is neither a .patch nor a .sed" ;;
  esac
done
