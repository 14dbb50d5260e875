"""The operators' pages of two hosts on one PostgreSQL, in a real browser: see Scripts/page-trial --fleet."""
import json
import subprocess
import sys

from page_browser import TOKEN, drive_browser, seen_by, token, write_token
from rig import ROOT, TOPIC, Failure, Mock, Process, free_port, wait_until

sys.path.insert(0, str(ROOT / "Scripts"))
from many_machines.postgres import DATABASE, OWNER, SERVICE, Server  # noqa: E402

# Of what is submitted to the other host.
WANTED, COUNT = 0xBE7A, 3


class Host:
    """`holdfast serve` on the database, with a page."""

    def __init__(self, holdfast, folder, mock, server, name):
        self.name, self.port, self.admin = name, free_port(), free_port()
        self.holdfast, self.configuration, self.log = holdfast, folder / f"{name}.yaml", folder / f"{name}.log"
        self.configuration.write_text(f"""\
journal:
  postgres: "host=127.0.0.1 port={server.port} dbname={DATABASE} user={SERVICE}"
  host: {name}
  path: {name}
routes:
  - name: example
    topics: [{TOPIC}]
    endpoint: https://127.0.0.1:{mock.port}
    trust: mock/ca.pem
    signing-key: {{file: mock/AuthKey.p8, key-id: MOCKKEYID1, team-id: MOCKTEAMID}}
gateway: {{http2: {{listen: "127.0.0.1:{self.port}"}}}}
admin: {{listen: "127.0.0.1:{self.admin}", token-file: operators}}
""")
        self.process = Process([holdfast, "serve", "--config", self.configuration], self.log)
        wait_until(f"{name} serves", self.is_serving)

    def is_serving(self):
        if not self.process.is_running:
            raise Failure(f"{self.name} ended: {self.process.said()}")
        return "serving http2" in self.process.said()

    def submit(self, rows):
        lines = "".join(json.dumps({"topic": TOPIC, **row}) + "\n" for row in rows)
        command = ["node", ROOT / "Tests/InteropTests/rig/page_traffic.js", str(self.port), "", "tells"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sender:
            sender.stdin.write(lines)
            sender.stdin.flush()
            # It ends with its input, and gives up what is not answered then.
            answers = [sender.stdout.readline() for _ in rows]
            sender.stdin.close()
        if not all(answer.endswith(" 200\n") for answer in answers):
            raise Failure(f"{self.name} did not accept all: {answers}")


def trial(holdfast, folder, browser, options):
    write_token(folder)
    # PostgreSQL's user goes through it.
    folder.chmod(0o711)
    server = Server(folder, "database").make()
    processes = []
    try:
        made = subprocess.run(
            [holdfast, "postgres", "migrate", "--database", f"host=127.0.0.1 port={server.port} dbname={DATABASE} user={OWNER}",
             "--service", SERVICE], capture_output=True, text=True)
        if made.returncode != 0:
            raise Failure(f"postgres migrate: {made.stderr}")
        mock = Mock(holdfast, folder)
        processes.append(mock.process)
        alpha, beta = [Host(holdfast, folder, mock, server, name) for name in ("alpha", "beta")]
        processes += [alpha.process, beta.process]
        return use(browser, options, mock, alpha, beta)
    finally:
        for process in processes:
            if process.is_running:
                process.kill()
        server.end()


def use(browser, options, mock, alpha, beta):
    def act(word):
        match word:
            case "submit":
                beta.submit([{"token": token(WANTED + number), "holdfast-tag": "sale"} for number in range(COUNT)])
            case "kill":
                beta.process.kill()
            case "delivered":
                wait_until("all of it is delivered", lambda: mock.taken == COUNT)

    plan = {**seen_by(browser, options), "alpha": alpha.admin, "beta": beta.admin, "wanted": token(WANTED), "count": COUNT}
    status = drive_browser("fleet_page_trial.js", plan, act)
    if status == 0:
        audit(alpha)
    return status


def audit(host):
    """Who has changed what is in the log, and no secret is."""
    log = host.log.read_text(errors="replace")
    for words in ['tag "sale" was paused for the whole fleet (order 1), because: wrong price; by session ',
                  'tag "sale" was resumed for the whole fleet (order 2)']:
        if words not in log:
            raise Failure(f"the log does not tell that {words!r}: {log[-3000:]}")
    if TOKEN in log or token(WANTED) in log:
        raise Failure("the log tells a token")
