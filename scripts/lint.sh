#!/bin/sh
# Checks what a compiler and a reader would complain of: clang-format 14 for everything, the warnings of
# clang 14 and clang-tidy 14 for everything or for what changed.
#
#   scripts/lint.sh --format    formats alone
#   scripts/lint.sh             the whole tree, which takes more than an hour
#   scripts/lint.sh --log       the same of a tree as it was committed, and writes commit and result
#                               into scripts/lint_result.txt
#   scripts/lint.sh --changed   what changed since the commit in that file, or since $LINT_BASE: at most
#                               $LINT_FILES sources (60), the latest first, but none that passed before
#                               as it is now; says what is left out. If there is neither, all sources
#                               count as changed
#
# What a backend's library is built from besides, in backends/*/library, and firmware are compiled
# elsewhere, and not checked. What has passed is noted in the user's cache.
# Builds in build/clang. Needs what `scripts/deps.sh clang` installs.
set -eu
cd "$(dirname "$0")/.."
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}
result=scripts/lint_result.txt
passed=${XDG_CACHE_HOME:-$HOME/.cache}/taper/lint_passed
what=${1:-}
case "$what" in '' | --format | --log | --changed) ;; *)
  echo "usage: lint.sh [--format | --log | --changed]" >&2
  exit 2
  ;;
esac
if [ "$what" = --log ] && [ -n "$(git status --porcelain -- . ":!$result")" ]; then
  echo "lint.sh: --log needs a tree without changes, so that the commit says what was checked" >&2
  exit 2
fi

git ls-files '*.h' '*.cpp' | xargs -n 20 -P "$JOBS" clang-format-14 --dry-run -Werror --style=file
[ "$what" != --format ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$passed")"
touch "$passed"

# What a source is when it passes. Headers that change besides are checked with the whole tree.
key='cat .clang-tidy "$1" "${1%.cpp}.h" 2>/dev/null | sha256sum'

# tidy: clang-tidy for the sources that are read. Writes the names of those with findings.
tidy() {
  : >"$work/reported"
  key=$key passed=$passed reported=$work/reported xargs -r -P "$JOBS" -n 1 sh -c '
    if clang-tidy-14 --quiet -p build/clang "$1"; then
      eval "$key" >>"$passed"
    else
      echo "$1" >>"$reported"
    fi' sh
}

sources() { git ls-files '*.cpp' ':!test/firmware' ':!backends/*/library/*'; }

if [ "$what" != --changed ]; then
  scripts/build.sh clang
  sources | tidy
  found="nothing reported"
  [ ! -s "$work/reported" ] || found="findings in $(sort "$work/reported" | paste -s -d ' ')"
  found="$(sources | wc -l) sources, $found"
  echo "lint.sh: $found"
  [ "$what" != --log ] ||
    echo "$(git rev-parse --short=10 HEAD) $(date -u +%Y-%m-%d): $found" >"$result"
  [ ! -s "$work/reported" ]
  exit
fi

base=${LINT_BASE:-}
[ -n "$base" ] || [ ! -e "$result" ] || base=$(cut -d ' ' -f 1 "$result")
if [ -n "$base" ] && ! git rev-parse -q --verify "$base^{commit}" >/dev/null; then
  echo "lint.sh: there is no commit '$base' to compare with; get it, or set LINT_BASE to another" >&2
  exit 1
fi

# changed: the sources that changed, themselves or in their header, the latest first; those in which the
# whole run found something come last.
changed() {
  {
    git diff --name-only --diff-filter=d HEAD
    git log --format= --name-only --diff-filter=d "${base:+$base..}HEAD"
    [ -n "${LINT_BASE:-}" ] || [ ! -e "$result" ] || sed 's/.* findings in //' "$result" | tr ' ' '\n'
  } | sed 's/\.h$/.cpp/' | awk '!seen[$0]++' | sources_of
}
sources_of() { sources >"$work/sources" && grep -xF -f "$work/sources" || true; }
changed | while read -r file; do
  grep -qxF -e "$(sh -c "$key" sh "$file")" "$passed" || echo "$file"
done >"$work/unchecked"

count=$(wc -l <"$work/unchecked")
head -n "${LINT_FILES:-60}" "$work/unchecked" >"$work/list"
echo "lint.sh: $(changed | wc -l) sources changed since ${base:-the first commit};" \
  "$count of them have not passed as they are; clang-tidy for $(wc -l <"$work/list")"
cmake --preset clang >/dev/null
headers=$(ninja -C build/clang -t targets all | sed -n 's/^\(generated\/.*\.h\): CUSTOM_COMMAND$/\1/p')
cmake --build build/clang --target $headers >"$work/log" || { cat "$work/log" && exit 1; }
tidy <"$work/list"
left=$((count - $(wc -l <"$work/list")))
[ "$left" -eq 0 ] ||
  echo "lint.sh: $left left out, among them $(tail -n "$left" "$work/unchecked" | head -n 50 | paste -s -d ' ')"
[ ! -s "$work/reported" ] || echo "lint.sh: findings in $(sort "$work/reported" | paste -s -d ' ')" >&2
[ ! -s "$work/reported" ]
