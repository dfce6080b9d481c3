#!/usr/bin/env bash
# Writes the predictions of vllm-cpu-2's runs from the program and the configuration here:
# the hash of each plan, each run simulated and judged, and model F at both rates. Run again it
# writes the same bytes. Usage: predictions/vllm-cpu-2/make.sh [DIR]    (default: beside this file)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "${1:-$here}")
cd "$here/../.."
trapcheck=$(realpath "${TRAPCHECK:-target/debug/trapcheck}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$trapcheck" campaign configs/campaigns/vllm-cpu-2.yaml --out "$work/runs" 2>/dev/null
for run in "$work"/runs/*/*/*/; do
    printf '%s  %s\n' "$(sha256sum "$run/plan.csv" | cut -d' ' -f1)" "$(basename "$run")"
done >"$out/plans.sha256"
ln -s "$PWD/configs" "$work/configs"
judge() { (cd "$work" && "$trapcheck" "$@") 2>/dev/null || true; }
judge score runs --out "$work/scores" >/dev/null
cp "$work/scores/runs.csv" "$out/simulator.csv"
cp "$work/scores/trap_check.csv" "$out/simulator-trap-check.csv"
for name in vllm-cpu-2 vllm-cpu-2-rescue vllm-cpu-2-mechanism; do
    judge verdict "$name" runs --format json >"$out/$name.json"
done
for rate in 1.45 1.85; do
    "$trapcheck" model trap --cell vllm-cpu-2 --rate "$rate" --format json >"$out/model-f-x$rate.json"
done
(cd "$out" && sha256sum -- *.csv *.json *.sha256 >SHA256SUMS)
