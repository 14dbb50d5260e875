"""Hosts of a fleet, and those who hand notifications over to them."""
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid

from rig import Process, free_port, wait_until

from . import postgres

SENDER = os.path.join(os.path.dirname(__file__), "sender.js")


class Host:
    """`holdfast serve`, which is started, stopped and killed, with the string by which it finds the database."""

    def __init__(self, world, number, proxies):
        self.world, self.number, self.proxies = world, number, proxies
        self.name, self.folder = f"host-{number + 1}", world.folder / f"host-{number + 1}"
        # Begins each token that is sent to this host, so that the ledger shows whose journal one was in.
        self.prefix = f"a{number}"
        self.port, self.admin = free_port(), free_port()
        self.copies, self.log = self.folder / "copies", self.folder / "log"
        self.folder.mkdir()
        self.process, self.environment, self.peak, self.is_stopped = None, {}, 0, False
        ports = ",".join(str(proxy.port) for proxy in proxies)
        names = ",".join("127.0.0.1" for _ in proxies)
        several = " target_session_attrs=read-write" if len(proxies) > 1 else ""
        mock = world.mock
        (self.folder / "holdfast.yaml").write_text(f"""\
journal:
  path: {self.copies}
  postgres: "host={names} port={ports} dbname={postgres.DATABASE} user={postgres.SERVICE}{several}"
  host: {self.name}
gateway: {{http2: {{listen: "127.0.0.1:{self.port}"}}}}
admin: {{listen: "127.0.0.1:{self.admin}"}}
limits: {{window: {world.options.window}}}
routes:
  - name: apns
    endpoint: https://127.0.0.1:{mock.port}
    trust: {mock.folder}/ca.pem
    signing-key: {{file: {mock.folder}/AuthKey.p8, key-id: MOCKKEYID1, team-id: MOCKTEAMID}}
""")

    def start(self, seconds=60):
        self.begin()
        wait_until(f"{self.name} serves", lambda: self.is_serving or not self.is_running, seconds)
        if not self.is_running:
            self.world.breach(f"{self.name} ended at its start: {self.said()}")

    def begin(self):
        self.begun_at = self.log.stat().st_size if self.log.exists() else 0
        command = [self.world.program, "serve", "--config", self.folder / "holdfast.yaml"]
        self.process = Process(command, self.log, env={**os.environ, **self.environment})

    @property
    def is_serving(self):
        return "serving http2" in self.said(since=self.begun_at)

    @property
    def is_running(self):
        return self.process is not None and self.process.is_running

    def said(self, limit=3000, since=0):
        with open(self.log, "rb") as file:
            file.seek(since)
            return file.read().decode(errors="replace")[-limit if not since else 0:]

    def kill(self):
        self.look()
        self.process.kill()
        self.process = None

    def freeze(self):
        self.process.child.send_signal(signal.SIGSTOP)
        self.is_stopped = True

    def thaw(self):
        self.process.child.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def end(self):
        if self.is_running:
            self.process.kill()

    def look(self):
        """Notes the most memory that it had, and a death of its own."""
        if self.process is None:
            return
        code = self.process.child.poll()
        if code is not None:
            self.process = None
            if self.world.plan.loses and "has lost commits" in self.said():
                self.world.notes.setdefault("gaveUp", []).append(self.name)
            else:
                self.world.breach(f"{self.name} died by itself, with {code}: {self.said(1500)}")
            return
        try:
            with open(f"/proc/{self.process.child.pid}/status") as file:
                found = re.search(r"VmHWM:\s+(\d+)", file.read())
            self.peak = max(self.peak, int(found[1]) // 1024 if found else 0)
        except OSError:
            pass

    def own_copies(self):
        return [path for path in self.copies.glob("*.journal") if not path.is_symlink()]


class Gateway:
    """Sends to one host over HTTP/2, for as long as it is wanted."""

    def __init__(self, host):
        options = host.world.options
        words = [host.port, host.prefix, options.rate, options.streams, options.bytes]
        self.child = subprocess.Popen(
            ["node", SENDER, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True)
        self.judge = host.world.judge
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.child.stdout:
            id_, guarantee, at = line.split()
            self.judge.accepted(id_, guarantee, int(at) / 1000)

    def end(self):
        self.child.stdin.close()
        self.child.wait()
        self.thread.join()


class Batches:
    """Hands over a batch after another on a thread, and notes what is known to be taken."""

    pause = 0.5

    def __init__(self, world):
        self.world, self.is_over, self.taken, self.failed = world, False, 0, 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_over:
            try:
                for id_, guarantee in self.hand_over():
                    self.world.judge.accepted(id_, guarantee, time.time())
                    self.taken += 1
            except Exception as error:
                self.failed += 1
                self.last_failure = str(error)
            time.sleep(self.pause)

    def end(self):
        self.is_over = True
        self.thread.join()

    @staticmethod
    def token(prefix, guarantee):
        return prefix + ("1" if guarantee == "once" else "0") + uuid.uuid4().hex + uuid.uuid4().hex[:29]

    @staticmethod
    def batch(count):
        return [(str(uuid.uuid4()), "once" if n % 2 else "least") for n in range(count)]


class Files(Batches):
    """`holdfast send FILE` into a running host. What its report says is taken."""

    def __init__(self, world, host):
        self.host, self.count = host, 0
        super().__init__(world)

    def hand_over(self):
        if not (self.host.is_running and self.host.is_serving):
            return []
        self.count += 1
        path = self.host.folder / f"batch-{self.count}.ndjson"
        batch = self.batch(100)
        path.write_text("".join(json.dumps({
            "token": self.token("f0", guarantee), "apns-topic": "com.example.app", "apns-id": id_,
            "guarantee": f"at-{'most-once' if guarantee == 'once' else 'least-once'}",
            "payload": {"aps": {"alert": "From a file"}}}) + "\n" for id_, guarantee in batch))
        report = path.with_suffix(".report")
        done = subprocess.run(
            [self.world.program, "send", path, "--journal", self.host.copies / "own.journal", "--report", report, "--json"],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
        told = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
        known = {row.get("apns-id", "").lower() for row in told if row.get("outcome") not in ("malformed", "refused", None)}
        if not known:
            raise RuntimeError(f"send: {done.returncode}: {done.stderr[-400:]}")
        return [(id_, guarantee) for id_, guarantee in batch if id_ in known]


class Statements(Batches):
    """`holdfast.submit` in transactions, where the schema has it. What was committed is taken."""

    pause = 0.1

    @staticmethod
    def is_possible(server):
        return server.psql("SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
                           "WHERE n.nspname = 'holdfast' AND p.proname = 'submit'") != "0"

    def hand_over(self):
        batch = self.batch(20)
        calls = "".join(
            "SELECT holdfast.submit(topic => 'com.example.app', token => '" + self.token("e0", g) + f"', id => '{id_}', payload => '{{\"aps\":{{}}}}', guarantee => 'at-{'most' if g == 'once' else 'least'}-once');"
            for id_, g in batch)
        self.world.primary.psql(f"BEGIN; {calls} COMMIT;", seconds=30)
        if self.world.plan.standby != "async":
            return batch
        # What an application commits goes with its own rows when a primary is lost: no host has a copy of it at once.
        for id_, _ in batch:
            self.world.judge.committed(id_)
        return []
