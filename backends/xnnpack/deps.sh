#!/bin/sh
# Gets and builds XNNPACK, if it is not there.
exec "$(dirname "$0")/../../scripts/xnnpack.sh"
