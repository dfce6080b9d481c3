#!/usr/bin/env bash
# Builds an environment with SGLang, to be run without a GPU.
# Usage: engines/sglang-cpu/install.sh DIR    (7 GB; Python 3.11; packages from PyPI alone)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: install.sh DIR}
mkdir -p "$dir"
[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
# SGLang comes last and without its requirements: its kernels (sglang-kernel, flashinfer and
# others) are built for GPUs and do not load without a driver; none of them is needed here.
"$dir/venv/bin/pip" install --quiet --no-cache-dir --no-deps --requirement "$here/requirements.txt"
"$dir/venv/bin/pip" install --quiet --no-cache-dir --no-deps sglang==0.5.23
echo "the engine is in $dir: $(du -sh "$dir" | cut -f1)"
