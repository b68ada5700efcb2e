#!/bin/sh
# Writes the runtime as two files to add to any build: taper_runtime.h holds every public header,
# taper_runtime.cpp every source with the FlatBuffers headers that it needs. Compiles the result.
#
#   scripts/amalgamate.sh build/release build/amalgamation
set -eu
cd "$(dirname "$0")/.."
build=${1:?usage: amalgamate.sh BUILD OUT}
out=${2:?usage: amalgamate.sh BUILD OUT}
mkdir -p "$out"
flatbuffers=$(echo '#include "flatbuffers/flatbuffers.h"' | ${CXX:-c++} -x c++ -E - |
  sed -n 's|^# [0-9]* "\(.*\)/flatbuffers/flatbuffers.h".*|\1|p' | head -1)

# inline FILE...: prints the files, with each quoted header inserted where it is first included.
# Headers listed in $seen have been inserted before; those inserted now are added to the list.
seen=$out/seen
: >"$seen"
inline() {
  awk -v roots="runtime/include . $build/generated $flatbuffers" -v seen="$seen" '
    function find(name,   list, count, i, path, line) {
      count = split(roots, list, " ")
      for (i = 1; i <= count; ++i) {
        path = list[i] "/" name
        if ((getline line < path) >= 0) { close(path); return path }
      }
      return ""
    }
    function put(path,   line, name, found) {
      while ((getline line < path) > 0) {
        if (line ~ /^#pragma once/) continue
        if (line ~ /^ *# *include +"/) {
          name = line; sub(/^[^"]*"/, "", name); sub(/".*/, "", name)
          found = find(name)
          if (found != "") {
            if (!(name in done)) { done[name] = 1; print name >> seen; put(found) }
            continue
          }
        }
        print line
      }
      close(path)
    }
    BEGIN {
      while ((getline name < seen) > 0) done[name] = 1
      close(seen)
      for (i = 1; i < ARGC; ++i) { print "\n// ---- " ARGV[i]; put(ARGV[i]) }
      exit
    }' "$@"
}

{
  echo "// Taper's runtime: all public headers in one, written by scripts/amalgamate.sh."
  echo "#pragma once"
  headers=$(cd runtime/include && ls taper/*.h)
  for header in $headers; do
    if ! grep -qx "$header" "$seen"; then
      echo "$header" >>"$seen"
      inline "runtime/include/$header"
    fi
  done
} >"$out/taper_runtime.h"
{
  echo "// Taper's runtime in one source, written by scripts/amalgamate.sh. It contains headers of"
  echo "// FlatBuffers, which are Google's, under the Apache License 2.0."
  echo "#include \"taper_runtime.h\""
  inline $(find runtime -name '*.cpp' ! -name '*_test.cpp' | LC_ALL=C sort)
} >"$out/taper_runtime.cpp"
rm -f "$seen"
start=$(date +%s)
(cd "$out" && ${CXX:-c++} -std=c++17 -O2 -fno-exceptions -fno-rtti -c taper_runtime.cpp \
  -o taper_runtime.o)
echo "$out/taper_runtime.h and .cpp: $(wc -l <"$out/taper_runtime.cpp") lines," \
  "compiled in $(($(date +%s) - start)) s"
