#!/bin/sh
# Checks what a compiler and a reader would complain of: clang-format 14 for everything, the warnings of
# clang 14 and clang-tidy 14 for everything or for what changed.
#
#   scripts/lint.sh --format    formats alone
#   scripts/lint.sh             the whole tree, which takes more than an hour
#   scripts/lint.sh --log       the same of a tree as it was committed, and writes commit and result
#                               into scripts/lint_result.txt
#   scripts/lint.sh --changed   what changed since the commit in that file, or since $LINT_BASE: at most
#                               $LINT_FILES sources (60), the latest, but none that passed before as it
#                               is now. If there is neither, all sources count as changed
#
# What the preset `clang` does not compile is not checked: firmware, what backends' libraries are built
# from besides, and what needs libtorch. What has passed is noted in the user's cache, so that a run of
# the whole tree goes on where another one ended. Builds in build/clang. Needs what
# `scripts/deps.sh clang` installs.
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
[ "$what" != --log ] || scripts/committed.sh lint.sh "$result"

git ls-files '*.h' '*.cpp' | xargs -n 20 -P "$JOBS" clang-format-14 --dry-run -Werror --style=file
[ "$what" != --format ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$passed")"
touch "$passed"

# tidy: clang-tidy for the sources that are read, each after a digest that is noted if it passes. Writes
# the names of those with findings.
tidy() {
  : >"$work/reported"
  passed=$passed reported=$work/reported xargs -r -P "$JOBS" -n 2 sh -c '
    if clang-tidy-14 --quiet -p build/clang "$2"; then
      echo "$1" >>"$passed"
    else
      echo "$2" >>"$reported"
    fi' sh
}

# unchecked: of the lines that are read, those whose digest is not noted.
unchecked() { awk 'FILENAME != "-" { passed[$1]; next } !($1 in passed)' "$passed" -; }

# with_digest: reads lines of names of files, of which the first is a source; writes the digest of all of
# them and the source.
with_digest() {
  while read -r source others; do
    echo "$(cat .clang-tidy "$source" $others | sha256sum | cut -d ' ' -f 1) $source"
  done
}

# sources: those of the preset.
sources() {
  sed -n 's|^ *"file": "'"$PWD"'/\(.*\)".*|\1|p' build/clang/compile_commands.json |
    grep -v '^build/' | sort -u
}

if [ "$what" != --changed ]; then
  scripts/build.sh clang
  # What the compiler read of the tree for each source, the source first.
  ninja -C build/clang -t deps |
    sed -n 's|^.*: #deps.*|#|p; s|^ *\.\./\.\./||p; s|^ *generated/|build/clang/generated/|p' |
    awk '$0 == "#" { if (line) print line; line = ""; next }
         { line = line (line ? " " : "") $0 }
         END { if (line) print line }' |
    grep -v '^build/' | sort -u -k 1,1 >"$work/inputs"
  with_digest <"$work/inputs" | unchecked | tidy
  found="nothing reported"
  [ ! -s "$work/reported" ] || found="findings in $(sort "$work/reported" | paste -s -d ' ')"
  found="$(wc -l <"$work/inputs") sources, $found"
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
  } | sed 's/\.h$/.cpp/' | awk '!seen[$0]++' | { grep -xF -f "$work/sources" || true; }
}
# Each with its header; headers that change besides are checked with the whole tree.
with_header() {
  while read -r source; do
    if [ -e "${source%.cpp}.h" ]; then echo "$source ${source%.cpp}.h"; else echo "$source"; fi
  done
}

cmake --preset clang >/dev/null
sources >"$work/sources"
changed >"$work/changed"
head -n "${LINT_FILES:-60}" "$work/changed" | with_header | with_digest | unchecked >"$work/list"
echo "lint.sh: $(wc -l <"$work/changed") sources changed since ${base:-the first commit}; of the latest" \
  "${LINT_FILES:-60}, clang-tidy for $(wc -l <"$work/list"), which have not passed as they are"
headers=$(ninja -C build/clang -t targets all | sed -n 's/^\(generated\/.*\.h\): CUSTOM_COMMAND$/\1/p')
cmake --build build/clang --target $headers >"$work/log" || { cat "$work/log" && exit 1; }
tidy <"$work/list"
[ ! -s "$work/reported" ] || echo "lint.sh: findings in $(sort "$work/reported" | paste -s -d ' ')" >&2
[ ! -s "$work/reported" ]
