#!/usr/bin/env bash
# curl, a few hundred requests in each run of it, over one connection with as many streams as CONCURRENCY says.
# README.md has the arguments.
set -euo pipefail

host=$1 port=$2 ca=$3 topic=$4 first=$5 count=$6 concurrency=$7 told=$8
chunk=500
folder=$(mktemp -d "${TMPDIR:-/tmp}/curl-sender-XXXXXX")
trap 'rm -rf "$folder"' EXIT

# requests — a configuration of curl with a request for each number on standard input.
requests() {
    awk -v address="https://$host:$port" -v ca="$ca" -v topic="$topic" '{
        if (NR > 1) print "next"
        printf "url = \"%s/3/device/%064x\"\n", address, $1
        printf "cacert = \"%s\"\nhttp2\nmax-time = 20\nsilent\noutput = \"/dev/null\"\n", ca
        printf "header = \"apns-topic: %s\"\nheader = \"apns-push-type: alert\"\n", topic
        printf "header = \"apns-id: 00000000-0000-4000-8000-%012x\"\n", $1
        printf "data = \"{\\\"aps\\\":{\\\"alert\\\":\\\"Number %d\\\",\\\"sound\\\":\\\"default\\\"}}\"\n", $1
        printf "write-out = \"%%{http_code} %d\\n\"\n", $1
    }'
}

# What curl says of each request: `200 NUMBER`, and `000 NUMBER` for one that got no answer.
for ((start = first; start < first + count; start += chunk)); do
    last=$((start + chunk - 1 < first + count - 1 ? start + chunk - 1 : first + count - 1))
    seq "$start" "$last" >"$folder/todo"
    while [ -s "$folder/todo" ]; do
        requests <"$folder/todo" >"$folder/requests"
        # Its exit code is that of one of the transfers: the lines tell more.
        curl --parallel --parallel-max "$concurrency" --config "$folder/requests" >"$folder/answers" 2>"$folder/errors" || true
        sed -n 's/^200 //p' "$folder/answers" >>"$told"
        if grep -Ev '^(200|000|429|500|503) ' "$folder/answers" >&2; then
            echo "was refused" >&2
            exit 1
        fi
        sed -n 's/^200 //p' "$folder/answers" | sort >"$folder/done"
        sort "$folder/todo" | comm -23 - "$folder/done" | sort -n >"$folder/left"
        mv "$folder/left" "$folder/todo"
        [ ! -s "$folder/todo" ] || sleep 0.2
    done
done
