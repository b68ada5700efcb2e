#!/bin/sh
# Lets every allocation fail once, each in a copy of the process, of all scenarios of test/faults or of
# some. `make test` does the same for at most 1000 allocations of each, evenly spread.
#
#   scripts/faults.sh [BUILD] [FILTER]         BUILD defaults to build/release; FILTER is GoogleTest's:
#                                              '*OfTheCompiler*'
#   scripts/faults.sh --log [BUILD] [FILTER]   adds a line for each scenario to
#                                              test/faults/campaigns.txt; the tree must be as it was
#                                              committed
set -eu
log=""
[ "${1:-}" != --log ] || { log=yes && shift; }
build=${1:-build/release}
filter=${2:-*Faults*}
cd "$(dirname "$0")/.."
campaigns=test/faults/campaigns.txt
[ -z "$log" ] || scripts/committed.sh faults.sh "$campaigns"
cmake --build "$build" --target test_faults_test >/dev/null
commit=$(git rev-parse --short=10 HEAD)
work=$(mktemp)
trap 'rm -f "$work"' EXIT
status=0
TAPER_FAULTS=all "$build/bin/test_faults_test" --gtest_brief=1 "--gtest_filter=$filter" >"$work" 2>&1 ||
  status=1
grep '^faults: ' "$work" || status=1
[ "$status" -eq 0 ] || cat "$work" >&2
[ -z "$log" ] ||
  sed -n "s|^faults: \(.*\)|$commit $(basename "$build") \1|p" "$work" >>"$campaigns"
exit "$status"
