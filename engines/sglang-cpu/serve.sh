#!/usr/bin/env bash
# Serves a tiny model of random weights on the loopback until it is stopped.
# Usage: engines/sglang-cpu/serve.sh DIR [PORT [FLAG...]]    (--disable-radix-cache: no prefix cache)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: serve.sh DIR [PORT [FLAG...]]}
port=${2:-8100}
shift; shift || true
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 OMP_NUM_THREADS=1
# Not SGLANG_USE_CPU_ENGINE=1: it imports compiled kernels that are in no package. Plain torch serves
# models without rotary positions, so this one is GPT-2's shape. Gauges are renewed at every step.
exec "$dir/venv/bin/python" -m sglang.launch_server \
    --model-path "$here/model" --served-model-name tiny --load-format dummy --dtype bfloat16 \
    --skip-tokenizer-init --device cpu --attention-backend torch_native --sampling-backend pytorch \
    --context-length 4352 --max-total-tokens 30016 --max-running-requests 64 \
    --chunked-prefill-size 2048 --schedule-policy fcfs --decode-log-interval 1 \
    --enable-metrics --enable-cache-report --host 127.0.0.1 --port "$port" "$@"
