"""Very many notifications that are scheduled for the same second: see Scripts/schedule-flood."""
import argparse
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import load
from rig import Failure, Mock, Process, free_port, wait_until


def main():
    parser = argparse.ArgumentParser(prog="Scripts/schedule-flood", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="notifications (1000000)")
    parser.add_argument("--rate", type=int, default=50_000, help="what the route may send a second (50000)")
    parser.add_argument("--after", type=int, default=60, help="seconds until they are due (60)")
    row = load.run(trial, parser.parse_args())
    print(json.dumps(row), flush=True)
    for fault in row["faults"]:
        print(f"error: {fault}", file=sys.stderr)
    sys.exit(1 if row["faults"] else 0)


class Watch(threading.Thread):
    """Notes when how many were taken, every 20 ms, by the ledger's bytes: its lines are all as long."""

    def __init__(self, ledger):
        super().__init__(daemon=True)
        self.ledger, self.samples, self.line = ledger, [], 0

    def taken(self):
        size = self.ledger.stat().st_size if self.ledger.exists() else 0
        if size and not self.line:
            with self.ledger.open("rb") as file:
                self.line = len(file.readline())
        return size // self.line if self.line else 0

    def run(self):
        while True:
            taken, now = self.taken(), time.time()
            self.samples.append((now, taken))
            time.sleep(0.02)

    def greatest_in(self, seconds):
        """The most that came within so long."""
        greatest, start = 0, 0
        for now, taken in self.samples:
            while self.samples[start][0] < now - seconds:
                start += 1
            greatest = max(greatest, taken - self.samples[start][1])
        return greatest

    def at(self, count):
        return next(now for now, taken in self.samples if taken >= count)


def trial(holdfast, folder, options):
    mock = Mock(holdfast, folder)
    serve = None
    port = free_port()
    try:
        rate = f"    rate: {{per-second: {options.rate}, burst: {options.rate // 10}}}"
        configuration = load.configure(folder, mock, port, journal="limit: 8G", route=rate)
        due = int(time.time()) + options.after
        serve = Process([holdfast, "serve", "--config", configuration], folder / "serve.log")
        journal = folder / "push.journal"

        def status():
            told = subprocess.run(
                [holdfast, "journal", "status", "--journal", journal, "--json"], capture_output=True, text=True)
            return json.loads(told.stdout) if told.returncode == 0 else None

        wait_until("the service runs", lambda: serve.is_running and (status() or {}).get("owner"), 30)
        before = resident(serve, "VmRSS")
        watch = Watch(mock.ledger_path)
        watch.start()
        began = time.time()
        load.hand_over(folder, port, options.count, 1000, 2, "apns-push-type: alert", f"holdfast-deliver-after: {due}")
        if time.time() >= due:
            raise Failure("they were due before all were taken: give more time with --after")
        wait_until("all are scheduled", lambda: (status() or {}).get("scheduled") == options.count, 10)
        handed = time.time()
        scheduled = resident(serve, "VmRSS")
        early = 0
        while time.time() < due:
            early = max(early, watch.taken())
            time.sleep(0.005)
        limit = options.count / options.rate * 3 + 60
        wait_until("all were taken", lambda: watch.taken() >= options.count, limit)
        wait_until("all are confirmed", lambda: (status() or {}).get("unconfirmed") == 0, 60)
        ended = time.time()
        greatest = resident(serve, "VmHWM")
        if (code := serve.end()) != 0:
            raise Failure(f"the service ended with {code}: {serve.said()}")
        rows = mock.ledger()
    except Failure as failure:
        raise Failure(": ".join([str(failure), *(it.said() for it in [serve] if it)])) from None
    finally:
        for process in (serve, mock.process):
            if process and process.is_running:
                process.kill()
    middle = (watch.at(options.count * 9 // 10) - watch.at(options.count // 10))
    row = {
        "count": options.count, "rate": options.rate, "early": early,
        "lost": options.count - len({apns_id for _, apns_id in rows}), "duplicates": len(rows) - options.count,
        "handedOverInSeconds": round(handed - began, 1), "firstAfterSeconds": round(watch.at(1) - due, 2),
        "lastAfterSeconds": round(watch.at(options.count) - due, 2),
        "perSecond": round(options.count * 8 // 10 / middle), "greatestInASecond": watch.greatest_in(1),
        "confirmedAfterSeconds": round(ended - due, 2),
        "memoryMiB": {"idle": before >> 10, "scheduled": scheduled >> 10, "greatest": greatest >> 10}, "faults": []}
    if early:
        row["faults"].append(f"{early} went before their time")
    if row["lost"] or row["duplicates"]:
        row["faults"].append(f"{row['lost']} were lost, {row['duplicates']} went twice")
    # The watch's own steps, and what the service writes down in one piece, blur a second.
    if row["greatestInASecond"] > options.rate * 1.15 + options.rate // 10:
        row["faults"].append(f"{row['greatestInASecond']} went within a second, beyond the route's rate")
    return row


def resident(process, what):
    status = Path(f"/proc/{process.child.pid}/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0])


main()
