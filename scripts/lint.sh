#!/bin/sh
# Checks what a compiler and a reader would complain of: clang-format 14 and the warnings of clang 14
# for everything, clang-tidy 14 for everything or for what changed.
#
#   scripts/lint.sh --format    formats alone
#   scripts/lint.sh             the whole tree
#   scripts/lint.sh --changed   clang-tidy only for sources that differ from the commit before, or
#                               from $LINT_BASE, at most $LINT_FILES of them (60)
#
# Builds in build/clang. Needs what `scripts/deps.sh clang` installs.
set -eu
cd "$(dirname "$0")/.."
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}

git ls-files '*.h' '*.cpp' | xargs -n 20 -P "$JOBS" clang-format-14 --dry-run -Werror --style=file
[ "${1:-}" != --format ] || exit 0
scripts/build.sh clang

list=$(mktemp)
trap 'rm -f "$list"' EXIT
if [ "${1:-}" = --changed ]; then
  base=${LINT_BASE:-HEAD~1}
  if ! git rev-parse -q --verify "$base^{commit}" >/dev/null; then
    echo "lint: there is no commit '$base' to compare with; clang-tidy is not run"
    exit 0
  fi
  git diff --name-only --diff-filter=d "$base" -- '*.cpp' ':!test/firmware' >"$list.all"
  head -n "${LINT_FILES:-60}" "$list.all" >"$list"
  echo "lint: clang-tidy for $(wc -l <"$list") of $(wc -l <"$list.all") changed sources"
  rm -f "$list.all"
else
  git ls-files '*.cpp' ':!test/firmware' >"$list"
fi
[ -s "$list" ] || exit 0
xargs -P "$JOBS" -n 2 clang-tidy-14 --quiet -p build/clang <"$list"
