"""Scheduled notifications that a foreign client hands to a gateway, which is killed: see Scripts/gateway-schedules."""
import argparse
import json
import random
import subprocess
import sys
import time

from rig import CLIENTS, GO, TOPIC, WINDOW, Failure, Trial, built, missing, program, wait_until

CLIENTS_ASKED = ["node", "go"]


def main():
    parser = argparse.ArgumentParser(prog="Scripts/gateway-schedules", description=__doc__)
    parser.add_argument("--count", type=int, default=3000, help="notifications (3000)")
    parser.add_argument("--kills", type=int, default=6, help="kills in all; half of them before the time (6)")
    parser.add_argument("--after", type=int, default=15, help="seconds until they are due (15)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("client", nargs="?", default="node", help=f"one of {', '.join(CLIENTS_ASKED)} (node)")
    options = parser.parse_args()
    if options.client not in CLIENTS_ASKED or options.count < 100 or options.kills < 2:
        parser.error("the client is unknown, or a number is out of range")
    if lacking := missing(options.client):
        sys.exit(f"error: {lacking}")
    print(f"gateway-schedules: seed {options.seed}", file=sys.stderr)
    try:
        row = trial(program(), options)
    except Failure as failure:
        sys.exit(f"error: seed {options.seed}: {failure}")
    print(json.dumps(row), flush=True)
    for fault in row["faults"]:
        print(f"error: seed {options.seed}: {fault}", file=sys.stderr)
    sys.exit(1 if row["faults"] else 0)


def trial(holdfast, options):
    dice = random.Random(options.seed)
    # The service takes its time, so that a kill finds some in flight and many waiting.
    with Trial(holdfast, ["--delay", "20", "--streams", "20"]) as it:
        due = int(time.time()) + options.after
        told = hand_over(it, options, due, dice)
        early = it.mock.taken
        if time.time() > due - 1:
            raise Failure(f"it took {options.after} s to hand them over: give more with --after")
        # Handing over has one kill; the others before the time have it to themselves.
        while it.gateway.kills < options.kills // 2:
            time.sleep(dice.random() * max(due - 2 - time.time(), 0) / options.kills)
            it.gateway.restart_killed()
        while time.time() < due:
            early = max(early, it.mock.taken)
            time.sleep(0.005)
        left = options.kills - it.gateway.kills
        for moment in sorted(dice.randrange(1, options.count * 9 // 10) for _ in range(left)):
            wait_until(f"{moment} were taken", lambda: it.mock.taken >= moment, 60)
            time.sleep(dice.random() / 50)
            it.gateway.restart_killed()
        status = it.gateway.drain()
        rows = it.mock.ledger()
    taken = {number for number, _ in rows}
    row = {
        "client": options.client, "told": len(told), "taken": len(taken), "early": early, "lost": len(told - taken),
        "duplicates": len(rows) - len(taken), "allowed": WINDOW * left, "kills": it.gateway.kills,
        "confirmed": status["totals"]["confirmed"], "seed": options.seed, "faults": []}
    if early:
        row["faults"].append(f"{early} went before their time")
    if row["lost"]:
        row["faults"].append(f"{row['lost']} were answered 200 and lost")
    if row["duplicates"] > row["allowed"]:
        row["faults"].append(f"{row['duplicates']} went twice; {row['allowed']} may")
    return row


def hand_over(it, options, due, dice):
    """Until each was answered 200; the gateway is killed once meanwhile, and what it did not answer is asked again."""
    left = {number: request(number, due) for number in range(1, options.count + 1)}
    told, kills = set(), 1
    while left:
        plan, answers = it.folder / "plan", it.folder / "answers"
        plan.write_text("".join(json.dumps(one) + "\n" for one in left.values()))
        answers.write_text("")
        moment = dice.randrange(options.count // 10, options.count // 2)
        client = subprocess.Popen(
            [*command(options.client), "127.0.0.1", str(it.gateway.ports["http2"]), it.gateway.ca, plan, "100", answers,
             it.mock.folder / "AuthKey.p8", "MOCKKEYID1", "MOCKTEAMID"], stderr=subprocess.DEVNULL)
        if kills:
            wait_until("some were answered", lambda: client.poll() is not None or lines(answers) >= moment, 60)
            it.gateway.restart_killed()
            kills -= 1
        client.wait(120)
        for line in answers.read_text().split("\n")[:-1]:
            answer = json.loads(line)
            if answer["status"] != 200:
                raise Failure(f"a scheduled notification was refused: {answer}")
            told.add(answer["number"])
            left.pop(answer["number"], None)
    return told


def command(client):
    return ["node", CLIENTS / "node_asker.js"] if client == "node" else [built("go_asker.go", "go_asker", GO, "go_common.go")]


def lines(path):
    return path.read_bytes().count(b"\n")


def request(number, due):
    return {
        "number": number, "method": "POST", "path": f"/3/device/{number:064x}",
        "headers": {
            "apns-topic": TOPIC, "apns-push-type": "alert", "apns-id": f"00000000-0000-4000-8000-{number:012x}",
            "holdfast-deliver-after": str(due)},
        "body": json.dumps({"aps": {"alert": f"Number {number}"}})}


main()
