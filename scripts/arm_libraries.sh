#!/bin/sh
# Downloads the libraries that the compiler and the tests need on ARM into the user's cache, where all
# checkouts share them, and prints their folder. Nothing is installed: they come from this machine's
# Debian mirror by apt with lists of its own, which checks their signatures.
#
#   scripts/arm_libraries.sh arm64     for 64-bit ARM
#   scripts/arm_libraries.sh armhf     for 32-bit ARM
#   scripts/arm_libraries.sh python    Python and its headers for 64-bit ARM, for the wheel
set -eu
architecture=${1:-}
packages="zlib1g-dev libsimdjson14 libsimdjson-dev libcxxopts-dev libgtest-dev libsodium-dev"
case "$architecture" in
  arm64) name=arm64-libraries-2 ;;
  armhf) name=armhf-libraries-1 ;;
  python)
    architecture=arm64
    packages="python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libpython3.11-dev
      zlib1g libexpat1 libffi8"
    name=arm64-python-1
    ;;
  *) echo "usage: arm_libraries.sh arm64|armhf|python" >&2 && exit 2 ;;
esac
root=${XDG_CACHE_HOME:-$HOME/.cache}/taper/$name
[ ! -f "$root/complete" ] || { echo "$root" && exit; }

mkdir -p "${root%/*}"
work=$(mktemp -d "$root.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
echo "arm_libraries.sh: downloading: $(echo $packages)" >&2
apt="apt-get -q -o APT::Architecture=$architecture -o APT::Architectures=$architecture
  -o Dir::State::lists=$work/lists -o Dir::Cache=$work/cache -o Acquire::Languages=none
  -o APT::Sandbox::User=root"
{
  $apt update || true  # Other lists than Debian's may lack the architecture.
  (cd "$work/debs" && $apt download $packages)
} >"$work/log" 2>&1 || {
  echo "arm_libraries.sh: cannot download: $(grep -m 1 '^E:' "$work/log" || tail -n 1 "$work/log")" >&2
  exit 1
}
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
touch "$work/root/complete"
# Another run may have finished first; its result is kept.
[ -f "$root/complete" ] || { rm -rf "$root" && mv -T "$work/root" "$root"; }
echo "$root"
