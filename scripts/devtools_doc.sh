#!/bin/sh
# Runs the commands of docs/devtools.md in their order, and writes what they print below them.
#
#   scripts/devtools_doc.sh [BUILD]           BUILD defaults to build/release
#   scripts/devtools_doc.sh --check [BUILD]   changes nothing, and fails if what does not vary from
#                                             machine to machine has changed
#
# A block begins with ```console; what its commands print varies if that is followed by "varies".
# They run in an empty folder with the committed models in models/. Errors come after the output.
set -eu
check=
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
cd "$(dirname "$0")/.."
root=$(pwd)
build=$(cd "${1:-build/release}" && pwd)
document=docs/devtools.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work"
ln -s "$root/test/models/data" "$folder/work/models"
PATH=$build/bin:$PATH
export PATH

# $1: 1 to run what varies, too.
run() {
  awk -v runs_all="$1" -v folder="$folder" '
    function show(command,   line, quiet) {
      quiet = "cd " folder "/work && { " command "\n} >" folder "/out 2>" folder "/err </dev/null"
      system(quiet)
      if (varies && !runs_all) return
      while ((getline line < (folder "/out")) > 0) print line
      while ((getline line < (folder "/err")) > 0) print line
      close(folder "/out")
      close(folder "/err")
    }
    /^```/ { inside = !inside && /^```console/; varies = /varies/; print; next }
    inside && /^\$ / { print; fflush(); show(substr($0, 3)); next }
    inside && !(varies && !runs_all) { next }
    { print }' "$document"
}

if [ -n "$check" ]; then
  run 0 >"$folder/new"
  diff -u "$document" "$folder/new" || {
    echo "devtools_doc.sh: run scripts/devtools_doc.sh" >&2
    exit 1
  }
else
  run 1 >"$folder/new"
  cat "$folder/new" >"$document"
fi
