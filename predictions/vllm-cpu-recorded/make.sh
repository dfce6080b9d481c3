#!/usr/bin/env bash
# Writes the predictions of vllm-cpu-recorded's runs from the program, the configuration and the
# recorded sessions, which are not part of the project. Run again it writes the same bytes.
# Usage: TRACES=turns.csv.gz predictions/vllm-cpu-recorded/make.sh [DIR]    (default: beside this file)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "${1:-$here}")
sessions=$(realpath "${TRACES:?say where the recorded sessions lie: TRACES=turns.csv.gz}")
cd "$here/../.."
trapcheck=$(realpath "${TRAPCHECK:-target/debug/trapcheck}")
runs=results/vllm-cpu-recorded/rec_1_pulled_20261130-011500
first=$runs/agentload_closed/20261130-002617_n16_gap10_s0
knee() {
    "$trapcheck" knee --cell vllm-cpu-tiny-30k-recorded --workload vllm-cpu-recorded \
        --sessions "$sessions" --ramp 2 --format csv "$@" 2>/dev/null
}
knee --against "$runs" >"$out/gap10.csv"
for gap in 30 60; do
    ask=(--gap-limit "$gap" --order-of "$first")
    knee "${ask[@]}" --population 16,20,24,32,48 >"$out/gap$gap.csv"
    knee "${ask[@]}" --population 16,20,24,32,48 --measured 180,314 >"$out/gap$gap-later.csv"
    fine=$(seq -s, 14 32)
    knee "${ask[@]}" --population "$fine" | grep -E '^arm|_up_to|_from' >"$out/gap$gap-bracket.csv"
done
(cd "$out" && sha256sum -- *.csv >SHA256SUMS)
