#!/bin/sh
# Installs a build into an empty folder, copies every example into another folder, builds each there
# against the package alone, and runs it. Also checks docs/embedding.md, pkg-config, the
# amalgamation, and each header by itself.
#
#   scripts/package.sh build/release
set -eu
cd "$(dirname "$0")/.."
build=${1:?usage: package.sh BUILD}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
prefix=$out/prefix

fail() {
  echo "package.sh: $1" >&2
  exit 1
}
quietly() {
  "$@" >"$out/log" 2>&1 || { tail -30 "$out/log" >&2; fail "failed: $*"; }
}

quietly cmake --install "$build" --prefix "$prefix"
if find "$prefix" -name '*_test*' -o -name '*_internal*' | grep .; then fail "tests are installed"; fi
doc=$prefix/share/doc/taper
scripts/check_licenses.sh "$doc/taper.spdx" "$doc/licenses" flatbuffers zlib simdjson cxxopts

data=test/models/data
taper=$prefix/bin/taper
"$taper" export demo/digits.pt2 -o "$out/digits.pte" >/dev/null
"$taper" export $data/llama.pt2 -o "$out/llama.pte" >/dev/null
"$taper" export add=$data/add.pt2 digits=demo/digits.pt2 -o "$out/both.pte" >/dev/null
"$taper" export examples/custom_op/model.pt2 --ops examples/custom_op/ops.txt -o "$out/custom.pte" \
  >/dev/null

# example NAME [CMAKE ARGUMENTS]: builds a copy of that folder.
example() {
  name=$1
  shift
  cp -r "examples/$name" "$out/$name"
  (cd "$out" && quietly cmake -S "$name" -B "$name/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_PREFIX_PATH=$prefix" "$@" && quietly cmake --build "$name/build")
}
# says TEXT COMMAND...: runs the command, whose output must contain the text.
says() {
  text=$1
  shift
  "$@" >"$out/said" 2>&1 || { cat "$out/said" >&2; fail "failed: $*"; }
  grep -qF -- "$text" "$out/said" || { cat "$out/said" >&2; fail "$* does not say '$text'"; }
}

logits="-0.604 -0.483 -0.436 -0.976 -0.413 -1.010 -0.212 -0.990 4.734 -1.021"
example hello
says "$logits" "$out/hello/build/hello" "$out/digits.pte"
example selected "-DMODEL=$out/digits.pte"
says "$logits" "$out/selected/build/selected" "$out/digits.pte"
says "5 kernels" "$out/selected/build/selected" "$out/digits.pte"
quietly cmake --build "$out/selected/build" --target selected_sizes
grep -q "kernels: operators" "$out/log" || fail "selected_sizes does not print a bill"
if "$out/selected/build/selected" "$out/llama.pte" >"$out/said" 2>&1; then fail "llama ran"; fi
grep -q "aten::embedding.out" "$out/said" || fail "a missing kernel is not named"
example c_api
says " 4.73386" "$out/c_api/build/c_api" "$out/digits.pte"
says " 4.73386" "$out/c_api/build/c_api" "$out/digits.pte" fast
says '"ok":true' "$out/c_api/build/c_compile" demo/digits.pt2 "$out/made_by_c.pte"
says " 4.73386" "$out/c_api/build/c_api" "$out/made_by_c.pte"
example custom_op
says "" "$out/custom_op/build/custom_op" "$out/custom.pte"
example multi_method
says "digits: 1 inputs, 1 outputs" "$out/multi_method/build/multi_method" "$out/both.pte"
says "add: 2 inputs, 1 outputs" "$out/multi_method/build/multi_method" "$out/both.pte"
example decoder
says "5 17 40" "$out/decoder/build/decoder" "$out/llama.pte" 5 17 40
[ "$(sort -u "$out/said" | wc -l)" -eq 1 ] || fail "reset_state() keeps old state"
# As for a board: only the model's sources and share/taper are compiled.
"$taper" export --format=c demo/digits.pt2 -o "$out/model_dir" >/dev/null
example firmware "-DMODEL_DIR=$out/model_dir"
says "$logits" "$out/firmware/build/firmware"
example executor_runner
says "Output 0: tensor(sizes=[1, 10], float32, [-0.6037" "$out/executor_runner/build/executor_runner" \
  --model_path "$out/digits.pte"

# docs/embedding.md: builds its CMake projects with the main.cpp that belongs to each, and runs its
# taper commands.
block() { # block LANGUAGE N: the Nth code block in that language.
  awk -v start="\`\`\`$1" -v wanted="$2" '/^```/ { on = $0 == start && ++n == wanted; next } on' \
    docs/embedding.md
}
doc=$out/doc
mkdir -p "$doc/plain" "$doc/trimmed" "$doc/xnnpack"
cp demo/digits.pt2 "$doc/model.pt2"
cp demo/digits.pt2 "$doc/wake.pt2"
cp $data/add.pt2 "$doc/command.pt2"
cp "$out/digits.pte" "$doc/model.pte"
for name in a b; do cp "$out/digits.pte" "$doc/$name.pte"; done
typed=0
grep -E '^    taper ' docs/embedding.md >"$doc/commands"
while read -r command; do
  command=${command%%#*}
  (cd "$doc" && PATH=$prefix/bin:$PATH && quietly $command)
  typed=$((typed + 1))
done <"$doc/commands"
[ "$typed" -ge 7 ] || fail "docs/embedding.md has $typed commands"
[ "$(block cmake 1 | sed 's/app/hello/')" = "$(cat examples/hello/CMakeLists.txt)" ] ||
  fail "the five lines of docs/embedding.md are not those of examples/hello"
cp "$doc/a.pte" "$doc/b.pte" examples/selected/main.cpp "$doc/trimmed"
block cmake 3 >"$doc/trimmed/CMakeLists.txt"
quietly cmake -S "$doc/trimmed" -B "$doc/trimmed/build" -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$doc/trimmed/build"
says "5 kernels" "$doc/trimmed/build/app" "$doc/a.pte"
if [ -e "$prefix/include/backends/xnnpack" ]; then
  block cmake 4 >"$doc/xnnpack/CMakeLists.txt"
  block cpp 3 >"$doc/xnnpack/main.cpp"
  quietly cmake -S "$doc/xnnpack" -B "$doc/xnnpack/build" -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake --build "$doc/xnnpack/build"
  (cd "$doc" && says "runs" xnnpack/build/app)
fi

# What docs/embedding.md says about signed programs, against the component `signing`.
if [ -e "$prefix/include/signing" ]; then
  mkdir "$doc/signed"
  block cmake 1 | sed 's/kernels)/kernels signing)/; s/taper::module/taper::signing taper::module/' \
    >"$doc/signed/CMakeLists.txt"
  sed 's/^#include "taper\/module.h"/&\n#include "signing\/signature.h"/
       s/^  taper::Module module/  taper::PublicKey nobody;\n  options.check = taper::signed_by(\&nobody);\n&/' \
    examples/hello/main.cpp >"$doc/signed/main.cpp"
  quietly cmake -S "$doc/signed" -B "$doc/signed/build" -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake --build "$doc/signed/build"
  if "$doc/signed/build/app" "$doc/a.pte" >"$out/said" 2>&1; then fail "an unsigned program ran"; fi
  grep -q "the file is not signed" "$out/said" || fail "an unsigned program is not called so"
fi

# Without CMake.
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name taper.pc)")
export PKG_CONFIG_PATH
quietly ${CC:-cc} -std=c99 examples/c_api/main.c -o "$out/by_pkg_config" \
  $(pkg-config --cflags --libs taper) "-Wl,-rpath,$(pkg-config --variable=libdir taper)"
says " 4.73386" "$out/by_pkg_config" "$out/digits.pte"
quietly ${CXX:-c++} -std=c++17 examples/hello/main.cpp -o "$out/hello_static" \
  $(pkg-config --cflags --libs taper-static)
says "$logits" "$out/hello_static" "$out/digits.pte"

# The amalgamated runtime, with the kernels of the package.
quietly scripts/amalgamate.sh "$build" "$out/amalgamation"
quietly ${CC:-cc} -std=c99 -DPORTABLE_ONLY "-I$prefix/include" examples/c_api/main.c \
  "$out/amalgamation/taper_runtime.o" "$(find "$prefix" -name libtaper_kernels_portable.a)" \
  -lstdc++ -lm -o "$out/amalgamated"
says " 4.73386" "$out/amalgamated" "$out/digits.pte"

# Every public header compiles by itself and needs nothing that is not installed.
for header in $(cd "$prefix/include" && find taper -name '*.h'); do
  echo "#include \"$header\"" >"$out/header.cpp"
  quietly ${CXX:-c++} -std=c++17 -fsyntax-only "-I$prefix/include" "$out/header.cpp"
done

# A component that is not installed is refused by name.
mkdir "$out/lacking"
cat >"$out/lacking/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(lacking LANGUAGES CXX)
find_package(Taper REQUIRED COMPONENTS runtime telegraph)
END
if cmake -S "$out/lacking" -B "$out/lacking/build" "-DCMAKE_PREFIX_PATH=$prefix" >"$out/log" 2>&1
then
  fail "a component that is not installed was found"
fi
grep -q "installed without 'telegraph'" "$out/log" || fail "does not name the missing component"
# The compiler from the package and, if it is installed, XNNPACK.
cat >"$out/lacking/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(compiling LANGUAGES CXX)
find_package(Taper REQUIRED COMPONENTS runtime kernels compiler OPTIONAL_COMPONENTS xnnpack)
add_executable(compiling main.cpp)
target_link_libraries(compiling PRIVATE taper::exir taper::module)
if(TARGET taper::xnnpack)
  target_link_libraries(compiling PRIVATE taper::xnnpack)
  target_compile_definitions(compiling PRIVATE WITH_XNNPACK)
endif()
END
cat >"$out/lacking/main.cpp" <<'END'
#include <cstdio>
#include "exir/export.h"
#ifdef WITH_XNNPACK
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#endif
int main(int, char** argv) {
  taper::exir::ExportRequest request;
  request.methods = {{"forward", argv[1]}};
  std::printf("%zu bytes", taper::exir::export_program(request).files.pte.joined().size());
#ifdef WITH_XNNPACK
  return taper::XnnpackBackend().is_available() ? 0 : 1;
#endif
}
END
rm -rf "$out/lacking/build"
quietly cmake -S "$out/lacking" -B "$out/lacking/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix"
quietly cmake --build "$out/lacking/build"
says " bytes" "$out/lacking/build/compiling" demo/digits.pt2
echo "the package and 8 examples work"
