# Source archives from Debian, pinned by checksum; for scripts that build a library once into the
# user's cache. A script sets `sources`, lines of "SHA-256 archive package/suite", and `work`, an
# empty folder, and calls unpack_sources, which puts each archive into $work/PACKAGE.
#
# The archives come from $TAPER_DEPS_DIR, a folder with them, by default from this machine's Debian
# mirror, through a separate configuration that leaves the system's package lists alone. Debian's own
# additions to the sources are not used.

script=$(basename "$0")

fail() {
  echo "$script: $1" >&2
  exit 1
}

# Fails with the names of the archives that cannot be downloaded, and a remedy.
fail_without() {
  fail "$1:$2; put the archives that scripts/$script names into a folder and set TAPER_DEPS_DIR to it"
}

# The mirror that this machine installs Debian from; its lists may be in either of two formats.
mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
    2>/dev/null | grep -v '^ *#' | grep -v security | grep -o '\(https\{0,1\}\|mirror+file\):[^ ]*/debian/\{0,1\}\( \|$\)' |
    head -n 1 | tr -d ' '
}

# A mirror may have the archives but lack Debian's description of the sources. apt-get then fails
# although it has downloaded the archive; only the checksum of the archive counts.
from_debian() {
  [ -n "${apt:-}" ] || {
    base=$(mirror)
    [ -n "$base" ] || fail_without "this machine has no Debian mirror configured" "$(archives)"
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    for suite in $(echo "$sources" | sed 's,.*/,,' | sort -ru); do
      echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $base $suite main"
    done >"$work/apt/sources.list"
    apt="apt-get -q -o Dir::Etc::sourcelist=$work/apt/sources.list -o Dir::Etc::sourceparts=-
      -o Dir::State::lists=$work/apt/lists -o Dir::Cache=$work/apt/cache"
    $apt update >"$work/apt/log" 2>&1 || true
  }
  (cd "$work/archives" && $apt source --download-only "$1" >>"$work/apt/log" 2>&1) || true
}

archives() { echo "$sources" | while read -r _ archive _; do printf ' %s' "$archive"; done; }
is_good() { [ -f "$2" ] && echo "$1  $2" | sha256sum --check --status; }

# $1: packages whose archives have no top-level folder.
unpack_sources() {
  mkdir "$work/archives"
  missing=""
  while read -r sum archive package; do
    place=${TAPER_DEPS_DIR:-$work/archives}/$archive
    [ -n "${TAPER_DEPS_DIR:-}" ] || from_debian "$package"
    is_good "$sum" "$place" || { missing="$missing $archive" && continue; }
    name=${archive%%_*}
    mkdir "$work/$name"
    strip=1
    [ "$name" != "${1:-}" ] || strip=0
    tar -xf "$place" -C "$work/$name" --strip-components=$strip
  done <<END
$sources
END
  [ -z "$missing" ] ||
    fail_without "missing from ${TAPER_DEPS_DIR:-$base}, or with a wrong checksum" "$missing"
}

# Builds in $work/build, which is configured; $1: the targets. Shows progress on a terminal.
build_sources() {
  if [ -t 2 ]; then
    cmake --build "$work/build" --target $1 -j "${JOBS:-$(nproc)}" >&2 || fail "the build failed"
  else
    cmake --build "$work/build" --target $1 -j "${JOBS:-$(nproc)}" >"$work/log" 2>&1 ||
      fail "the build failed: $(grep -m 1 -i 'error' "$work/log" || tail -n 1 "$work/log")"
  fi
}
