#!/bin/sh
# Writes the archives of other versions of PyTorch into test/versions/data.
#
#   test/versions/make.sh                  all of them
#   test/versions/make.sh 2.6.0 2.15.0     some
#
# Each version gets an environment of its own, which takes up to 6 GB while it is there.
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- 2.6.0 2.8.0 2.10.0 2.12.1 2.14.1 2.15.0
for version in "$@"; do
  venv=$(mktemp -d)
  trap 'rm -rf "$venv"' EXIT
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "torch==$version" numpy
  "$venv/bin/python" test/versions/make.py
  rm -rf "$venv"
done
