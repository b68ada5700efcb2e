#!/bin/sh
# Installs from Debian what the build needs. Prints nothing and changes nothing if nothing is
# missing.
#
#   scripts/deps.sh          what is needed to build and test
#   scripts/deps.sh clang    also clang 14, clang-format and clang-tidy
#   scripts/deps.sh python   also python3-venv, for the scripts that make models
#   scripts/deps.sh wheel    also Debian's Python with headers and pip, and advzip, for the Python package
#   scripts/deps.sh firmware also a compiler for Cortex-M, and qemu to run its programs
#   scripts/deps.sh riscv    also a compiler for RISC-V, and qemu to run its programs
#   scripts/deps.sh wasm     also a compiler for WebAssembly, and Node to run its programs
#   scripts/deps.sh web      also what wasm and browser install, and a compiler for TypeScript
#   scripts/deps.sh java     also a JDK, JUnit, and Python to compile the tests' programs
#   scripts/deps.sh swift    also Swift in a root of its own, where none is on PATH (swift_root.sh)
#   scripts/deps.sh macos    also pip, for a compiler for macOS (macos.sh)
#   scripts/deps.sh arm64    also a compiler for 64-bit ARM, and qemu to run its programs
#   scripts/deps.sh armv7    the same for 32-bit ARM
#   scripts/deps.sh windows  also a compiler for Windows, and wine to run its programs
#   scripts/deps.sh browser  also a browser without a window, and Python to drive it
#   scripts/deps.sh BACKEND  also the library of a backend, as its debian.txt and deps.sh say
#   scripts/deps.sh backends also the libraries of all backends
set -eu

packages="cmake ninja-build g++ make git patch pkg-config ccache
  flatbuffers-compiler libflatbuffers-dev zlib1g-dev libsimdjson-dev libcxxopts-dev
  libgtest-dev libbenchmark-dev libhwy-dev libsodium-dev"
backends=$(dirname "$0")/../backends
then=""  # Scripts that get what Debian's packages cannot bring.
# What backends stand on: packages that debian.txt names, and what deps.sh gets.
add_backends() {
  for backend in "$@"; do
    folder=$backends/${backend%/}
    [ ! -e "$folder/debian.txt" ] || packages="$packages $(grep -v '^#' "$folder/debian.txt")"
    [ ! -e "$folder/deps.sh" ] || then="$then $folder/deps.sh"
  done
}
wasm="clang-22 lld-22 llvm-22 wasi-libc libc++-22-dev-wasm32 libc++abi-22-dev-wasm32
  libclang-rt-22-dev-wasm32 nodejs"
browser="chromium-headless-shell fonts-dejavu-core python3 python3-venv"
for extra in "$@"; do
  case "$extra" in
    clang) packages="$packages clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev" ;;
    python) packages="$packages python3 python3-venv" ;;
    wheel) packages="$packages python3 python3-venv python3-dev python3-pip advancecomp" ;;
    arm64) packages="$packages g++-aarch64-linux-gnu qemu-user" ;;
    armv7) packages="$packages g++-arm-linux-gnueabihf qemu-user" ;;
    windows) packages="$packages clang-14 lld-14 g++-mingw-w64-x86-64-posix libz-mingw-w64-dev wine64" ;;
    firmware) packages="$packages gcc-arm-none-eabi libnewlib-arm-none-eabi
      libstdc++-arm-none-eabi-newlib qemu-system-arm" ;;
    riscv) packages="$packages gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf
      libstdc++-arm-none-eabi-newlib qemu-system-misc" ;;  # firmware.sh explains the C++ headers.
    wasm) packages="$packages $wasm" ;;
    browser) packages="$packages $browser" ;;
    java) packages="$packages openjdk-17-jdk-headless junit4 python3" ;;
    swift)
      packages="$packages python3"
      command -v swift-test >/dev/null 2>&1 || then="$then $(dirname "$0")/swift_root.sh"
      ;;
    macos) packages="$packages python3 python3-pip" ;;
    web) packages="$packages $wasm $browser node-typescript" ;;
    backends) add_backends $(cd "$backends" && ls -d */) ;;
    *)
      if [ ! -d "$backends/$extra" ]; then
        known=$(cd "$backends" && ls -d */ | tr -d / | paste -s -d ' ')
        echo "deps.sh: unknown argument '$extra' (clang, python, wheel, firmware, riscv, wasm, web," \
          "java, swift, macos, arm64, armv7, windows, browser, backends, $known)" >&2
        exit 2
      fi
      add_backends "$extra"
      ;;
  esac
done

# Needs the packages. What the scripts print is the folder of what they got.
get_others() {
  for script in $then; do "$script" >/dev/null; done
}

command -v dpkg-query >/dev/null 2>&1 || {
  echo "deps.sh: not a Debian system; install these by hand: $(echo $packages)" >&2
  exit 1
}

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || { get_others; exit; }

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || {
    echo "deps.sh: cannot install without root or sudo:$missing" >&2
    exit 1
  }
  as_root="sudo"
fi

echo "deps.sh: installing from Debian:$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Another may be installing: apt-get does not wait for itself.
lock=${XDG_CACHE_HOME:-$HOME/.cache}/taper/deps.lock
mkdir -p "${lock%/*}"
exec 9>"$lock" && flock 9
install="$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends"
# A fresh machine has no package lists yet: refresh them once and try again.
if ! $install $missing >"$log" 2>&1; then
  $as_root apt-get update -q >"$log" 2>&1 || true
  $install $missing >"$log" 2>&1 || {
    echo "deps.sh: cannot install:$missing ($(grep -m1 '^E:' "$log" || echo 'apt-get failed'))" >&2
    exit 1
  }
fi
get_others
