"""A backlog for Google, and a quota that is smaller: see Scripts/fcm-quota."""
import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from rig import Failure, MockFCM, Process, free_port, journal_status, program, queue_messages, wait_until

# Google's quota for a project, in a second.
QUOTA = 10_000
# The ramp of a route's rate takes 60 s from the first message on; the part that is measured begins after it.
RAMP = 60
# The part that is measured ends when so much is left: what waits then no longer fills all connections.
REST = 0.05


def main():
    parser = argparse.ArgumentParser(prog="Scripts/fcm-quota", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="messages that wait (1000000)")
    parser.add_argument("--rate", type=int, help="of the route, in place of its default")
    parser.add_argument("--delay", type=int, default=50, help="milliseconds until Google's mock answers (50)")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            row = trial(program(), Path(folder), options)
    except Failure as failure:
        sys.exit(f"error: {failure}")
    faults = judge(row)
    print(json.dumps({**row, "faults": faults}), flush=True)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


def trial(holdfast, folder, options):
    # Google counts by the minute; a second gives away nothing, and refuses sooner.
    mock = MockFCM(
        holdfast, folder, "--quota", str(QUOTA), "--quota-seconds", "1", "--delay", str(options.delay), "--json")
    serve = None
    try:
        (folder / "holdfast.yaml").write_text(configuration(mock, options.rate))
        # Before any service runs.
        queue_messages(holdfast, folder, 1, options.count)
        serve = Process([holdfast, "serve", "--config", folder / "holdfast.yaml"], folder / "serve.log")
        wait_until("the first message was taken", lambda: serve.is_running and mock.taken, 60)
        began = time.monotonic()
        samples = watch(mock, began, options.count)
        journal = folder / "push.journal"
        wait_until("all are confirmed", lambda: journal_status(holdfast, journal)["unconfirmed"] == 0, 120)
        if (code := serve.end()) != 0:
            raise Failure(f"the service ended with {code}: {serve.said()}")
        status = journal_status(holdfast, journal)
        mock.process.end()
        counts = json.loads(mock.process.said().splitlines()[-1])
        taken = [id for _, id in mock.ledger()]
    except Failure as failure:
        raise Failure(": ".join([str(failure), *(it.said() for it in [serve] if it)])) from None
    finally:
        for process in (serve, mock.process):
            if process and process.is_running:
                process.kill()
    first = next(sample for sample in samples if sample[0] >= RAMP)
    last = next(sample for sample in samples if sample[1] >= options.count * (1 - REST))
    refused = sum(counts["rejected"].values())
    return {
        "count": options.count, "quota": QUOTA, "seconds": round(samples[-1][0], 1),
        "measuredSeconds": round(last[0] - first[0], 1),
        "used": round((last[1] - first[1]) / (last[0] - first[0]) / QUOTA, 4),
        "refused": refused, "refusedShare": round(refused / counts["requests"], 5),
        "rejected": status["rejections"], "lost": options.count - len(set(taken)), "twice": len(taken) - len(set(taken)),
        "firstTenSeconds": next(sample[1] for sample in samples if sample[0] >= 10),
    }


def judge(row):
    faults = []
    if row["measuredSeconds"] < 10:
        faults.append("the ramp left too little to measure: give more with --count")
    if row["used"] < 0.95:
        faults.append(f"{row['used']:.1%} of the quota were used")
    if row["refusedShare"] > 0.01:
        faults.append(f"{row['refusedShare']:.1%} of the requests were refused")
    if row["rejected"] or row["lost"] or row["twice"]:
        faults.append(f"{row['rejected']} were rejected, {row['lost']} lost, {row['twice']} taken twice")
    return faults


def configuration(mock, rate):
    rates = f"    rate: {{per-second: {rate}, burst: {max(rate // 10, 1)}}}\n" if rate else ""
    return f"""\
journal: {{path: push.journal, limit: 4G}}
routes:
{mock.route(rates)}gateway:
  http2: {{listen: "127.0.0.1:{free_port()}"}}
"""


def watch(mock, began, count):
    """(seconds, messages taken), ten times a second, until all were taken."""
    samples, taken = [], 0
    with mock.ledger_path.open("rb") as ledger:
        while taken < count:
            taken += ledger.read().count(b"\n")
            samples.append((time.monotonic() - began, taken))
            if len(samples) > 6000:
                raise Failure(f"{taken} of {count} were taken after {samples[-1][0]:.0f} s")
            time.sleep(0.1)
    return samples


main()
