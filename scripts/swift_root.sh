#!/bin/sh
# Lays Debian's Swift toolchain into the user's cache, where all checkouts share it, and prints the
# folder: a root of its own, since the toolchain is of a newer Debian than what it is used on. Nothing
# is installed. 0.6 GB to download, 2.6 GB on the disk. The packages come from this machine's Debian
# mirror by apt with lists of its own, which checks their signatures. Only root can use it, by chroot.
set -eu
suite=trixie
packages="swiftlang bash coreutils git libc6-dev libstdc++-14-dev"
root=${XDG_CACHE_HOME:-$HOME/.cache}/taper/swift-$suite
[ "$(id -u)" -eq 0 ] || { echo "swift_root.sh: only root can use Debian's Swift" >&2 && exit 1; }
[ ! -f "$root/complete" ] || { echo "$root" && exit; }

mkdir -p "${root%/*}"
work=$(mktemp -d "$root.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
. "$(dirname "$0")/pinned_sources.sh"  # For mirror() and fail().
base=$(mirror)
[ -n "$base" ] || fail "this machine has no Debian mirror configured"
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/root"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $base $suite main" \
  >"$work/sources.list"
: >"$work/status"
echo "swift_root.sh: downloading: $packages, and what they need" >&2
# With an empty status all dependencies are downloaded, too.
apt="apt-get -q -y -o Dir::Etc::sourcelist=$work/sources.list -o Dir::Etc::sourceparts=-
  -o Dir::State=$work/state -o Dir::State::status=$work/status -o Dir::Cache=$work/cache
  -o APT::Sandbox::User=root"
{
  $apt update && $apt install --download-only --no-install-recommends $packages
} >"$work/log" 2>&1 ||
  fail "cannot download: $(grep -m 1 '^E:' "$work/log" || tail -n 1 "$work/log")"
for deb in "$work"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$work/root"; done

# What the packages' scripts would do of which anything is needed.
echo "root:x:0:0:root:/root:/bin/sh" >"$work/root/etc/passwd"
printf '%s\n' /usr/libexec/swift/lib/swift/linux /usr/lib/x86_64-linux-gnu \
  /usr/lib/aarch64-linux-gnu >"$work/root/etc/ld.so.conf"
PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$work/root" 2>"$work/log" || fail "$(tail -n 1 "$work/log")"
mkdir -p "$work/root/tree" "$work/root/proc" "$work/root/dev"
touch "$work/root/complete"
# Another run may have finished first; its result is kept.
[ -f "$root/complete" ] || { rm -rf "$root" && mv -T "$work/root" "$root"; }
echo "$root"
