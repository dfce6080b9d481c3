#!/usr/bin/env bash
# Serves the tiny model, drives a campaign on it, judges what was measured and draws it.
# Usage: engines/vllm-cpu/trap.sh DIR CAMPAIGN OUT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: trap.sh DIR CAMPAIGN OUT} campaign=${2:?} out=${3:?}
trapcheck=${TRAPCHECK:-target/debug/trapcheck}
port=${PORT:-8100}
mkdir -p "$out"
"$here/serve.sh" "$dir" "$port" >"$out/server.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true' EXIT
echo "waiting for the engine (a minute or two); its log is $out/server.log"
until "$dir/venv/bin/python" - "$port" <<'PYTHON' 2>/dev/null
import sys, urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/health", timeout=5)
PYTHON
do
    kill -0 "$server" 2>/dev/null || { tail -n 20 "$out/server.log"; exit 2; }
    sleep 2
done
"$trapcheck" drive --url "http://127.0.0.1:$port" --config "$campaign" --out "$out" --sample 1
"$trapcheck" score "$out"
"$trapcheck" figures run "$out" --out "$out/figures"
