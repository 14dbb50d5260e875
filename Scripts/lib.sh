# What Scripts/run and Scripts/crash-loop share. Sourced, not run. Expects $HOLDFAST to name the program.

children=()

step() { printf '\n\033[1m== %s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }
tell() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# A directory that goes away with the script, and with it every process that the script has started.
make_workspace() {
    workspace=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-XXXXXX")
    trap clean_up EXIT
    trap 'exit 130' INT TERM
}

clean_up() {
    local status=$?
    local child
    for child in ${children[@]+"${children[@]}"}; do
        kill -9 "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    done
    rm -rf "$workspace"
    exit "$status"
}

stop_mock() {
    kill -TERM "$mock" 2>/dev/null || true
    wait "$mock" 2>/dev/null || true
}

# Starts the mock with the arguments given; sets $port and $mock.
start_mock() {
    # What an earlier one said must not be taken for this one's word.
    rm -f "$workspace/mock.out"
    "$HOLDFAST" mock http2 --listen 127.0.0.1:0 --certificate-directory "$workspace/certs" \
        --ledger "$workspace/ledger.ndjson" "$@" >"$workspace/mock.out" 2>"$workspace/mock.err" &
    mock=$!
    children+=("$mock")
    wait_until "the mock is ready" mock_is_ready
    port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$workspace/mock.out")
}

mock_is_ready() {
    kill -0 "$mock" 2>/dev/null || fail "the mock ended: $(cat "$workspace/mock.err")"
    grep -qs '^listening on ' "$workspace/mock.out"
}

# wait_until WHAT COMMAND… — looks every 10 ms, for at most a minute.
wait_until() {
    local what=$1 looks=0
    shift
    until "$@"; do
        looks=$((looks + 1))
        [ "$looks" -lt 6000 ] || fail "waited for a minute in vain until $what"
        sleep 0.01
    done
}

ledger_lines() { if [ -f "$workspace/ledger.ndjson" ]; then wc -l <"$workspace/ledger.ndjson"; else echo 0; fi; }
ledger_has() { [ "$(ledger_lines)" -ge "$1" ]; }

# generate COUNT — that many notifications, each to a token of its own.
generate() {
    awk -v count="$1" 'BEGIN {
        for (i = 1; i <= count; i++)
            printf "{\"token\":\"%064x\",\"apns-topic\":\"com.example.app\",\"apns-push-type\":\"alert\",\"payload\":{\"aps\":{\"alert\":\"Number %d\",\"sound\":\"default\"}}}\n", i, i
    }'
}

# json_field NAME — the number or word of the last field of that name in the line of JSON on standard input.
json_field() { sed -n "s/.*[{,]\"$1\":\([^],}]*\).*/\1/p"; }
