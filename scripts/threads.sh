#!/bin/sh
# Runs the tests of what threads share under ThreadSanitizer: test/threads, and the runtime's tests
# whose names speak of threads. Each run is a process of its own for each program, so that
# everything is used for the first time again, and has its tests in another order.
#
#   scripts/threads.sh 1000              builds what is needed in build/tsan and runs it that often
#   scripts/threads.sh --first 400 100   the runs 400 to 499; the number of a run is its seed
#   scripts/threads.sh --log 1000        adds a line to test/threads/campaigns.txt; the tree must be as
#                                        it was committed
#
# It ends with "N runs, N reports" and fails if there is any report or failed test. XNNPACK and
# pthreadpool are those of `xnnpack.sh tsan`, so nothing is suppressed; micro-kernels are not
# instrumented. The build has neither fast kernels, which take long to compile so, nor Vulkan. Logs
# are in build/tsan/threads.
set -eu
log="" first=1
while :; do
  case "${1:-}" in
    --log) log=yes && shift ;;
    --first) first=$2 && shift 2 ;;
    *) break ;;
  esac
done
runs=${1:-10}
last=$((first + runs - 1))
build=build/tsan
cd "$(dirname "$0")/.."
campaigns=test/threads/campaigns.txt
[ -z "$log" ] || scripts/committed.sh threads.sh "$campaigns"
commit=$(git rev-parse --short=10 HEAD)
scripts/deps.sh clang xnnpack

targets="test_threads_test runtime_test"
scripts/build.sh tsan $targets

logs=$build/threads
rm -rf "$logs"
mkdir "$logs"
# A test starts another process, in which threads run, while a backend's threads wait.
export TSAN_OPTIONS="log_path=$PWD/$logs/report exitcode=66 die_after_fork=0"
failed=0
for run in $(seq "$first" "$last"); do
  for target in $targets; do
    "$build/bin/$target" --gtest_brief=1 --gtest_filter='*Thread*' --gtest_shuffle \
      --gtest_random_seed=$((run % 99999)) >"$logs/$target" 2>&1 || {
      failed=$((failed + 1))
      echo "run $run of $target failed:"
      cat "$logs/$target"
    }
  done
done
reports=$(cat "$logs"/report* 2>/dev/null | grep -c '^WARNING: ThreadSanitizer') || true
cat "$logs"/report* 2>/dev/null | grep '^SUMMARY' | sort | uniq -c
echo "$runs runs, $reports reports"
result="nothing reported"
[ "$failed" -eq 0 ] && [ "$reports" -eq 0 ] || result="$failed failed, $reports reports"
[ -z "$log" ] || echo "$commit tsan:thread $first..$last $result" >>"$campaigns"
[ "$result" = "nothing reported" ]
