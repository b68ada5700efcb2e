#!/bin/sh
# Runs a coverage-guided fuzz target for some time, from the corpus of earlier runs on, and keeps what
# reaches new code: test/fuzz/corpus/KIND.tar.xz, minimised, is where the next run begins.
#
#   scripts/libfuzzer.sh pte 3600          an hour, one job for each core (JOBS=n for others)
#   scripts/libfuzzer.sh --log pte 3600    also adds a line to test/fuzz/campaigns.txt: commit, build,
#                                          target, CPU hours, result; the tree must be as committed
#
# Kinds are those of taper_fuzz. A finding ends the run and stays in build/fuzz/findings.
set -eu
log=""
[ "${1:-}" != --log ] || { log=yes && shift; }
kind=${1:?usage: libfuzzer.sh [--log] KIND SECONDS}
seconds=${2:?usage: libfuzzer.sh [--log] KIND SECONDS}
cd "$(dirname "$0")/.."
build=build/fuzz
packed=test/fuzz/corpus/$kind.tar.xz
[ -z "$log" ] || scripts/committed.sh libfuzzer.sh test/fuzz/campaigns.txt test/fuzz/corpus
scripts/build.sh fuzz taper_libfuzzer taper_fuzz
export TAPER_FUZZ_KIND="$kind"

# Programs and archives are larger than what libFuzzer makes by itself, and so is what they need. A
# file that takes longer than 20 seconds counts as hung.
largest=65536
limits="-max_len=$largest -malloc_limit_mb=64 -rss_limit_mb=4096 -timeout=20"

work=$build/libfuzzer/$kind
rm -rf "$work"
mkdir -p "$work/begin" "$work/found" "$work/kept" "$build/findings" test/fuzz/corpus
[ ! -e "$packed" ] || tar -xf "$packed" -C "$work/begin"
"$build/bin/taper_fuzz" --kind "$kind" --write-seeds "$work/begin"
find "$work/begin" -type f -size +"$largest"c -delete

result="nothing reported"
"$build/bin/taper_libfuzzer" $limits -fork="${JOBS:-$(nproc)}" -max_total_time="$seconds" \
  -artifact_prefix="$build/findings/" "$work/found" "$work/begin" >"$work/log" 2>&1 ||
  result="stopped by a finding"
tail -n 1 "$work/log"
times >"$work/times"  # Not in a subshell, which has other children.
hours=$(awk 'NR == 2 { split($1, part, /[ms]/); printf "%.2f", part[1] / 60 + part[2] / 3600 }' "$work/times")

"$build/bin/taper_libfuzzer" $limits -merge=1 "$work/kept" "$work/begin" "$work/found" >"$work/merge" 2>&1
# Names and times as they are in no run, so that the same files are the same bytes.
tar -C "$work/kept" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cJf "$packed" .
echo "$kind: $hours CPU hours, $(ls "$work/kept" | wc -l) files kept, $result"
[ -z "$log" ] ||
  echo "$(git rev-parse --short=10 HEAD) fuzz:address,undefined libfuzzer_$kind $hours CPU hours, $result" \
    >>test/fuzz/campaigns.txt
[ "$result" = "nothing reported" ]
