#!/usr/bin/env bash
# curl, telling what it was answered, request by request. README.md has the arguments.
set -euo pipefail

host=$1 port=$2 ca=$3 plan=$4 concurrency=$5 answers=$6 key=$7 key_id=$8 team_id=$9
folder=$(mktemp -d "${TMPDIR:-/tmp}/curl-asker-XXXXXX")
trap 'rm -rf "$folder"' EXIT
token=$(node "$(dirname "$0")/node_asker.js" - - - - - - "$key" "$key_id" "$team_id")

# A configuration of curl, with each answer in a file of its own.
python3 - "$plan" "$folder" "https://$host:$port" "$ca" "$token" >"$folder/requests" <<'PYTHON'
import json
import sys

plan, folder, address, ca, token = sys.argv[1:]
for place, request in enumerate(map(json.loads, open(plan))):
    number = request["number"]
    with open(f"{folder}/body.{number}", "w") as body:
        body.write(request["body"])
    if place:
        print("next")
    lines = {"url": address + request["path"], "request": request["method"], "cacert": ca,
             "data-binary": f"@{folder}/body.{number}", "output": f"{folder}/answer.{number}",
             "dump-header": f"{folder}/header.{number}"}
    for name, value in lines.items():
        print(f'{name} = "{value}"')
    for name, value in {**request["headers"], "authorization": token}.items():
        print(f'header = "{name}: {value}"')
    print("http2\nsilent\nmax-time = 60")
PYTHON
# Its exit code is that of one of the transfers: the headers tell more.
curl --parallel --parallel-max "$concurrency" --config "$folder/requests" 2>"$folder/errors" || cat "$folder/errors" >&2
python3 - "$plan" "$folder" >"$answers" <<'PYTHON'
import json
import os
import sys

plan, folder = sys.argv[1:]
for request in map(json.loads, open(plan)):
    number = request["number"]
    first, *rest = open(f"{folder}/header.{number}").read().splitlines()
    headers = dict(line.lower().split(": ", 1) for line in rest if ": " in line)
    told = {"number": number, "status": int(first.split()[1]), "id": headers.get("apns-id"),
            "outcome": headers.get("holdfast-outcome")}
    body = f"{folder}/answer.{number}"
    if os.path.exists(body) and (text := open(body).read()):
        told |= json.loads(text)
    print(json.dumps(told))
PYTHON
