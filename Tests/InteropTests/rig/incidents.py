"""Incidents played against a real service, and how many steps end them: see Scripts/incidents."""
import argparse
import json
import os
import sys
import time

import incident_list as faults
import incident_requests as requests
from incident_ways import WAYS, PageWay
from incident_world import World
from rig import Failure, program

ALL = [faults.ServiceDown, faults.HoldfastDown, faults.WrongKey, faults.ExpiredCertificate, faults.ServiceCertificate, faults.WrongTopic,
       faults.MassBadTokens, faults.Throttled, faults.DiskFull, faults.LaneStopped, faults.LanePaused, requests.FindPush, requests.StopMarketing,
       requests.TakeBack, requests.Move, requests.BackUp]
NAMES = [incident.name for incident in ALL]
# What is worth a second at each test of everything.
QUICK = ["service-down", "wrong-topic", "take-back"]
MOST = 3


def main():
    parser = argparse.ArgumentParser(prog="Scripts/incidents", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--way", nargs="+", choices=list(WAYS), default=list(WAYS), help="tool, page, alert: all of them")
    parser.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK)}, with the tool alone, in seconds")
    parser.add_argument("--campaign", type=int, default=100_000, metavar="COUNT", help="notifications of a campaign; 100000")
    parser.add_argument("--json", action="store_true", help="print an object a line instead of a table")
    options = parser.parse_args()
    if options.quick:
        options.only, options.way, options.campaign = QUICK, ["tool"], 1000
    holdfast = program()
    results = []
    try:
        if "page" in options.way:
            PageWay.open_browser()
        for kind in (kind for kind in ALL if kind.name in options.only):
            for name in options.way:
                results.append(play(kind, name, holdfast, options))
                tell(results[-1], options.json)
    except Failure as failure:
        sys.exit(f"error: {failure}")
    finally:
        PageWay.close_browser()
    if not options.json:
        print(table(results))
    bad = [result for result in results if "failure" in result]
    sys.exit(1 if bad else 0)


def play(kind, name, holdfast, options):
    """One incident on one way, in a world of its own."""
    result = {"incident": kind.name, "title": kind.title, "way": name}
    start = time.monotonic()
    world = way = None
    try:
        incident = kind()
        world = World(holdfast, incident, scale=options.campaign)
        if lacks := incident.is_possible(world):
            return {**result, "skipped": lacks}
        incident.begin(world)
        way = WAYS[name](world)
        way.begin()
        getattr(incident, name)(way)
        result |= {"count": way.count, "steps": way.steps, "proof": incident.prove(world)}
        if way.count > MOST:
            result["failure"] = f"{way.count} steps are more than {MOST}"
    except Failure as failure:
        result["failure"] = str(failure)
    finally:
        if way:
            way.end()
        if world:
            world.close()
    return {**result, "seconds": round(time.monotonic() - start, 1)}


def tell(result, is_json):
    if is_json:
        print(json.dumps(result), flush=True)
    state = result.get("failure") or result.get("skipped") or f"{result['count']} steps"
    print(f"{result['incident']}, {result['way']}: {state} ({result.get('seconds', 0)} s)", file=sys.stderr, flush=True)


def table(results):
    """For Docs/Operate/Incidents.md."""
    lines = ["| incident | way | steps |", "|---|---|---|"]
    before = None
    for result in results:
        if "steps" not in result:
            continue
        number, words = 0, []
        for step in result["steps"]:
            if step["counts"]:
                number += 1
                words.append(f"{number}. {step['step']}")
            else:
                words.append(f"({step['step']})")
        title = result["title"] if result["title"] != before else ""
        before = result["title"]
        lines.append(f"| {title} | {result['way']} | {' '.join(words)} |".replace("|  |", "| |"))
    return "\n".join(lines)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main()
