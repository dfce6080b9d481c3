#!/usr/bin/env bash
# Serves the tiny model, drives a campaign on it, judges what was measured and draws it. The first
# time it measures the machine's all-miss rate (calibrate.sh); that is kept in DIR/configs.
# Usage: engines/vllm-cpu/trap.sh DIR CAMPAIGN OUT    (CAMPAIGN: a name in configs/campaigns)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: trap.sh DIR CAMPAIGN OUT} campaign=${2:?} out=${3:?}
. "$here/serving.sh"
[ -d "$dir/configs" ] || "$here/calibrate.sh" "$dir"
configs=$dir/configs
mkdir -p "$out"
serving "$dir" "$out/server.log"
"$trapcheck" drive --url "$url" --config "$configs/campaigns/$campaign.yaml" \
    --configs "$configs" --out "$out" --sample 1
"$trapcheck" score --configs "$configs" "$out"
"$trapcheck" figures run --configs "$configs" "$out" --out "$out/figures"
