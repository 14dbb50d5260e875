"""Apple's notifications while Google is away: see Scripts/services-apart."""
import argparse
import json
import statistics
import subprocess
import sys
import time

import load
from rig import (
    Failure, Mock, MockFCM, Process, free_port, is_listening, journal_status, queue_messages, wait_until)

# How Google is away; the first is no trouble at all, with which the others are compared.
PHASES = ["present", "refusing", "silent"]


def main():
    parser = argparse.ArgumentParser(prog="Scripts/services-apart", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="of all phases (7)")
    parser.add_argument("--seconds", type=int, default=10, help="of a phase (10)")
    parser.add_argument("--rate", type=int, default=500, help="notifications to Apple a second (500)")
    parser.add_argument("--backlog", type=int, default=100_000, help="messages that wait for Google (100000)")
    parser.add_argument("--delay", type=int, default=20, help="milliseconds until Apple's mock answers (20)")
    row = load.run(trial, parser.parse_args())
    print(json.dumps(row), flush=True)
    for fault in row["faults"]:
        print(f"error: {fault}", file=sys.stderr)
    sys.exit(1 if row["faults"] else 0)


def trial(holdfast, folder, options):
    apple = Mock(holdfast, folder, "--delay", str(options.delay), verifies=False)
    port = free_port()
    serve = google = None
    journal = folder / "push.journal"
    rows = {phase: [] for phase in PHASES}
    try:
        tokens = free_port()
        google = MockFCM(holdfast, folder, "--token-port", str(tokens))
        address = google.port
        # A request waits for Apple's answer, so that its time is that of the whole way.
        configuration = load.configure(folder, apple, port, journal="limit: 4G", route=google.route(), more=f"admin: {{listen: \"127.0.0.1:{free_port()}\"}}")
        text = configuration.read_text()
        configuration.write_text(text.replace(f'listen: "127.0.0.1:{port}"', f'listen: "127.0.0.1:{port}", answer: {{wait: 10s}}'))
        serve = Process([holdfast, "serve", "--config", configuration], folder / "serve.log")
        wait_until("the service runs", lambda: serve.is_running and is_listening(port), 30)
        measure(folder, port, options)
        for number in range(options.rounds):
            rows["present"].append(measure(folder, port, options))
            # Away: what is sent now waits, and the service tries in its own time.
            google.process.child.terminate()
            google.process.child.wait()
            queue_messages(holdfast, folder, number * options.backlog, options.backlog)
            rows["refusing"].append(measure(folder, port, options))
            google = MockFCM(
                holdfast, folder, "--listen", f"127.0.0.1:{address}", "--token-port", str(tokens), log=f"mock-fcm.{number}.log")
            google.pause()
            rows["silent"].append(measure(folder, port, options))
            google.resume()
            wait_until("Google has taken all", lambda: journal_status(holdfast, journal)["unconfirmed"] == 0, 300)
        if (code := serve.end()) != 0:
            raise Failure(f"the service ended with {code}: {serve.said()}")
    finally:
        for process in (serve, apple.process, google and google.process):
            if process and process.is_running:
                process.kill()
    # Each round's phases came one after the other, on a machine that is not quiet: ratios of a round, and their median.
    ratios = {
        phase: statistics.median(away["p99"] / here["p99"] for away, here in zip(rows[phase], rows["present"]))
        for phase in PHASES[1:]}
    row = {
        "rounds": options.rounds, "seconds": options.seconds, "rate": options.rate, "backlog": options.backlog,
        "milliseconds": {
            phase: {name: round(statistics.median(one[name] for one in rows[phase]), 2) for name in ("p50", "p99")}
            for phase in PHASES},
        "p99Ratio": {phase: round(ratio, 3) for phase, ratio in ratios.items()},
        "spreadOfP99": [round(min(one["p99"] for one in rows["present"]), 2), round(max(one["p99"] for one in rows["present"]), 2)],
        "faults": [f"p99 is {ratio:.2f} of what it is else, while Google is {phase}" for phase, ratio in ratios.items() if ratio > 1.1],
    }
    return row


def measure(folder, port, options):
    """Apple's notifications at a steady rate: milliseconds from each request to Apple's answer."""
    log = folder / "requests.log"
    log.unlink(missing_ok=True)
    (folder / "uris").write_text(f"http://127.0.0.1:{port}/3/device/{'5a' * 32}\n")
    count = options.rate * options.seconds
    command = load.command(
        folder, "--rps", str(options.rate), "-n", str(count), "-c", "1", "-m", "100", "-i", folder / "uris", "--log-file", log)
    done = subprocess.run(command, capture_output=True, text=True)
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    times = sorted(int(microseconds) / 1000 for _, status, microseconds in rows if status == "200")
    if len(times) != count:
        raise Failure(f"{len(times)} of {count} were answered 200: {done.stdout[-400:]}{done.stderr[-400:]}")
    return {"p50": times[len(times) // 2], "p99": times[len(times) * 99 // 100]}


main()
