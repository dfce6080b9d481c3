#!/usr/bin/env bash
# Serves the tiny model, drives a burst of three minutes on it, scores what was measured and asks the
# server's log whether the engine is trapped. The load is that of vLLM's cell: nothing here is
# calibrated, and what it shows is how SGLang answers.
# Usage: engines/sglang-cpu/trap-quick.sh DIR OUT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: trap-quick.sh DIR OUT} out=${2:?}
. "$here/../vllm-cpu/serving.sh"
configs=$dir/quick-configs
rm -rf "$configs"
cp -r configs "$configs"
sed -E -e 's/^name: .*/name: sglang-cpu-quick/' -e 's/^protocol: .*/protocol: vllm-cpu-quick/' \
    -e 's/^  name: vllm$/  name: sglang/' -e 's/^  version: .*/  version: 0.5.23/' \
    -e 's/^model: [^ ]*/model: tiny-gpt2-random/' -e 's/2 kv heads/8 kv heads/' \
    -e 's/^block_tokens: .*/block_tokens: 1/' -e 's/^batching: .*/batching: separate/' \
    -e 's/^max_running: .*/max_running: 64/' \
    "$configs/cells/vllm-cpu-plain.yaml" >"$configs/cells/sglang-cpu-quick.yaml"
mkdir -p "$out"
serving "$dir" "$out/server.log"
"$trapcheck" drive --url "$url" --cell sglang-cpu-quick --arm burst --rate 1.5 --seed 9 \
    --configs "$configs" --out "$out/burst" --sample 1
"$trapcheck" score --configs "$configs" "$out/burst"
# Its answer is 1 where the engine is trapped.
"$trapcheck" diagnose "$out/server.log" || [ $? -eq 1 ]
