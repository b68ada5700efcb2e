#!/bin/sh
# Opens pages of `taper view` in a headless Chromium (test/view/run.py). Needs what
# `scripts/deps.sh browser` installs, and gets the data classes of Model Explorer from PyPI.
#
#   scripts/view.sh [BUILD] [OPTION...]      BUILD defaults to build/release
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
[ $# -eq 0 ] || shift
version=0.1.34
cache=${XDG_CACHE_HOME:-$HOME/.cache}/taper/model-explorer-$version
classes=$cache/model_explorer/graph_builder.py
if ! [ -f "$classes" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work/venv"
  # One file of it is read: without what its server needs.
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
    --target "$work/packages" "ai-edge-model-explorer==$version"
  mkdir -p "$cache/model_explorer"
  cp "$work/packages/model_explorer/graph_builder.py" "$classes"
fi
python3 test/view/run.py --build "$build" --model-explorer "$classes" "$@"
