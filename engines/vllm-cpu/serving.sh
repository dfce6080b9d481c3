# To be sourced. `serving DIR LOG [FLAG...]` serves the tiny model until the script ends or
# `stop_serving` is called, and comes back when it answers at $url. The engine is the one whose
# serve.sh lies beside the script.
port=${PORT:-8100}
url="http://127.0.0.1:$port"
trapcheck=${TRAPCHECK:-target/debug/trapcheck}
server=

stop_serving() {
    [ -n "$server" ] || return 0
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}

serving() {
    local dir=$1 log=$2
    shift 2
    "$(dirname "$0")/serve.sh" "$dir" "$port" "$@" >"$log" 2>&1 &
    server=$!
    trap stop_serving EXIT
    echo "waiting for the engine (a minute or two); its log is $log"
    until "$dir/venv/bin/python" -c "import urllib.request as r; r.urlopen('$url/health', timeout=5)" 2>/dev/null
    do
        kill -0 "$server" 2>/dev/null || { tail -n 20 "$log"; exit 2; }
        sleep 2
    done
}
