"""Senders that know nothing of Holdfast, through a gateway that is killed: see Scripts/gateway-interop."""
import argparse
import json
import os
import random
import sys
import time

from rig import (
    KERNEL_BYTES, KINDS, LEAST_FRAME, OPTIONAL, UNCOMMITTED, WINDOW, Failure, Trial, missing, program, wait_until)

# What of the figures of a trial has a row in the table, and what it is called there.
COLUMNS = {"sender": "sender", "told": "told 200", "taken": "taken", "lost": "lost", "duplicates": "twice",
           "allowed": "allowed", "unsafe": "unsafe", "ends": "ends", "seconds": "s"}


def main():
    options = parse()
    holdfast = program()
    print(f"gateway-interop: seed {options.seed}", file=sys.stderr)
    rows, failures = [], []
    plans = [options.senders] if options.together else [[kind] for kind in options.senders]
    for run in range(options.runs):
        for kinds in plans:
            lacking = {kind: missing(kind) for kind in kinds if missing(kind)}
            if lacking:
                words = ", ".join(f"{kind}: {why}" for kind, why in lacking.items())
                print(f"gateway-interop: left out: {words}", file=sys.stderr)
                if os.environ.get("HOLDFAST_REQUIRE_FOREIGN") == "1" and not lacking.keys() <= OPTIONAL:
                    failures.append(words)
                kinds = [kind for kind in kinds if kind not in lacking]
                if not kinds:
                    continue
            seed = f"{options.seed}.{run}.{'+'.join(kinds)}"
            try:
                row = trial(holdfast, kinds, options, random.Random(seed))
                problems = judge(row)
            except Failure as failure:
                row, problems = {"sender": "+".join(kinds)}, [str(failure)]
            rows.append(row)
            failures += [f"{row['sender']}, run {run + 1}: {problem}" for problem in problems]
            print(json.dumps(row) if options.json else line(row), flush=True)
    for failure in failures:
        print(f"error: seed {options.seed}: {failure}", file=sys.stderr)
    if options.self_test:
        sys.exit(0 if any(row.get("lost") for row in rows) else "error: the gateway forgot, and nobody noticed")
    sys.exit(1 if failures or not rows else 0)


def parse():
    parser = argparse.ArgumentParser(prog="Scripts/gateway-interop", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="notifications of each sender (10000)")
    parser.add_argument("--kills", type=int, default=1, help="how often the gateway is killed in each run (1)")
    parser.add_argument("--gently", action="store_true", help="end it in order (SIGTERM): then nothing may go twice")
    parser.add_argument("--runs", type=int, default=1, help="how often all of it is done (1)")
    parser.add_argument("--together", action="store_true", help="all senders at once, through one gateway")
    parser.add_argument("--answer", metavar="TIME", help="requests wait so long for the push service's answer, as 2s")
    parser.add_argument("--self-test", action="store_true", help="the gateway forgets: this must be noticed")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--json", action="store_true", help="one object a line for each trial")
    parser.add_argument("senders", nargs="*", metavar="SENDER", help=f"of {', '.join(KINDS)}; all without")
    options = parser.parse_args()
    unknown = set(options.senders) - set(KINDS)
    if unknown or options.count < 10 or options.kills < 0 or options.runs < 1:
        parser.error(f"no such sender: {', '.join(sorted(unknown))}" if unknown else "a number is out of range")
    options.senders = options.senders or KINDS
    if not options.json:
        print(line({key: title for key, title in COLUMNS.items()}))
    return options


def trial(holdfast, kinds, options, dice):
    began = time.monotonic()
    total = options.count * len(kinds)
    # The service takes its time, and little at a time: else what the gateway is killed with is on its way to the service, and
    # arrives whether or not it is in the journal.
    waits = f", answer: {{wait: {options.answer}}}" if options.answer else ""
    with Trial(holdfast, ["--delay", "20", "--streams", "50"], http2=waits) as it:
        for place, kind in enumerate(kinds):
            it.send(kind, place * options.count + 1, options.count)
        for moment in sorted(dice.randrange(total // 20, total * 9 // 10) for _ in range(options.kills)):
            wait_for(it, moment, dice, options)
            if options.gently:
                it.gateway.restart_in_order()
            else:
                it.gateway.restart_killed(forgets=options.self_test)
            it.mock.resume()
        it.finish()
        row = it.audit()
    row["sender"] = "+".join(kinds)
    # At each kill the engine's window (an orderly end finishes what is in flight), and what a sender of the binary protocol had no proof of.
    row["allowed"] = row["kills"] * WINDOW + row["writtenAgain"]
    if kinds == ["binary-stream"] and row["kills"] == 1 and row["writtenAgain"]:
        # It had no proof of anything: all that it had written was written again.
        row["unsafe"] = row["writtenAgain"] - it.gateway.durable
    row["ends"] = row["kills"] + row["restarts"]
    row["seconds"] = round(time.monotonic() - began, 1)
    return row


def wait_for(it, moment, dice, options):
    """Until so many were taken by the service; or were answered, by a gateway that can deliver nothing meanwhile, so that what
    it has answered is in its journal alone. And up to 20 ms more."""
    # One that asks for a proof at its end only is answered nothing before.
    by_answers = options.self_test or dice.random() < 0.7 and all(sender.kind != "binary-stream" for sender in it.senders)
    total = options.count * len(it.senders)

    def has_come(progress, count):
        it.check_senders()
        return progress() >= count or not any(sender.is_running for sender in it.senders)

    def answered():
        return sum(sender.told_count for sender in it.senders)

    def taken():
        return it.mock.taken

    if by_answers:
        wait_until(f"{moment} were answered", lambda: has_come(answered, moment), 300)
        # An orderly end is to find a service that answers.
        if not options.gently:
            it.mock.pause()
        moment = min(moment + dice.choice([60, 300, total // 5]), total * 19 // 20)
        wait_until(f"{moment} were answered", lambda: has_come(answered, moment), 300)
    else:
        wait_until(f"{moment} were taken", lambda: has_come(taken, moment), 300)
    time.sleep(dice.random() / 50)


def judge(row):
    problems = []
    if row["lost"]:
        problems.append(f"{row['lost']} were answered 200 and lost")
    if row["untold"]:
        problems.append(f"{row['untold']} were never answered 200")
    if row["duplicates"] > row["allowed"]:
        problems.append(f"{row['duplicates']} went twice; {row['allowed']} may")
    if row.get("unsafe", 0) > UNCOMMITTED + KERNEL_BYTES // LEAST_FRAME:
        problems.append(f"{row['unsafe']} had been written and were not on disk")
    if row["unexpected"]:
        problems.append(f"{row['unexpected']} were taken that nobody sent")
    if row["otherIDs"]:
        problems.append(f"{row['otherIDs']} had another apns-id than their sender's")
    if row["rejected"]:
        problems.append(f"{row['rejected']} were rejected")
    return problems


def line(row):
    cells = [str(row.get(key, "-")).rjust(9) for key in list(COLUMNS)[1:]]
    return row["sender"].ljust(10) + "".join(cells)


main()
