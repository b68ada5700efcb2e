#!/bin/sh
# Fails unless a package's list of components (SPDX) names each whose licence lies in a folder, and no
# other, and among them those that are given. The list may lie in that folder, too.
#
#   scripts/check_licenses.sh LIST FOLDER [COMPONENT...]
set -eu
list=${1:?usage: check_licenses.sh LIST FOLDER [COMPONENT...]}
folder=${2:?usage: check_licenses.sh LIST FOLDER [COMPONENT...]}
shift 2

fail() {
  echo "check_licenses.sh: $1" >&2
  exit 1
}
[ -s "$list" ] || fail "$list is missing"
listed=$(sed -n 's/^PackageName: //p' "$list" | sort)
there=$(find "$folder" -type f -size +0 ! -name taper.spdx -exec basename {} \; | sort)
[ "$listed" = "$there" ] ||
  fail "$list names $(echo $listed), but the licences in $folder are of $(echo $there)"
for component in taper "$@"; do
  echo "$listed" | grep -qxF -- "$component" || fail "$list does not name $component"
done
