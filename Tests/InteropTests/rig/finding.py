"""How long a service under load takes to find an outcome among millions: see Scripts/find-under-load."""
import argparse
import http.client
import json
import random
import statistics
import subprocess
import sys
import time

import load
from rig import Failure, Mock, Process, free_port, wait_until

# What a process costs on this machine, which the tool's searches are not judged by.
NOTHING = "a process that finds nothing"


def main():
    parser = argparse.ArgumentParser(prog="Scripts/find-under-load", description=__doc__)
    parser.add_argument("--ended", type=int, default=3_000_000, help="outcomes in the history (3000000)")
    parser.add_argument("--rate", type=int, default=3000, help="requests a second meanwhile; 0 for none (3000)")
    parser.add_argument("--searches", type=int, default=300, help="by each key (300)")
    parser.add_argument("--limit", type=float, default=50, help="milliseconds that 99 of 100 answers may take (50)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    rows = load.run(trial, options)
    bare = next(row["p99"] for row in rows if row["key"] == NOTHING)
    slow = [row["key"] for row in rows if row.get("p99", 0) - (bare if row.get("way") == "tool" else 0) > options.limit]
    if slow:
        print(f"error: beyond {options.limit} ms: {', '.join(slow)}", file=sys.stderr)
    sys.exit(1 if slow else 0)


def trial(holdfast, folder, options):
    dice = random.Random(options.seed)
    mock = Mock(holdfast, folder)
    serve = traffic = None
    port, admin = free_port(), free_port()
    journal = folder / "push.journal"
    (folder / "token").write_text("operators-of-this-trial\n")
    (folder / "token").chmod(0o600)
    page = f'admin: {{listen: "127.0.0.1:{admin}", token-file: token}}'
    configuration = load.configure(folder, mock, port, journal="history: {limit: 16G}", more=page)
    try:
        serve = Process([holdfast, "serve", "--config", configuration], folder / "serve.log")
        tool = Tool(holdfast, journal)
        wait_until("the service runs", lambda: serve.is_running and (journal / "control.sock").exists(), 30)
        # Each half million of one tag.
        for first in range(0, options.ended, 500_000):
            part = min(500_000, options.ended - first)
            load.hand_over(folder, port, part, 100_000, 1, f"holdfast-tag: campaign-{first // 500_000}")
        wait_until("all have ended", lambda: tool.status()["unconfirmed"] == 0, 600)
        if options.rate:
            flags = ["--rps", options.rate // 2, "-D", 3600, "-c", 2, "-m", 100]
            target = f"http://127.0.0.1:{port}/3/device/{1 << 40:064x}"
            traffic = Process([*load.command(folder, *flags), target], folder / "load.log")
        before = tool.status()["totals"]["accepted"]
        began = time.monotonic()
        rows = searches(tool, Admin(admin, "operators-of-this-trial"), journal, dice, options)
        accepted = tool.status()["totals"]["accepted"] - before
        rows.append({"key": "load", "acceptedASecond": round(accepted / (time.monotonic() - began)),
                     "history": tool.status()["history"]["count"], "seed": options.seed})
        print(json.dumps(rows[-1]), flush=True)
        return rows
    finally:
        for process in (traffic, serve, mock.process):
            if process and process.is_running:
                process.kill()


class Tool:
    def __init__(self, holdfast, journal):
        self.holdfast, self.journal = holdfast, journal

    def status(self):
        return json.loads(self.run("journal", "status"))

    def run(self, *words):
        done = subprocess.run(
            [self.holdfast, *words, "--journal", self.journal, "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"{' '.join(words)}: {done.stderr[-300:]}")
        return done.stdout

    def nothing(self):
        subprocess.run([self.holdfast, "--version"], stdout=subprocess.DEVNULL, check=True)

    def find(self, key, value):
        return self.run("journal", "find", f"--{key}", value, "--limit", "10").splitlines()


class Admin:
    """The admin listener, over one connection."""

    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.token = token

    def find(self, key, value):
        self.connection.request(
            "GET", f"/outcomes?{key}={value}&limit=10", headers={"Authorization": f"Bearer {self.token}"})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise Failure(f"/outcomes answered {answer.status}: {body[:300]}")
        return json.loads(body)["outcomes"]


def searches(tool, admin, journal, dice, options):
    """By each key, over each way: for what is there, and once for what is not."""
    rows = []
    bare = []
    ids = {}
    for _ in range(options.searches):
        found = admin.find("uid", str(dice.randrange(1, options.ended)))
        ids[found[0]["apns-id"]] = found[0]["token"]
    keys = {
        "apns-id": list(ids), "token": list(ids.values()),
        "tag": [f"campaign-{number // 500_000}" for number in range(0, options.ended, 500_000)],
        "no such token": [f"{(1 << 50) + number:064x}" for number in range(100)]}
    for way, ask in (("admin", admin.find), ("tool", tool.find)):
        for key, values in keys.items():
            times = []
            for number in range(options.searches):
                value = values[number % len(values)]
                if way == "tool":
                    began = time.monotonic()
                    tool.nothing()
                    bare.append((time.monotonic() - began) * 1000)
                name = "token" if key == "no such token" else key
                began = time.monotonic()
                try:
                    found = ask(name, value)
                except Failure:
                    if way == "admin" or key != "no such token":
                        raise
                    found = []
                times.append((time.monotonic() - began) * 1000)
                if bool(found) == (key == "no such token"):
                    raise Failure(f"{key} {value}: {len(found)} were found")
            rows.append(row(way, key, times))
    rows.append(row("tool", NOTHING, bare))
    return rows


def row(way, key, times):
    times.sort()
    figures = {
        "way": way, "key": key, "searches": len(times), "median": round(statistics.median(times), 2),
        "p99": round(times[min(len(times) * 99 // 100, len(times) - 1)], 2), "greatest": round(times[-1], 2)}
    print(json.dumps(figures), flush=True)
    return figures


main()
