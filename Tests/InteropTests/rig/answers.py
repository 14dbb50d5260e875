"""What clients are told by a gateway whose requests wait for the push service, and by the push service itself: see
Scripts/gateway-answers."""
import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from rig import CLIENTS, GO, OPTIONAL, PYTHON, TOPIC, Failure, Mock, Trial, built, missing, program

CLIENTS_ASKED = ["node", "aioapns", "curl", "go", "binary"]
SHARES = {
    "good": 60, "unregistered": 8, "malformed": 5, "priority": 4, "topic": 5, "large": 5, "id": 3, "expiration": 3,
    "collapse": 2, "bad": 2, "throttled": 1,
}
# aioapns makes the path and the header fields by itself.
BEYOND_AIOAPNS = {"id", "expiration", "malformed"}
GONE = [f"{0xa0000 + number:064x}" for number in range(12)]
BAD = [f"{0xb0000 + number:064x}" for number in range(3)]
WAIT = "30s"


def main():
    parser = argparse.ArgumentParser(prog="Scripts/gateway-answers", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="requests of each client (2000)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--json", action="store_true", help="one object a line for each client")
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"of {', '.join(CLIENTS_ASKED)}; all without")
    options = parser.parse_args()
    if set(options.clients) - set(CLIENTS_ASKED):
        parser.error(f"clients are {', '.join(CLIENTS_ASKED)}")
    holdfast = program()
    print(f"gateway-answers: seed {options.seed}", file=sys.stderr)
    failed = False
    for kind in options.clients or CLIENTS_ASKED:
        if lacking := missing(kind) or (missing("node") if kind == "curl" else None):
            print(f"gateway-answers: left out: {kind}: {lacking}", file=sys.stderr)
            failed = failed or os.environ.get("HOLDFAST_REQUIRE_FOREIGN") == "1" and kind not in OPTIONAL
            continue
        try:
            row, differences = (binary_trial if kind == "binary" else trial)(holdfast, kind, options)
        except Failure as failure:
            row, differences = {"client": kind}, [str(failure)]
        print(json.dumps(row) if options.json else "  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        for difference in differences[:10]:
            print(f"error: seed {options.seed}: {kind}: {difference}", file=sys.stderr)
        failed = failed or bool(differences)
    sys.exit(1 if failed else 0)


def plan(kind, count, dice):
    """Requests of every sort, in a random order; each good and each throttled one to a token of its own."""
    sorts = [sort for sort in SHARES if kind != "aioapns" or sort not in BEYOND_AIOAPNS]
    chosen = dice.choices(sorts, [SHARES[sort] for sort in sorts], k=count)
    # A topic of which nothing was taken yet convicts no token.
    chosen[0] = "good"
    return [request(number, sort, dice) for number, sort in enumerate(chosen)]


def request(number, sort, dice):
    token = f"{number + 1:064x}"
    headers = {"apns-topic": TOPIC, "apns-push-type": "alert"}
    body = json.dumps({"aps": {"alert": f"Number {number}"}})
    match sort:
        case "unregistered":
            token = dice.choice(GONE)
        case "bad":
            token = dice.choice(BAD)
        case "throttled":
            token = f"{0xc0000 + number:064x}"
        case "malformed":
            token = dice.choice(["zz", "abc", "aa" * 101, ""])
        case "priority":
            headers["apns-priority"] = "7"
        case "topic":
            headers["apns-topic"] = "com.example.other"
        case "large":
            body = json.dumps({"aps": {"alert": "x" * 4096}})
        case "id":
            headers["apns-id"] = "no-uuid"
        case "expiration":
            headers["apns-expiration"] = "soon"
        case "collapse":
            headers["apns-collapse-id"] = "c" * 65
    return {"number": number, "sort": sort, "method": "POST", "path": f"/3/device/{token}", "headers": headers, "body": body}


def script(requests):
    """Of the mock: tokens that are gone, tokens that are bad, and a refusal for now of each throttled token's first."""
    throttled = [it["path"].removeprefix("/3/device/") for it in requests if it["sort"] == "throttled"]
    steps = [
        {"when": {"token": GONE}, "answer": {"reason": "Unregistered", "timestamp": 1_700_000_000_123}},
        {"when": {"token": BAD}, "answer": {"reason": "BadDeviceToken"}},
    ]
    if throttled:
        steps.append({"when": {"token": throttled, "once": "token"}, "answer": {"reason": "TooManyRequests"}})
    return json.dumps({"steps": steps})


def trial(holdfast, kind, options):
    dice = random.Random(f"{options.seed}.{kind}")
    requests = plan(kind, options.count, dice)
    began = time.monotonic()
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"holdfast-answers-{os.getpid()}.yaml"
    path.write_text(script(requests))
    flags = ["--topic", TOPIC, "--script", path]
    limits = "limits: {retry: {minimum: 20ms, maximum: 100ms}, suspects: {hold: 1s}}\n"
    try:
        with Trial(holdfast, flags, limits, f", answer: {{wait: {WAIT}}}") as it:
            direct_folder = it.folder / "direct"
            direct_folder.mkdir()
            direct = Mock(holdfast, direct_folder, *flags)
            try:
                (it.folder / "plan").write_text("".join(json.dumps(request) + "\n" for request in requests))
                expected = ask(kind, it.folder, "direct", direct.port, direct.folder / "ca.pem", direct)
                told = ask(kind, it.folder, "told", it.gateway.ports["http2"], it.gateway.ca, it.mock)
            finally:
                direct.process.kill()
            it.gateway.drain()
    finally:
        path.unlink()
    differences = compare(requests, expected, told, kind)
    row = {"client": kind, "requests": len(requests), "same": len(requests) - len(differences),
           "differences": len(differences), "statuses": dict(Counter(answer["status"] for answer in told.values())),
           "outcomes": dict(Counter(answer.get("outcome") for answer in told.values())),
           "throttled": sum(it["sort"] == "throttled" for it in requests), "seconds": round(time.monotonic() - began, 1)}
    return row, differences


def binary_trial(holdfast, kind, options):
    """A sender of the binary protocol that sends again what an error calls discarded: it hears of every bad token, and
    the push service takes every other notification once."""
    dice = random.Random(f"{options.seed}.{kind}")
    bad = set(dice.sample(range(1, options.count + 1), max(options.count // 100, 1)))
    began = time.monotonic()
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"holdfast-answers-{os.getpid()}.yaml"
    steps = [{"when": {"token": [f"{number:064x}" for number in sorted(bad)]}, "answer": {"reason": "Unregistered"}}]
    path.write_text(json.dumps({"steps": steps}))
    try:
        with Trial(holdfast, ["--script", path], binary=", errors: true") as it:
            told, refused = it.folder / "told", it.folder / "refused"
            done = subprocess.run(
                [sys.executable, CLIENTS / "binary_sender.py", "127.0.0.1", str(it.gateway.ports["binary"]), it.gateway.ca,
                 TOPIC, "1", str(options.count), "500", told, "--command", "2", "--refused", refused],
                capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise Failure(f"{kind} ended with {done.returncode}: {done.stderr[-500:]}")
            it.gateway.drain()
            named = Counter(map(int, refused.read_text().split()))
            taken = Counter(number for number, _ in it.mock.ledger())
            proven = set(map(int, told.read_text().split()))
    finally:
        path.unlink()
    good = set(range(1, options.count + 1)) - bad
    differences = [f"{number} was named, and is good" for number in named.keys() - bad]
    differences += [f"{number} is bad, and was not named" for number in bad - named.keys()]
    differences += [f"{number} was lost" for number in good - taken.keys()]
    differences += [f"{number} was taken {count} times" for number, count in taken.items() if count > 1]
    differences += [f"{number} was never proven" for number in good - proven]
    row = {"client": kind, "notifications": options.count, "bad": len(bad), "named": len(named), "taken": len(taken),
           "differences": len(differences), **json.loads(done.stdout), "seconds": round(time.monotonic() - began, 1)}
    return row, differences


def ask(kind, folder, name, port, ca, mock):
    command = {
        "node": ["node", CLIENTS / "node_asker.js"], "aioapns": [PYTHON, CLIENTS / "aioapns_asker.py"],
        "curl": ["bash", CLIENTS / "curl_asker.sh"],
        "go": [built("go_asker.go", "go_asker", GO, "go_common.go")] if kind == "go" else []}[kind]
    answers = folder / f"answers.{name}"
    done = subprocess.run(
        [*command, "127.0.0.1", str(port), ca, folder / "plan", "100", answers, mock.folder / "AuthKey.p8", "MOCKKEYID1",
         "MOCKTEAMID"], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Failure(f"{kind} ended with {done.returncode}: {done.stderr[-500:]}")
    return {answer["number"]: answer for answer in map(json.loads, answers.read_text().splitlines())}


def compare(requests, expected, told, kind):
    """What differs, of each request in words. What the service puts off, the gateway sends again: that is the one difference."""
    differences = []
    for it in requests:
        number = it["number"]
        ours, theirs = told.get(number), expected.get(number)
        if ours is None or theirs is None:
            differences.append(f"request {number} ({it['sort']}) has no answer")
            continue
        if it["sort"] == "throttled":
            if (theirs["status"], ours["status"]) != (429, 200):
                differences.append(f"request {number} (throttled): {theirs} directly, {ours} through the gateway")
            continue
        for name in ("status", "reason", "timestamp"):
            if ours.get(name) != theirs.get(name):
                differences.append(f"request {number} ({it['sort']}): {theirs} directly, {ours} through the gateway")
                break
        else:
            wanted = "confirmed" if ours["status"] == 200 else None
            if kind != "aioapns" and (ours.get("outcome") not in ([wanted] if wanted else ["rejected", "refused"])):
                differences.append(f"request {number} ({it['sort']}): {ours} through the gateway")
    return differences


main()
