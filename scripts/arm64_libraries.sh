#!/bin/sh
# Downloads the arm64 libraries that the compiler and the tests need into the user's cache, where all
# checkouts share them, and prints their folder. Nothing is installed: they come from this machine's
# Debian mirror by apt with lists of its own, which checks their signatures.
#
#   scripts/arm64_libraries.sh            libraries
#   scripts/arm64_libraries.sh python     Python and its headers, for the wheel
set -eu
case "${1:-}" in
  "")
    packages="zlib1g-dev libsimdjson14 libsimdjson-dev libcxxopts-dev libgtest-dev libsodium-dev"
    name=arm64-libraries-2
    ;;
  python)
    packages="python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libpython3.11-dev
      zlib1g libexpat1 libffi8"
    name=arm64-python-1
    ;;
  *) echo "usage: arm64_libraries.sh [python]" >&2 && exit 2 ;;
esac
root=${XDG_CACHE_HOME:-$HOME/.cache}/taper/$name
[ ! -f "$root/complete" ] || { echo "$root" && exit; }

mkdir -p "${root%/*}"
work=$(mktemp -d "$root.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
echo "arm64_libraries.sh: downloading: $(echo $packages)" >&2
apt="apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64
  -o Dir::State::lists=$work/lists -o Dir::Cache=$work/cache -o Acquire::Languages=none
  -o APT::Sandbox::User=root"
{
  $apt update || true  # Other lists than Debian's may lack the architecture.
  (cd "$work/debs" && $apt download $packages)
} >"$work/log" 2>&1 || {
  echo "arm64_libraries.sh: cannot download: $(grep -m 1 '^E:' "$work/log" || tail -n 1 "$work/log")" >&2
  exit 1
}
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
touch "$work/root/complete"
# Another run may have finished first; its result is kept.
[ -f "$root/complete" ] || { rm -rf "$root" && mv -T "$work/root" "$root"; }
echo "$root"
