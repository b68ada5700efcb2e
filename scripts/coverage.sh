#!/bin/sh
# Prints how many lines of the code that reads files are run by the unit tests, by the seeds of the
# fuzzers and by some mutants: of the program reader and its verifier, and of what reads payloads,
# packed weights and compiled shaders in backends.
#
#   scripts/coverage.sh 2000      builds what is needed in build/coverage, and runs 2,000 mutants, too
#   scripts/coverage.sh 2000 95   fails if less than 95 % of any part's lines run
#
# The lines that no test runs are in build/coverage/uncovered.txt.
set -eu
mutants=${1:-2000}
least=${2:-0}
build=build/coverage
cd "$(dirname "$0")/.."
cmake --preset coverage >/dev/null

# Parts, as folders or files.
parts="runtime/program $(ls -d backends/*/runtime/payload backends/*/runtime/packed backends/*/runtime/graph \
  backends/*/runtime/pipeline_file.cpp backends/*/planner/payload_graph.cpp 2>/dev/null)"

tests=$(cmake --build "$build" --target help |
  sed -n 's/^\(runtime_test\|backends_[a-z]*_\(runtime\|planner\)_test\): phony$/\1/p')
scripts/build.sh coverage $tests taper_fuzz
find "$build" -name '*.gcda' -exec rm {} +
for test in $tests; do
  (cd "$build" && "bin/$test" --gtest_brief=1 >"$test.log" 2>&1) || { cat "$build/$test.log"; exit 1; }
done
"$build/bin/taper_fuzz" --kind pte --runs "$mutants"

# gcov prints, for each object, the lines of every source in it as "FILE:LINE:COUNT".
lines() {
  find "$build/CMakeFiles" -name '*.gcno' | while read -r object; do
    case "$object" in *_test.dir/*) continue ;; esac
    gcov --stdout "${object%.gcno}.gcda" 2>/dev/null |
      awk -v root="$PWD/" '
        { split($0, field, ":"); count = field[1]; number = field[2] + 0; gsub(/[ *]/, "", count) }
        number == 0 && /:Source:/ { file = $0; sub(/.*:Source:/, "", file); sub(root, "", file)
                                    sub(/^(\.\.\/)+/, "", file) }
        number > 0 && count != "-" { print file ":" number, (count ~ /^[#=]/ ? 0 : 1) }'
  done
}
lines | awk -v parts="$parts" -v least="$least" -v missed="$build/uncovered.txt" '
  { if (!($1 in run) || $2 > run[$1]) run[$1] = $2 }
  END {
    count = split(parts, part, " ")
    for (line in run) {
      for (i = 1; i <= count; ++i) {
        if (index(line, part[i]) != 1) continue
        ++all[i]
        ran[i] += run[line]
        if (!run[line]) print line | ("sort -t: -k1,1 -k2,2n >" missed)
      }
    }
    for (i = 1; i <= count; ++i) {
      if (!all[i]) continue
      share = 100 * ran[i] / all[i]
      printf "%-44s %5d of %5d lines, %5.1f %%\n", part[i], ran[i], all[i], share
      if (share < least) failed = 1
    }
    exit failed
  }'
