"""The operators' page in a real browser, before a service with traffic: see Scripts/page-trial."""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import fleet_page
from page_browser import TOKEN, drive_browser, seen_by, token, write_token
from rig import ROOT, Failure, Gateway, Mock, TOPIC, program, wait_until

LANE = "example/immediate/at-least-once"


BAD = token(0xBAD)
# Refused for another reason.
WRONG = token(0xA0)


def main():
    parser = argparse.ArgumentParser(prog="Scripts/page-trial", description=__doc__)
    parser.add_argument("--shots", type=Path, help="keep a picture of each view at each size in this directory")
    parser.add_argument("--quick", action="store_true", help="look at each view at three sizes in all, instead of six")
    parser.add_argument("--no-axe", action="store_true", help="leave out the check of accessibility")
    parser.add_argument("--no-away", action="store_true", help="leave out the end and the start of the service")
    parser.add_argument("--fleet", action="store_true", help="two hosts on one PostgreSQL, and what their pages say of each other")
    options = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("error: there is no chromium: install the Debian package chromium (Scripts/bootstrap --tests)")
    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-page-") as folder:
        try:
            run = fleet_page.trial if options.fleet else trial
            sys.exit(run(program(), Path(folder), browser, options))
        except Failure as failure:
            sys.exit(f"error: {failure}")


def trial(holdfast, folder, browser, options):
    write_token(folder)
    mock = Mock(holdfast, folder, "--delay", "20", "--reject", f"{BAD}=Unregistered", "--reject", f"{WRONG}=BadCollapseId")
    gateway = Gateway(holdfast, folder, mock)
    configure(gateway)
    traffic = Traffic(holdfast, gateway)
    try:
        rejected = traffic.prepare()
        traffic.begin()
        plan = {
            **seen_by(browser, options), "port": gateway.ports["admin"], "lane": LANE, "bad": BAD, "rejected": rejected,
            "explanation": explanation(holdfast, gateway, rejected), "away": not options.no_away,
        }
        status = drive(plan, holdfast, gateway)
        if status == 0:
            audit(gateway)
        return status
    finally:
        traffic.end()
        for process in (gateway.process, mock.process):
            if process.is_running:
                process.kill()


def configure(gateway):
    """The operators' token."""
    gateway.process.end()
    path = gateway.folder / "holdfast.yaml"
    path.write_text(path.read_text().replace("admin: {", "admin: {token-file: operators, "))
    gateway.start()


class Traffic:
    """Notifications, a few at a time, for as long as the trial goes on."""

    def __init__(self, holdfast, gateway):
        self.holdfast, self.gateway = holdfast, gateway
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.sender = subprocess.Popen(
            ["node", ROOT / "Tests/InteropTests/rig/page_traffic.js", str(gateway.ports["http2"]), gateway.ca],
            stdin=subprocess.PIPE, text=True)

    def send(self, rows):
        for row in rows:
            self.sender.stdin.write(json.dumps({"topic": TOPIC, **row}) + "\n")
        self.sender.stdin.flush()

    def prepare(self):
        """What the trial looks for. Returns the UID of the rejection."""
        later = int(time.time()) + 7200
        self.send([{"token": BAD}, {"token": WRONG}])
        self.send([{"token": token(1000 + number), "holdfast-tag": "welcome" if number % 3 else "winter sale",
                    "holdfast-deliver-after": later + 600 * number} for number in range(30)])
        rows = wait_until("both are rejected", lambda: two(self.listed()))
        return next(row["uid"] for row in rows if row["reason"] == "Unregistered")

    def listed(self):
        told = tool(self.holdfast, self.gateway, "rejections", "list")
        return [json.loads(line) for line in told.splitlines()]

    def begin(self):
        self.send([{"token": token(5000 + number), "holdfast-tag": "daily"} for number in range(200)])
        self.thread.start()

    def run(self):
        number = 10_000
        while not self.stop.wait(0.4):
            self.send([{"token": token(number + index), "holdfast-tag": "daily"} for index in range(20)])
            number += 20

    def end(self):
        self.stop.set()
        if self.thread.is_alive():
            self.thread.join()
        self.sender.stdin.close()
        self.sender.wait()


def two(rows):
    return rows if len(rows) == 2 else None


def tool(holdfast, gateway, *arguments):
    done = subprocess.run([holdfast, *arguments, "--journal", gateway.journal, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def explanation(holdfast, gateway, uid):
    return " ".join(json.loads(tool(holdfast, gateway, "journal", "show", str(uid)))["explanation"])


def drive(plan, holdfast, gateway):
    """Runs the browser, and does what it asks for between its steps."""
    paused = None

    def act(word):
        nonlocal paused
        match word:
            case "paused":
                lanes = [json.loads(row) for row in tool(holdfast, gateway, "lanes", "list").splitlines()]
                paused = next(lane for lane in lanes if lane["lane"] == LANE)
            case "kill":
                gateway.process.kill()
            case "start":
                gateway.start()

    status = drive_browser("page_trial.js", plan, act)
    if status == 0 and (paused is None or paused["state"] != "paused" or paused.get("reason") != "for the trial"):
        raise Failure(f"the lane was not paused by the page: {paused}")
    return status


def audit(gateway):
    """Who has changed what is in the log, and no secret is."""
    log = (gateway.folder / "serve.log").read_text(errors="replace")
    for words in [f"lane {LANE} was paused, because: for the trial; by session ", f"lane {LANE} was resumed", "an operator signed in",
                  "a wrong token was presented", " sent again (topic com.example.app, reason BadCollapseId)",
                  "was taken off the blacklist", " taken back (tag welcome)"]:
        if words not in log:
            raise Failure(f"the log does not tell that {words!r}: {log[-3000:]}")
    for words in ["nothing was sent again", "nothing was taken back", "nothing was taken off"]:
        if words in log:
            raise Failure(f"the log tells that {words}: {log[-3000:]}")
    if TOKEN in log or BAD in log:
        raise Failure("the log tells a token")


if __name__ == "__main__":
    main()
