#!/usr/bin/env bash
# Serves the tiny model and drives a burst of three minutes on it; measures what was recorded. The
# first time it measures the machine's all-miss rate with the prefix cache off (four minutes); the
# cells that say so are kept in DIR/configs.
# Usage: engines/sglang-cpu/trap-quick.sh DIR OUT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: trap-quick.sh DIR OUT} out=${2:?}
. "$here/../vllm-cpu/serving.sh"

calibrate() {
    local made=$dir/configs.new campaign
    rm -rf "$made"
    mkdir -p "$dir/calibration"
    cp -r configs "$made"
    # The cell is the one of vLLM's CPU engine, but for what is said here and measured below.
    sed -E -e 's/^name: .*/name: sglang-cpu-plain/' -e 's/^  name: vllm$/  name: sglang/' \
        -e 's/^  version: .*/  version: 0.5.23/' -e 's/^model: [^ ]*/model: tiny-gpt2-random/' \
        -e 's/2 kv heads/8 kv heads/' -e 's/^block_tokens: .*/block_tokens: 1/' \
        -e 's/^batching: .*/batching: separate/' -e 's/^max_running: .*/max_running: 64/' \
        "$made/cells/vllm-cpu-plain.yaml" >"$made/cells/sglang-cpu-plain.yaml"
    for campaign in calibrate trap-quick; do
        sed 's/vllm-cpu/sglang-cpu/g' "$made/campaigns/vllm-cpu-$campaign.yaml" \
            >"$made/campaigns/sglang-cpu-$campaign.yaml"
    done
    serving "$dir" "$dir/calibration/server.log" --disable-radix-cache
    "$trapcheck" drive --url "$url" --config "$made/campaigns/sglang-cpu-calibrate.yaml" \
        --configs "$made" --out "$dir/calibration" --sample 1
    stop_serving
    "$trapcheck" calibrate --configs "$made" --force "$dir/calibration"
    sed -E 's/^name: .*/name: sglang-cpu-quick/; s/^protocol: .*/protocol: vllm-cpu-quick/' \
        "$made/cells/sglang-cpu-plain.yaml" >"$made/cells/sglang-cpu-quick.yaml"
    rm -rf "$dir/configs"
    mv "$made" "$dir/configs"
}

[ -d "$dir/configs" ] || calibrate
mkdir -p "$out"
serving "$dir" "$out/server.log"
"$trapcheck" drive --url "$url" --config "$dir/configs/campaigns/sglang-cpu-trap-quick.yaml" \
    --configs "$dir/configs" --out "$out" --sample 1
curl --silent "$url/metrics" >"$out/metrics.txt"
"$trapcheck" score --configs "$dir/configs" "$out"
"$trapcheck" diagnose "$out/server.log"
