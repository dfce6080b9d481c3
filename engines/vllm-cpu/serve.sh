#!/usr/bin/env bash
# Serves the tiny model on the loopback, with the pool and the limits of the cell
# vllm-cpu-tiny-30k and vllm-cpu-plain, until it is stopped.
# Usage: engines/vllm-cpu/serve.sh DIR [PORT [--no-enable-prefix-caching]]
set -euo pipefail
dir=${1:?usage: serve.sh DIR [PORT]}
port=${2:-8100}
shift; shift || true
allocator=$(ls /usr/lib/*/libtcmalloc_minimal.so.4 2>/dev/null | head -n 1 || true)
# The worker has one core to itself where there is a second one for the rest.
core=$(($(nproc) > 1 ? 1 : 0))
export LD_PRELOAD=$allocator
export VLLM_SERVER_DEV_MODE=1 VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=$core
export VLLM_NO_USAGE_STATS=1 HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
# `vllm serve` does not start: it asks for a distribution named vllm, and this one is vllm-cpu.
exec "$dir/venv/bin/python" -m vllm.entrypoints.openai.api_server \
    --model "$dir/model" --served-model-name tiny --load-format dummy --dtype bfloat16 \
    --max-model-len 4352 --block-size 32 --num-gpu-blocks-override 938 --max-num-seqs 256 \
    --max-num-batched-tokens 2048 --enable-chunked-prefill --scheduling-policy fcfs \
    --enable-prompt-tokens-details --stream-interval 10 --enforce-eager \
    --host 127.0.0.1 --port "$port" --disable-uvicorn-access-log "$@"
