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
# The cell of the quick run is the same engine under a shorter protocol.
sed -E 's/^(name|protocol): .*/\1: vllm-cpu-quick/' "$made/cells/vllm-cpu-plain.yaml" \
    >"$made/cells/vllm-cpu-quick.yaml"
rm -rf "$dir/configs"
mv "$made" "$dir/configs"
