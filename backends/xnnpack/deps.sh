#!/bin/sh
# Downloads and builds XNNPACK, if that has not been done yet.
exec "$(dirname "$0")/../../scripts/xnnpack.sh"
