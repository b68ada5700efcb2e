#!/bin/sh
# Fails unless the tree is as it was committed, but for some paths:
#
#   scripts/committed.sh SCRIPT PATH...
#
# For scripts that note beside a commit what they ran: theirs is the name in the message, and the notes
# are in PATH.
set -eu
name=${1:?usage: committed.sh SCRIPT PATH...}
shift
cd "$(dirname "$0")/.."
for path; do
  set -- "$@" ":!$path"
  shift
done
if [ -n "$(git status --porcelain -- . "$@")" ]; then
  echo "$name: --log needs a tree without changes, so that the commit says what ran" >&2
  exit 2
fi
