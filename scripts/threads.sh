#!/bin/sh
# Runs the tests of what threads share under ThreadSanitizer: test/threads, and the runtime's tests
# whose names speak of threads. Each run is a process of its own for each program, so that
# everything is used for the first time again, and has its tests in another order.
#
#   scripts/threads.sh 1000     builds what is needed in build/tsan and runs it that often
#
# It ends with "N runs, N reports" and fails if there is any report or failed test. XNNPACK and
# pthreadpool are those of `xnnpack.sh tsan`, so nothing is suppressed; micro-kernels are not
# instrumented. The build has neither fast kernels, which take long to compile so, nor Vulkan. Logs
# are in build/tsan/threads.
set -eu
runs=${1:-10}
build=build/tsan
cd "$(dirname "$0")/.."
scripts/deps.sh clang xnnpack

targets="test_threads_test runtime_test"
scripts/build.sh tsan $targets

logs=$build/threads
rm -rf "$logs"
mkdir "$logs"
# A test starts another process, in which threads run, while a backend's threads wait.
export TSAN_OPTIONS="log_path=$PWD/$logs/report exitcode=66 die_after_fork=0"
failed=0
for run in $(seq "$runs"); do
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
[ "$failed" -eq 0 ] && [ "$reports" -eq 0 ]
