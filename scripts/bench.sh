#!/bin/sh
# Runs every benchmark and prints the figures. Nothing here passes or fails; test/bench/README.md
# describes the benchmarks.
#
#   scripts/bench.sh build/release [FILTER]
set -eu
bin=${1:?usage: bench.sh BUILD [FILTER]}/bin
filter=${2:-.}
grep -m1 'model name' /proc/cpuinfo 2>/dev/null || true
programs="bench_kernels bench_runtime"
for folder in "$(dirname "$0")"/../backends/*/bench; do
  programs="$programs bench_$(basename "$(dirname "$folder")")"
done
for program in $programs bench_tracing bench_export; do
  [ -x "$bin/$program" ] || continue
  echo "== $program"
  "$bin/$program" --benchmark_filter="$filter" --benchmark_counters_tabular=true \
    --benchmark_min_time=0.3
done
