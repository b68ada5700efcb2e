#!/bin/sh
# Installs the packages of the runtimes that benchmarks compare with into the user's cache, once, and
# prints their folder, for PYTHONPATH beside the environment of scripts/venv.sh. A package that cannot
# be installed is left out, which is said.
#
#   scripts/peers.sh            for this machine
#   scripts/peers.sh aarch64    those that run models on 64-bit ARM, for Python 3.11
set -eu
packages="onnxruntime==1.31.1 onnx==1.23.2 onnxscript==0.7.2 onnx_ir==1.1.0 ml_dtypes==0.6.0
  protobuf==7.36.2 flatbuffers==25.12.19 openvino==2026.4.1 openvino-telemetry==2025.2.0
  ncnn==1.0.20261020 pnnx==20261020 portalocker==4.4.2 tqdm==4.70.1 ai-edge-litert==2.3.0
  litert-torch==0.10.0
  absl-py==2.5.1 ai-edge-quantizer==0.10.0 fire==0.7.1 immutabledict==4.3.1 jax==0.10.2
  jaxlib==0.10.2 jaxtyping==0.3.11 kagglehub==1.0.3 litert-converter==0.5.0
  markdown-it-py==4.3.0 mdurl==0.1.2 multipledispatch==1.0.0 opt-einsum==3.4.0
  pygments==2.21.0 rich==15.0.0 tabulate==0.10.0 termcolor==3.3.0 wadler-lindig==0.1.8"

python=$("$(dirname "$0")"/venv.sh)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/taper/peers
options=""
if [ "${1:-}" = aarch64 ]; then
  folder=$folder-aarch64
  packages="$("$python" -m pip freeze --disable-pip-version-check | grep -E '^(numpy|executorch)==')
    $(echo "$packages" | grep -Eo '(onnxruntime|ncnn|ai-edge-litert)==[^ ]*')"
  options="--only-binary=:all: --python-version 3.11 --implementation cp
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64
    --platform manylinux_2_24_aarch64 --platform manylinux2014_aarch64"
elif [ $# -gt 0 ]; then
  echo "usage: peers.sh [aarch64]" >&2 && exit 2
fi
wanted=$(echo $packages)
if ! [ -f "$folder/.installed" ] || [ "$(cat "$folder/.installed")" != "$wanted" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  for package in $packages; do
    # Without dependencies, which are listed here or already in the environment.
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" \
      $options "$package" >"$folder/log" 2>&1 || echo "peers.sh: $package cannot be installed here" >&2
  done
  echo "$wanted" >"$folder/.installed"
fi
echo "$folder"
