"""What trials of the gateway are made of: a mock push service with a ledger, `holdfast serve` before it, and senders before that."""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = ROOT / "Tests/InteropTests/clients"
# Where Scripts/bootstrap --tests puts what PyPI has.
PYTHON = ROOT / ".build/python/bin/python"
TOPIC = "com.example.app"
# The topic of FCM's messages; the mock's project.
PROJECT = "mock-project"
# The engine's window for a route: so many may go twice when it is killed.
WINDOW = 2000


# So that what was started is ended, whoever ends us.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class Failure(Exception):
    """Something is not as it must be: said to people, and the trial is over."""


def program():
    """HOLDFAST names it; without it the release build is made and used."""
    if "HOLDFAST" in os.environ:
        return os.environ["HOLDFAST"]
    build = ["swift", "build", "-c", "release"]
    subprocess.run([*build, "--product", "holdfast"], cwd=ROOT, check=True, stdout=sys.stderr)
    path = subprocess.run([*build, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    return path.stdout.strip() + "/holdfast"


def wait_until(what, condition, seconds=60):
    """Looks every 5 ms."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise Failure(f"waited {seconds} s in vain until {what}")
        time.sleep(0.005)
    return result


def free_port(taken=set()):
    """Below the range that the kernel gives to clients: one that looks for a dead gateway would find itself there."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in taken:
            taken.add(port)
            return port


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def lines_in(path):
    """Whole lines; 0 without the file."""
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


class Process:
    """A child, and a file with what it says."""

    def __init__(self, arguments, log, **options):
        self.name = Path(arguments[0]).name
        self.log = log
        with open(log, "ab") as out:
            # A session of its own: a Ctrl-C is for the trial, which ends them in order.
            self.child = subprocess.Popen(
                [str(argument) for argument in arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True, **options)

    @property
    def is_running(self):
        return self.child.poll() is None

    def said(self, limit=2000):
        return self.log.read_text(errors="replace")[-limit:]

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()

    def end(self, seconds=60):
        """SIGTERM, and its exit code."""
        self.child.send_signal(signal.SIGTERM)
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"{self.name} did not end within {seconds} s of SIGTERM: {self.said()}") from None


class Mock:
    def __init__(self, holdfast, folder, *flags, port=0, log="mock.log", verifies=True):
        """
        - verifies: whether it takes provider tokens of its own key only.
        - port: a free one without it; that of a mock before this one, whose certificates and ledger it goes on with.
        - log: a file of its own for each that is started.
        """
        self.folder = folder / "mock"
        self.ledger_path = folder / "ledger.ndjson"
        self.process = Process(
            [holdfast, "mock", "http2", "--listen", f"127.0.0.1:{port}", "--certificate-directory", self.folder,
             "--ledger", self.ledger_path, *(["--verify-tokens"] if verifies else []), *flags], folder / log)
        self.port = self.listening()

    def listening(self):
        """Its port, when it listens."""
        start = "listening on 127.0.0.1:"

        def listened():
            if not self.process.is_running:
                raise Failure(f"the mock ended: {self.process.said()}")
            said = [line for line in self.process.said().splitlines() if line.startswith(start)]
            return int(said[0][len(start):]) if said else None

        return wait_until("the mock listens", listened)

    def pause(self):
        """It neither reads nor answers, until it is resumed."""
        self.process.child.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.child.send_signal(signal.SIGCONT)

    def ledger(self):
        """What was taken: (number, apns-id), in order, repeats included. A torn last line was never answered."""
        if not self.ledger_path.exists():
            return []
        lines = self.ledger_path.read_text().split("\n")[:-1]
        rows = [json.loads(line) for line in lines]
        return [(int(row["token"], 16), row["apns-id"]) for row in rows]

    @property
    def taken(self):
        return lines_in(self.ledger_path)


class MockFCM(Mock):
    """The mock of Firebase Cloud Messaging, beside Apple's. Its targets are `device-NUMBER`."""

    def __init__(self, holdfast, folder, *flags, log="mock-fcm.log"):
        self.folder = folder / "mock-fcm"
        self.ledger_path = folder / "ledger-fcm.ndjson"
        self.process = Process(
            [holdfast, "mock", "fcm", "--certificate-directory", self.folder, "--ledger", self.ledger_path, *flags],
            folder / log)
        self.port = self.listening()

    def ledger(self):
        """(number, id), in order, repeats included."""
        if not self.ledger_path.exists():
            return []
        rows = [json.loads(line) for line in self.ledger_path.read_text().split("\n")[:-1]]
        return [(int(row["target"].removeprefix("fid:device-")), row["id"]) for row in rows]


    def route(self, more=""):
        """Lines of a configuration beside its folder: a route to it, with more keys."""
        return f"""\
  - name: google
    service: fcm
    project: {PROJECT}
    endpoint: https://127.0.0.1:{self.port}
    trust: mock-fcm/ca.pem
    service-account: mock-fcm/service-account.json
{more}"""


def message_line(number, **members):
    """A line of `holdfast send` with a message for Google, whose data has its id."""
    id = f"00000000-0000-4000-8000-{number:012x}"
    message = {"fid": f"device-{number}", "data": {"holdfast-id": id}}
    return json.dumps({"project": PROJECT, "message": message, "apns-id": id, **members})


def queue_messages(holdfast, folder, first, count):
    """Into the journal of the folder's holdfast.yaml, or to the service that has it."""
    path = folder / "messages.ndjson"
    path.write_text("".join(message_line(number) + "\n" for number in range(first, first + count)))
    sent = subprocess.run(
        [holdfast, "send", str(path), "--config", str(folder / "holdfast.yaml"), "--queue-only"],
        capture_output=True, text=True)
    if sent.returncode != 0:
        raise Failure(f"send ended with {sent.returncode}: {sent.stderr[-600:]}")
    path.unlink()


def journal_status(holdfast, journal):
    told = subprocess.run(
        [holdfast, "journal", "status", "--journal", str(journal), "--json"], capture_output=True, text=True)
    if told.returncode != 0:
        raise Failure(f"journal status: {told.stderr}")
    return json.loads(told.stdout)


class Gateway:
    """`holdfast serve` with the configuration of the guide, all of it on loopback."""

    def __init__(self, holdfast, folder, mock, limits="", http2="", binary="", edit=lambda text: text):
        """
        - limits: lines of the configuration; http2, binary: more keys of these listeners, each behind a comma.
        - edit: changes the whole configuration before it is written.
        """
        self.holdfast = holdfast
        self.folder = folder
        self.ports = {name: free_port() for name in ("http2", "binary", "feedback", "admin")}
        self.ca = folder / "tls/ca.pem"
        self.journal = folder / "push.journal"
        made = subprocess.run(
            [holdfast, "gateway", "certificate", "--directory", str(folder / "tls")], capture_output=True, text=True)
        if made.returncode != 0:
            raise Failure(f"gateway certificate: {made.stderr}")
        tls = "certificate: tls/server.pem, key: tls/server.key"
        (folder / "holdfast.yaml").write_text(edit(f"""\
journal: {{path: push.journal}}
routes:
  - name: example
    topics: [{TOPIC}]
    endpoint: https://127.0.0.1:{mock.port}
    trust: mock/ca.pem
    signing-key: {{file: mock/AuthKey.p8, key-id: MOCKKEYID1, team-id: MOCKTEAMID}}
gateway:
  http2: {{listen: "127.0.0.1:{self.ports['http2']}", {tls}{http2}}}
  binary: {{listen: "127.0.0.1:{self.ports['binary']}", {tls}, topic: {TOPIC}{binary}}}
  feedback: {{listen: "127.0.0.1:{self.ports['feedback']}", {tls}, topic: {TOPIC}}}
{limits}admin: {{listen: "127.0.0.1:{self.ports['admin']}"}}
"""))
        self.process = None
        self.kills = self.restarts = 0
        # Notifications that were on disk when it was killed first.
        self.durable = None
        self.start()

    def start(self):
        self.process = Process(
            [self.holdfast, "serve", "--config", self.folder / "holdfast.yaml"], self.folder / "serve.log")

        def listens():
            if not self.process.is_running:
                raise Failure(f"the gateway ended: {self.process.said()}")
            return is_listening(self.ports["http2"]) and is_listening(self.ports["binary"])

        wait_until("the gateway listens", listens)

    def restart_killed(self, forgets=False):
        """
        - forgets: with an empty journal, as a gateway would be that answers before anything is on disk.
        """
        self.process.kill()
        self.kills += 1
        if self.durable is None:
            self.durable = self.status()["nextUID"] - 1
        if forgets:
            shutil.rmtree(self.journal)
        self.start()

    def restart_in_order(self):
        """Within its limits for draining and for what is in flight."""
        if (code := self.process.end()) != 0:
            raise Failure(f"the gateway ended with {code}: {self.process.said()}")
        self.restarts += 1
        self.start()

    @property
    def resident_kib(self):
        status = Path(f"/proc/{self.process.child.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def status(self):
        return journal_status(self.holdfast, self.journal)

    def drain(self):
        """Until the journal has nothing left to deliver; then it is told to end."""
        wait_until("the journal is empty", lambda: self.status()["unconfirmed"] == 0, 120)
        if (code := self.process.end()) != 0:
            raise Failure(f"the gateway ended with {code}: {self.process.said()}")
        return self.status()


class Sender(Process):
    """A program of clients/, which knows nothing of Holdfast."""

    def __init__(self, kind, folder, mock, gateway, first, count, concurrency):
        self.kind, self.first, self.count = kind, first, count
        self.told_path = folder / f"told.{kind}.{first}"
        port = gateway.ports["binary" if is_binary(kind) else "http2"]
        # It cannot do without; the gateway, on loopback, does not ask.
        key = [mock.folder / "AuthKey.p8", "MOCKKEYID1", "MOCKTEAMID"] if kind == "aioapns" else []
        topic = PROJECT if kind == "fcm" else TOPIC
        super().__init__(
            [*command(kind), "127.0.0.1", port, gateway.ca, topic, first, count, concurrency, self.told_path, *key],
            folder / f"{kind}.{first}.log", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})

    @property
    def told_count(self):
        return lines_in(self.told_path)

    def told(self):
        """What it was told 200 for, or has a proof of."""
        return [int(line) for line in self.told_path.read_text().split()] if self.told_path.exists() else []

    @property
    def written_again(self):
        """What a sender of the binary protocol had no proof of when its connection ended."""
        return json.loads(self.said().splitlines()[-1])["again"] if is_binary(self.kind) else 0


# How long any of them may take; the longest are those in Python.
LIMIT = 600
KINDS = ["aioapns", "httpx", "node", "curl", "go", "java", "binary", "binary-stream"]
# Not installed by Scripts/bootstrap --tests: each is hundreds of megabytes.
OPTIONAL = {"go", "java"}
GO = ["go", "build", "-o"]
CONCURRENCY = {"aioapns": 100, "fcm": 100, "httpx": 50, "node": 100, "curl": 50, "go": 100, "java": 50, "binary": 500}
# With one proof, at the end of all: what it has written when the gateway is killed is what the gateway may lose of it.
STREAM = 1_000_000
# What lies between a sender's write and the gateway's read, at most: the kernel's buffers of both sides, and those of TLS.
KERNEL_BYTES = sum(int(Path(f"/proc/sys/net/ipv4/tcp_{side}mem").read_text().split()[2]) for side in "rw") + (256 << 10)
# The least that a notification of these senders takes on the wire.
LEAST_FRAME = 80
# `gateway.binary.uncommitted`
UNCOMMITTED = 1000


def is_binary(kind):
    return kind.startswith("binary")


def missing(kind):
    """What of this machine a sender lacks, or None."""
    needed = {"node": ["node"], "curl": ["curl"], "go": ["go"], "java": ["java", "javac"]}.get(kind, ["python3"])
    lacking = [name for name in needed if shutil.which(name) is None]
    if lacking:
        return f"{lacking[0]} is not installed"
    if kind in ("aioapns", "httpx", "fcm") and not PYTHON.exists():
        return "Scripts/bootstrap --tests was not run"
    return None


def command(kind):
    match kind:
        case "aioapns" | "httpx" | "fcm":
            return [PYTHON, CLIENTS / f"{kind}_sender.py"]
        case "binary" | "binary-stream":
            return [sys.executable, CLIENTS / "binary_sender.py"]
        case "node":
            return ["node", CLIENTS / "node_sender.js"]
        case "curl":
            return ["bash", CLIENTS / "curl_sender.sh"]
        case "go":
            return [built("go_sender.go", "go_sender", GO, "go_common.go")]
        case "java":
            return ["java", "-cp", built("JavaSender.java", "JavaSender.class", ["javac", "-d"]).parent, "JavaSender"]
    raise Failure(f"there is no sender called {kind}")


def built(source, result, compiler, *shared):
    """Compiles what was not, or has changed since."""
    home = ROOT / ".build/clients"
    home.mkdir(parents=True, exist_ok=True)
    sources, result = [CLIENTS / name for name in (source, *shared)], home / result
    if not result.exists() or result.stat().st_mtime < max(one.stat().st_mtime for one in sources):
        target = result if compiler[0] == "go" else home
        # Files that need the standard library alone need no module, and nothing of the network.
        environment = {**os.environ, "GO111MODULE": "off", "GOFLAGS": ""}
        done = subprocess.run([*compiler, str(target), *map(str, sources)], env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"{source} does not compile: {done.stderr}")
    return result


class Trial:
    """A folder, a mock and a gateway, which go away with it."""

    def __init__(self, holdfast, mock_flags=(), limits="", http2="", binary=""):
        """
        - http2, binary: more keys of these listeners, each behind a comma.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-"))
        self.senders = []
        self.mock = self.gateway = None
        try:
            self.mock = Mock(holdfast, self.folder, *mock_flags)
            self.gateway = Gateway(holdfast, self.folder, self.mock, limits, http2, binary)
        except BaseException:
            self.remove()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        processes = [*self.senders, self.gateway and self.gateway.process, self.mock and self.mock.process]
        for process in processes:
            if process and process.is_running:
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, kind, first, count, concurrency=None):
        sender = Sender(
            kind, self.folder, self.mock, self.gateway, first, count, concurrency or CONCURRENCY.get(kind, STREAM))
        self.senders.append(sender)
        return sender

    def check_senders(self):
        for sender in self.senders:
            if not sender.is_running and sender.child.returncode != 0:
                raise Failure(f"{sender.kind} ended with {sender.child.returncode}: {sender.said()}")

    def finish(self):
        """Until every sender was told 200 for all of its numbers."""
        def done():
            self.check_senders()
            if not self.gateway.process.is_running:
                raise Failure(f"the gateway ended: {self.gateway.process.said()}")
            return not any(sender.is_running for sender in self.senders)

        wait_until("the senders are done", done, LIMIT)

    def audit(self):
        """What the senders were told, against what the push service took."""
        status = self.gateway.drain()
        rows = self.mock.ledger()
        taken = Counter(number for number, _ in rows)
        told = [number for sender in self.senders for number in sender.told()]
        expected = {number for sender in self.senders for number in range(sender.first, sender.first + sender.count)}
        # A sender's own apns-id goes through; the binary protocol has none.
        numbered = {
            number for sender in self.senders if not is_binary(sender.kind)
            for number in range(sender.first, sender.first + sender.count)}
        strange = sum(1 for number, apns_id in rows if number in numbered and apns_id != f"00000000-0000-4000-8000-{number:012x}")
        return {
            "told": len(told),
            "untold": len(expected - set(told)),
            "taken": len(rows),
            "lost": len(set(told) - taken.keys()),
            "duplicates": len(rows) - len(taken),
            "unexpected": len(taken.keys() - expected),
            "otherIDs": strange,
            "rejected": status["rejections"] if isinstance(status.get("rejections"), int) else 0,
            "kills": self.gateway.kills,
            "restarts": self.gateway.restarts,
            "writtenAgain": sum(sender.written_again for sender in self.senders),
        }
