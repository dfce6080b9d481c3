#!/usr/bin/env bash
# Measures how fast this machine serves with every turn missing, and writes the cells that say so
# into DIR/configs: the load of the runs that follow is a multiple of it.
# Usage: engines/vllm-cpu/calibrate.sh DIR    (five minutes, on a machine that does nothing else)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: calibrate.sh DIR}
. "$here/serving.sh"
made=$dir/configs.new
rm -rf "$made"
mkdir -p "$dir/calibration"
cp -r configs "$made"
serving "$dir" "$dir/calibration/server.log" --no-enable-prefix-caching
"$trapcheck" drive --url "$url" --config "$made/campaigns/vllm-cpu-calibrate.yaml" \
    --configs "$made" --out "$dir/calibration" --sample 1
stop_serving
"$trapcheck" calibrate --configs "$made" --force "$dir/calibration"
# A burst is so much work: on a slower machine as many sessions weigh more, and leave less to see
# after them. The protocol's was chosen for the cell of vllm-cpu-2.
rate() { sed -n 's/^all_miss_tokens_per_s: //p' "$1"; }
burst=$(awk -v here="$(rate "$made/cells/vllm-cpu-plain.yaml")" \
    -v there="$(rate configs/cells/vllm-cpu-2.yaml)" 'BEGIN { printf "%.0f", 200 * here / there }')
for protocol in "$made"/protocols/vllm-cpu.yaml "$made"/protocols/vllm-cpu-quick.yaml; do
    sed -i -e "s/sessions: 200}/sessions: $burst}/" \
        -e "s/burst of 200/burst of $burst (200 on a machine as fast as the cell of vllm-cpu-2)/" "$protocol"
    grep -q "sessions: $burst}" "$protocol"
done
# The cell of the quick run is the same engine under a shorter protocol.
sed -E 's/^(name|protocol): .*/\1: vllm-cpu-quick/' "$made/cells/vllm-cpu-plain.yaml" \
    >"$made/cells/vllm-cpu-quick.yaml"
rm -rf "$dir/configs"
mv "$made" "$dir/configs"
