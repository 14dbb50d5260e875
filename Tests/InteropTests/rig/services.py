"""Senders to Apple and to Google through one gateway with one journal, killed again and again: see Scripts/both-services."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rig import WINDOW, Failure, Gateway, Mock, MockFCM, Process, Sender, Trial, message_line, missing, program, wait_until

# Google's mock takes some messages and answers 503 or 500 all the same, as Google does; some 503 are true.
FAULTS = """\
steps:
  - when: { every: 503 }
    answer: { reason: UNAVAILABLE, status: 503, taken: true }
  - when: { every: 701 }
    answer: { reason: INTERNAL, status: 500, taken: true }
  - when: { every: 997 }
    answer: { reason: UNAVAILABLE, status: 503 }
"""
SERVICES = {"aioapns": "apns", "fcm": "fcm", "lines": "fcm"}
# The code of a program that does not get the journal.
IN_USE = 75
# Lines of a file that `holdfast send` hands over in one call.
PIECE = 100


def main():
    options = parse()
    lacking = [why for kind in ("aioapns", "fcm") if (why := missing(kind))]
    if lacking:
        sys.exit(f"error: {lacking[0]}")
    print(f"both-services: seed {options.seed}", file=sys.stderr)
    rows, failures = [], []
    for guarantee in ["at-least-once", "at-most-once"]:
        try:
            row = trial(program(), guarantee, options, random.Random(f"{options.seed}.{guarantee}"))
            failures += [f"{guarantee}: {problem}" for problem in judge(row)]
        except Failure as failure:
            row = {"guarantee": guarantee}
            failures.append(f"{guarantee}: {failure}")
        rows.append(row)
        print(json.dumps(row), flush=True)
    for failure in failures:
        print(f"error: seed {options.seed}: {failure}", file=sys.stderr)
    if options.self_test:
        sys.exit(0 if any(row.get("apns", {}).get("lost") for row in rows) else "error: the gateway forgot, and nobody noticed")
    sys.exit(1 if failures else 0)


def parse():
    parser = argparse.ArgumentParser(prog="Scripts/both-services", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="notifications of each service and guarantee (10000)")
    parser.add_argument("--kills", type=int, default=50, help="kills of each guarantee's trial (50)")
    parser.add_argument(
        "--google", choices=["lines", "gateway"], default="lines",
        help="FCM's messages are lines of `holdfast send`, or come through the gateway over Google's interface (lines)")
    parser.add_argument("--self-test", action="store_true", help="the gateway forgets: this must be noticed")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    if options.count < 100 or not 0 <= options.kills <= options.count:
        parser.error("a number is out of range")
    return options


class Lines(Process):
    """`holdfast send` with lines for FCM, a piece at a time, each until it was taken: by the service that has the journal, or by
    itself while that is dead."""

    kind = "lines"
    SCRIPT = """
    for file in lines/*.ndjson; do
        while :; do
            "$0" send "$file" --config holdfast.yaml --queue-only --resume && break
            code=$?
            # In use by a service that is starting, or lost on the way: once more.
            case $code in 64 | 65 | 66 | 78) exit $code ;; esac
            sleep 0.1
        done
        cat "${file%.ndjson}.numbers" >>told.lines
    done
    """

    def __init__(self, holdfast, folder, first, count, guarantee):
        self.first, self.count, self.told_path = first, count, folder / "told.lines"
        (folder / "lines").mkdir()
        for start in range(first, first + count, PIECE):
            numbers = range(start, min(start + PIECE, first + count))
            piece = folder / f"lines/{start:09d}"
            piece.with_suffix(".numbers").write_text("".join(f"{number}\n" for number in numbers))
            piece.with_suffix(".ndjson").write_text("".join(message_line(number, guarantee=guarantee) + "\n" for number in numbers))
        super().__init__(["bash", "-c", self.SCRIPT, holdfast], folder / "lines.log", cwd=folder)

    told_count, told = Sender.told_count, Sender.told


class Service(Gateway):
    """`serve` as a supervisor runs it: started again while another process has the journal."""

    def start(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                return super().start()
            except Failure:
                if self.process.is_running or self.process.child.returncode != IN_USE or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


class Both(Trial):
    """A folder, both mocks, and a gateway with a route to each service and one journal."""

    def __init__(self, holdfast):
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-"))
        self.senders = []
        self.mock = self.fcm = self.gateway = None
        try:
            self.mock = Mock(holdfast, self.folder, "--delay", "20", "--streams", "50")
            (self.folder / "faults.yaml").write_text(FAULTS)
            self.fcm = MockFCM(
                holdfast, self.folder, "--delay", "20", "--streams", "5", "--script", self.folder / "faults.yaml")
            self.gateway = Service(holdfast, self.folder, self.mock, edit=self.with_google)
        except BaseException:
            self.remove()
            raise

    def with_google(self, configuration):
        return configuration.replace("gateway:\n", self.fcm.route() + "gateway:\n", 1)

    def remove(self):
        if self.fcm and self.fcm.process.is_running:
            self.fcm.process.kill()
        super().remove()

    @property
    def taken(self):
        return self.mock.taken + self.fcm.taken

    def outcomes(self):
        """How each notification ended: (its outcome, its id)."""
        cursor, found = 0, []
        while True:
            told = subprocess.run(
                [self.gateway.holdfast, "outcomes", "list", "--journal", str(self.gateway.journal), "--after", str(cursor),
                 "--limit", "10000", "--json"], capture_output=True, text=True)
            if told.returncode != 0:
                raise Failure(f"outcomes list: {told.stderr}")
            lines = [json.loads(line) for line in told.stdout.splitlines()]
            found += [(one["outcome"], one["apns-id"]) for one in lines if "outcome" in one]
            if cursor == (cursor := lines[-1]["next"]):
                return found


def trial(holdfast, guarantee, options, dice):
    began = time.monotonic()
    os.environ["GUARANTEE"] = guarantee
    total = 2 * options.count
    with Both(holdfast) as it:
        it.send("aioapns", 1, options.count)
        if options.google == "lines":
            it.senders.append(Lines(holdfast, it.folder, options.count + 1, options.count, guarantee))
        else:
            it.send("fcm", options.count + 1, options.count)
        for moment in sorted(dice.randrange(total // 50, total * 49 // 50) for _ in range(options.kills)):
            wait_until(f"{moment} were taken", lambda: it.check_senders() or it.taken >= moment, 300)
            time.sleep(dice.random() / 10)
            it.gateway.restart_killed(forgets=options.self_test)
        it.finish()
        status = it.gateway.drain()
        outcomes = it.outcomes()
        row = {"guarantee": guarantee, "kills": it.gateway.kills, "rejected": status["rejections"]}
        for sender in it.senders:
            service = SERVICES[sender.kind]
            ledger = (it.mock if service == "apns" else it.fcm).ledger()
            row[service] = audit(sender, ledger, outcomes if service == "fcm" else [])
    row["seconds"] = round(time.monotonic() - began, 1)
    return row


def audit(sender, ledger, outcomes):
    """What the sender was told, against what the service took."""
    taken = Counter(number for number, _ in ledger)
    told = sender.told()
    # Those that may have been taken, and do not go again: at most once.
    numbers = range(sender.first, sender.first + sender.count)
    unknown = {int(id[-12:], 16) for outcome, id in outcomes if outcome == "unknown"}
    return {
        "told": len(told),
        "untold": sender.count - len(set(told)),
        "taken": len(ledger),
        "unexpected": sum(number not in numbers for number in taken),
        "lost": len(set(told) - taken.keys() - unknown),
        "twice": len(ledger) - len(taken),
        "unknown": len(unknown),
    }


def judge(row):
    problems = []
    for service in sorted(set(SERVICES.values())):
        its = row[service]
        if its["lost"]:
            problems.append(f"{its['lost']} of {service} were answered 200 and lost")
        if its["untold"]:
            problems.append(f"{its['untold']} of {service} were never answered 200")
        if its["unexpected"]:
            problems.append(f"{its['unexpected']} of {service} were taken that nobody sent")
        # aioapns has no field for the guarantee: Apple's are at least once in both trials.
        is_once = service == "fcm" and row["guarantee"] == "at-most-once"
        if its["twice"] > (0 if is_once else row["kills"] * WINDOW):
            problems.append(f"{its['twice']} of {service} were taken twice")
    if row["rejected"]:
        problems.append(f"{row['rejected']} were rejected")
    return problems


main()
