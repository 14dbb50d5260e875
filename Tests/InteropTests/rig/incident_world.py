"""What an incident is played in: a push service that fails as it is told, `holdfast serve` before it, and a sender that remembers
what was accepted."""
import json
import os
import pty
import re
import shutil
import stat
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

from rig import CLIENTS, TOPIC, Failure, Gateway, Mock, wait_until

OPERATORS = "0123456789abcdef0123456789abcdef"
OTHER_TOPIC = "com.example.other"
# Nothing mends itself before somebody acts: what is tried again by itself is tried after minutes.
SLOW = ("limits: {reconnect: {minimum: 10m, maximum: 10m}, probes: {minimum: 10m, maximum: 10m}, "
        "throttle: {minimum: 1m}, suspects: {hold: 200ms, uniform: 50}}\n")


def token(number):
    return f"{number:064x}"


class World:
    """Everything that a way needs, gone when it is closed."""

    def __init__(self, holdfast, incident, scale=1000):
        """
        - scale: how many notifications a campaign has.
        """
        self.scale = scale
        self.holdfast = holdfast
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-incident-"))
        self.mocks, self.mounts, self.sender, self.gateway = [], [], None, None
        try:
            (self.folder / "operators").write_text(OPERATORS)
            (self.folder / "operators").chmod(0o600)
            self.mock_flags, self.verifies = incident.flags, incident.verifies
            self.start_mock(incident.script)
            incident.prepare(self)
            self.gateway = Gateway(holdfast, self.folder, self.mock, SLOW, edit=lambda text: incident.edit(self.shaped(text)))
            self.sender = Sender(self.gateway)
            self.provide_commands()
        except BaseException:
            self.close()
            raise

    def shaped(self, text):
        return (text.replace("admin: {", "admin: {token-file: operators, ")
                .replace(f"topics: [{TOPIC}]", f"topics: [{TOPIC}, {OTHER_TOPIC}]"))

    def close(self):
        if self.sender:
            self.sender.close()
        for process in [self.gateway and self.gateway.process, *(mock.process for mock in self.mocks)]:
            if process and process.is_running:
                process.kill()
        for mount in self.mounts:
            subprocess.run(["umount", "-l", mount], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    # The push service

    @property
    def mock(self):
        return self.mocks[-1]

    def start_mock(self, script="", *flags, port=None):
        """One more, at the place of the last, with what that has taken."""
        number = len(self.mocks)
        more = []
        if script:
            path = self.folder / f"script{number}.yaml"
            path.write_text(script)
            more = ["--script", path]
        port = port if port is not None else self.mock.port if self.mocks else 0
        self.mocks.append(Mock(self.holdfast, self.folder, *self.mock_flags, *flags, *more, port=port, log=f"mock{number}.log",
                               verifies=self.verifies))

    def is_well(self):
        """The push service does what it should, from now on."""
        if self.mock.process.is_running:
            self.mock.process.kill()
        self.start_mock()

    # What an operator types

    def provide_commands(self):
        """`holdfast` and `systemctl` by these names, so that commands are run to the letter."""
        self.commands = self.folder / "bin"
        self.commands.mkdir()
        (self.commands / "holdfast").symlink_to(Path(self.holdfast).resolve())
        # The other machine is a directory of this one.
        rsync = self.commands / "rsync"
        rsync.write_text(f'#!/bin/sh\nexec cp -a "$2" "{self.folder}/new-machine/"\n')
        rsync.chmod(0o700)
        (self.folder / "backups").mkdir()
        self.environment = {**os.environ, "PATH": f"{self.commands}:{os.environ['PATH']}",
                            "HOLDFAST_CONFIG": str(self.folder / "holdfast.yaml"), "NO_COLOR": "1", "COLUMNS": "160"}

    def run(self, command):
        """Its exit code, and what it says."""
        words = command.removeprefix("ssh NEW-MACHINE ").split()
        if words[0] == "systemctl":
            return self.manage(words)
        if words[:3] == ["holdfast", "journal", "drop"] or words[:2] == ["holdfast", "rejections"]:
            return self.run_on_terminal(command)
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=self.environment, cwd=self.folder,
                              timeout=120)
        return done.returncode, done.stdout + done.stderr

    def run_on_terminal(self, command):
        """As somebody at a terminal, who is asked and says yes."""
        own, other = pty.openpty()
        child = subprocess.Popen(["bash", "-c", command], stdin=other, stdout=other, stderr=other, env=self.environment, cwd=self.folder,
                                 start_new_session=True)
        os.close(other)
        said, answered = "", False
        while True:
            try:
                part = os.read(own, 65536)
            except OSError:
                break
            if not part:
                break
            said += part.decode(errors="replace")
            if "[y/N]" in said and not answered:
                os.write(own, b"y\n")
                answered = True
        os.close(own)
        return child.wait(120), said

    def manage(self, words):
        """What systemd would do with the service."""
        process = self.gateway.process
        match words[1:]:
            case ["reload", "holdfast"]:
                reloads = self.ask("service")["reloads"]
                process.child.send_signal(1)
                wait_until("the configuration is taken up", lambda: self.ask("service")["reloads"] > reloads)
            case ["stop", "holdfast"] | ["disable", "--now", "holdfast"]:
                if (code := process.end()) != 0:
                    raise Failure(f"the service ended with {code}: {process.said()}")
            case ["start", "holdfast"] | ["enable", "--now", "holdfast"]:
                self.gateway.start()
            case _:
                raise Failure(f"no incident needs {' '.join(words)}")
        return 0, ""

    # What is so

    def ask(self, path):
        """The page's JSON, for the trial itself: no step of an operator's."""
        url = f"http://127.0.0.1:{self.gateway.ports['admin']}/api/{path}"

        def answer():
            try:
                with urllib.request.urlopen(url, timeout=10) as answer:
                    return {"answer": json.load(answer)}
            except urllib.error.HTTPError as error:
                # No journal is open in the first moments.
                if error.code != 503:
                    raise Failure(f"{path}: {error}: {error.read()}") from None
                return None
            except OSError:
                return None

        return wait_until(f"{path} is answered", answer, 20)["answer"]

    def condition(self, kind):
        found = [one for one in self.ask("status").get("conditions", []) if one["kind"] == kind]
        return found[0] if found else None

    def wait_for(self, kind):
        try:
            return wait_until(f"the condition {kind} begins", lambda: self.condition(kind), 30)
        except Failure as failure:
            raise Failure(f"{failure}; there is {self.ask('status').get('conditions')}; log: {self.log()[-3000:]}") from None

    def log(self):
        return (self.gateway.folder / "serve.log").read_text(errors="replace")

    def waiting(self):
        return self.gateway.status()["unconfirmed"]

    def send(self, count, first=1, status=200, **fields):
        """Sends, and waits for the answers: `status` for each."""
        # As many at a time as a sender keeps in memory.
        for start in range(first, first + count, 4000):
            numbers = range(start, min(start + 4000, first + count))
            self.sender.send(numbers, **fields)
            answers = self.sender.answers
            wait_until("the gateway answers", lambda: all(token(number) in answers for number in numbers), 120)
            wrong = {answers[token(number)] for number in numbers} - {status}
            if wrong:
                raise Failure(f"the gateway answered {wrong} instead of {status}: {self.log()[-2000:]}")

    def taken(self):
        """What the push service took: how often each token."""
        if not self.mock.ledger_path.exists():
            return Counter()
        return Counter(json.loads(line)["token"] for line in self.mock.ledger_path.read_text().split("\n")[:-1])

    def settles(self, seconds=60):
        """Nothing waits any more."""
        try:
            wait_until("nothing waits", lambda: self.waiting() == 0, seconds)
        except Failure as failure:
            raise Failure(f"{failure}: {self.run('holdfast status')[1]}{self.run('holdfast lanes list')[1]}") from None

    def audit(self, withdrawn=(), rejected=()):
        """All that was accepted was taken once, but for what was taken back or refused for good. Returns the sums.

        - withdrawn: numbers of which each was taken once or taken back.
        - rejected: numbers of which none was taken.
        """
        taken = self.taken()
        accepted = {one for one, status in self.sender.answers.items() if status == 200}
        back, bad = {token(number) for number in withdrawn}, {token(number) for number in rejected}
        lost = accepted - taken.keys() - back - bad
        doubled = [one for one, count in taken.items() if count > 1]
        strange = taken.keys() - accepted | taken.keys() & bad
        if lost or doubled or strange:
            raise Failure(f"{len(lost)} lost, {len(doubled)} doubled, {len(strange)} unexpected; log: {self.log()[-2000:]}")
        return {"accepted": len(accepted), "delivered": len(taken), "takenBack": len(back - taken.keys()), "lost": 0, "doubled": 0}

    # Files

    def mount(self, name, megabytes):
        """A small file system of its own; false where mounting is not allowed."""
        path = self.folder / name
        path.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", path], capture_output=True)
        if done.returncode == 0:
            self.mounts.append(path)
        return done.returncode == 0

    def make_key(self, path):
        """A key of the right kind that the push service does not know."""
        made = subprocess.run(f"openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out '{path}'", shell=True,
                              capture_output=True, text=True)
        if made.returncode != 0:
            raise Failure(f"openssl: {made.stderr}")
        os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)

    def make_expired_certificate(self, path):
        """A client's certificate of the right authority that expires in some seconds, and its key in the same file."""
        end = time.strftime("%y%m%d%H%M%SZ", time.gmtime(time.time() + 6))
        (self.folder / "ca.conf").write_text(
            "[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nnew_certs_dir=.\nserial=serial\ndefault_md=sha256\npolicy=any\n"
            "[any]\ncommonName=supplied\n")
        made = subprocess.run(
            f"cd '{self.folder}' && touch index.txt && echo 01 >serial && openssl req -new -newkey ec "
            "-pkeyopt ec_paramgen_curve:P-256 -nodes -keyout old.key -subj /CN=sender -out old.csr && openssl ca -batch -config ca.conf "
            f"-in old.csr -cert mock/ca.pem -keyfile mock/ca.key -enddate {end} -out old.crt -notext && "
            f"cat old.crt old.key >'{path}' && chmod 600 '{path}'", shell=True, capture_output=True, text=True)
        if made.returncode != 0:
            raise Failure(f"openssl: {made.stderr}")


class Sender:
    """A sender that knows nothing of Holdfast, and what it was answered."""

    def __init__(self, gateway):
        self.answers = {}
        self.child = subprocess.Popen(
            ["node", CLIENTS.parent / "rig/page_traffic.js", str(gateway.ports["http2"]), gateway.ca, "tell"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.child.stdout:
            name, status = line.split()
            self.answers[name] = int(status)

    def send(self, numbers, topic=TOPIC, tag=None, **fields):
        row = {"topic": topic, **({"holdfast-tag": tag} if tag else {}), **{key.replace("_", "-"): value for key, value in fields.items()}}
        for number in numbers:
            self.answers.pop(token(number), None)
            self.child.stdin.write(json.dumps({"token": token(number), **row}) + "\n")
        self.child.stdin.flush()

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


def age(words):
    """Seconds of "for 3 s", "for 2 min" and the like; None without."""
    found = re.search(r"\(for (\d+(?:\.\d+)?) ?(ms|s|min|h)\b", words)
    return float(found[1]) * {"ms": 0.001, "s": 1, "min": 60, "h": 3600}[found[2]] if found else None

