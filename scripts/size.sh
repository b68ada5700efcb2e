#!/bin/sh
# Prints what the runtime adds to a statically linked program: text + data of test/size's programs
# minus those of an empty one. Exits 1 when the core, it with all kernels, or a binary trimmed to a
# model outgrew its limit.
#
#   scripts/size.sh build/size
set -eu
bin=${1:?usage: size.sh BUILD}/bin
limit=49152
limit_all=512000
limit_digits=92160
limit_mobilenet_v2=122880

bytes() { size "$1" | awk 'NR == 2 { print $1 + $2 }'; }

empty=$(bytes "$bin"/size_empty)
core=$(($(bytes "$bin"/size_core) - empty))
echo "core runtime, no kernels       $core bytes text+data (limit $limit)"
if [ -x "$bin"/size_add ]; then
  echo "core and aten::add.out         $(($(bytes "$bin"/size_add) - empty)) bytes"
fi
if [ -x "$bin"/size_all ]; then
  all=$(($(bytes "$bin"/size_all) - empty))
  echo "core and every kernel          $all bytes (limit $limit_all)"
  if [ "$all" -gt "$limit_all" ]; then
    echo "size.sh: the kernels are over their limit" >&2
    exit 1
  fi
fi
# What one model takes, trimmed to its operators and dtypes.
trimmed() {
  [ -x "$bin/size_of_$1" ] || return 0
  sized=$(($(bytes "$bin/size_of_$1") - empty))
  printf '%-30s %s bytes (limit %s)\n' "trimmed to $1" "$sized" "$2"
  if [ "$sized" -gt "$2" ]; then
    echo "size.sh: the binary trimmed to $1 is over its limit" >&2
    exit 1
  fi
}
trimmed digits "$limit_digits"
trimmed mobilenet_v2 "$limit_mobilenet_v2"
if [ "$core" -gt "$limit" ]; then
  echo "size.sh: the core runtime is over its limit" >&2
  exit 1
fi
