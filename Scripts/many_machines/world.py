"""The servers, hosts, senders and faults of one trial."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rig import ROOT, Failure, Mock, wait_until

from . import postgres
from .hosts import Files, Gateway, Host, Statements
from .judge import Judge
from .proxy import Proxy

# From the loss of an owner to the first notification that another host delivers.
TAKEOVER_LIMIT = 15


class World:
    def __init__(self, options, name, plan, seed):
        self.options, self.name, self.plan = options, name, plan
        self.program, self.dice = options.program, random.Random(f"{name} {seed}")
        self.folder = Path(tempfile.mkdtemp(prefix="many-machines-"))
        # PostgreSQL's user has its directories in it.
        self.folder.chmod(0o711)
        self.breaches, self.owners_lost, self.takeovers, self.notes = [], 0, [], {}
        self.servers, self.proxies, self.hosts, self.senders, self.files, self.statements = [], [], [], [], None, None
        self.is_mounted, self.mock, self.judge, self.links = False, None, None, []
        self.sent_through_files = self.sent_through_statements = 0

    # Beginning and end

    def begin(self):
        self.primary = self.server("one")
        self.primary.make()
        self.standby = self.make_standby() if self.plan.standby else None
        database = f"host=127.0.0.1 port={self.primary.port} dbname={postgres.DATABASE}"
        made = subprocess.run(
            [self.program, "postgres", "migrate", "--database", f"{database} user={postgres.OWNER}", "--service",
             postgres.SERVICE], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if made.returncode != 0:
            raise Failure(f"postgres migrate: {made.stderr}")
        self.database = f"{database} user={postgres.SERVICE}"
        self.mock = Mock(self.program, self.folder, "--delay", self.options.delay)
        self.judge = Judge(self)
        clocks = self.clocks() if self.plan.clocks else None
        for number in range(self.options.hosts):
            host = self.add_host()
            if clocks:
                # An hour apart at most, since the push service takes no provider token that is older than that.
                host.environment = {"LD_PRELOAD": clocks, "MOVED_CLOCK": str((1 - number % 3) * 1800)}
        for host in self.hosts:
            host.begin()
        for host in self.hosts:
            wait_until(f"{host.name} serves", lambda: host.is_serving or not host.is_running, 60)
            self.look()
        return self

    def add_host(self):
        self.hosts.append(Host(self, len(self.hosts), [self.proxy(server.port) for server in self.servers]))
        return self.hosts[-1]

    def server(self, name):
        folder = self.folder
        if self.plan.disk:
            folder = self.folder / "disk"
            folder.mkdir(exist_ok=True)
            if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.plan.disk}", "tmpfs", folder],
                              capture_output=True).returncode != 0:
                raise Skipped("a small file system can't be mounted here")
            self.is_mounted = True
        server = postgres.Server(folder, name)
        self.servers.append(server)
        return server

    def make_standby(self):
        standby = self.server("two")
        # Never told of its own standby once it is the primary.
        flags = ["-c", "synchronous_standby_names=", "-c", "cluster_name=standby"]
        source = self.primary.port
        if self.plan.standby == "async":
            self.links.append(Proxy(source))
            source = self.links[0].port
        standby.follow(source, "standby", flags)
        if self.plan.standby == "sync":
            self.primary.psql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            self.primary.psql("SELECT pg_reload_conf()")
        self.primary.wait_for_standby("standby", self.plan.standby)
        return standby

    def proxy(self, port):
        self.proxies.append(Proxy(port, self.dice.random()))
        return self.proxies[-1]

    def clocks(self):
        """A library that moves the wall clock of a process."""
        source, library = ROOT / "Tests/CMovedClock", self.folder / "clock.so"
        start = self.folder / "start.c"
        start.write_text('#include <stdlib.h>\n#include "moved_clock.h"\n__attribute__((constructor)) static void start(void) '
                         '{ mc_move(atoll(getenv("MOVED_CLOCK") ? getenv("MOVED_CLOCK") : "0")); }\n')
        compiler = shutil.which("cc") or shutil.which("clang")
        if compiler is None:
            raise Skipped("there is no C compiler, which clocks are moved with")
        done = subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-I", source / "include", "-o", library, source / "moved_clock.c", start],
            capture_output=True, text=True)
        if done.returncode != 0:
            raise Skipped(f"the library that moves clocks can't be built: {done.stderr[-300:]}")
        return str(library)

    def end(self):
        for sender in self.senders:
            sender.child.kill()
        for batches in (self.files, self.statements):
            if batches:
                batches.is_over = True
        for host in self.hosts:
            host.end()
        if self.judge:
            self.judge.end()
        for proxy in self.proxies + self.links:
            proxy.end()
        for server in self.servers:
            server.end()
        if self.mock and self.mock.process.is_running:
            self.mock.process.kill()
        if self.is_mounted:
            subprocess.run(["umount", self.folder / "disk"])
        if self.breaches or self.options.keep:
            for data in self.folder.glob("*/data"):
                shutil.rmtree(data, ignore_errors=True)
            tell(f"{self.name}: logs, copies and the ledger are kept in {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    # What scenarios are made of

    def breach(self, words):
        self.breaches.append(words)
        tell(f"{self.name}: BREACH: {words}")

    def look(self):
        for host in self.hosts:
            host.look()
        if not self.mock.process.is_running:
            raise Failure(f"the mock ended: {self.mock.process.said()}")

    def load(self, seconds):
        """Time goes by, under load."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.look()
            time.sleep(min(left, 0.2))

    def primary_session(self, sql):
        """A session of somebody else's, which stays."""
        place = ["-h", str(self.primary.folder), "-p", str(self.primary.port), "-U", "postgres", "-d", postgres.DATABASE]
        return subprocess.Popen(
            ["psql", *place, "-Xq", "-c", sql], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def some(self, least, most):
        return self.dice.uniform(least, most)

    def any_host(self):
        return self.dice.choice([host for host in self.hosts if host.is_running])

    def begin_load(self):
        for host in self.hosts:
            if not host.is_running:
                host.start()
        self.senders = [Gateway(host) for host in self.hosts]
        self.files = Files(self, self.hosts[-1])
        self.statements = Statements(self) if Statements.is_possible(self.primary) else None
        # Until there is more to be sent than the windows take.
        self.load(3 + self.some(0, 2))

    def end_load(self):
        for sender in self.senders:
            sender.end()
        self.senders = []
        for batches in (self.files, self.statements):
            if batches:
                batches.is_over = True

    def expect_takeover(self, host, since, limit=TAKEOVER_LIMIT, quiet=0.5):
        """Waits until another host delivers what was the host's, later than its own last ones, and notes how long that took."""
        after = since + quiet
        found = lambda: self.judge.first_arrival(host.prefix, after)
        end = time.monotonic() + 30
        while not found() and time.monotonic() < end:
            self.look()
            time.sleep(0.05)
        if not found():
            self.breach(f"nobody delivered what was left by {host.name} within 30 s")
            return
        self.takeovers.append(round(found() - since, 2))
        if self.takeovers[-1] > limit:
            self.breach(f"the takeover from {host.name} took {self.takeovers[-1]} s")

    def audit(self):
        """All is left to be delivered, and is counted."""
        # Where commits are gone, nobody can wait for all.
        seconds = 25 if self.plan.loses else self.options.patience
        self.end_load()
        lost = self.judge.wait_for_all(seconds)
        # What was taken meanwhile by those who hand over batches.
        for batches in (self.files, self.statements):
            if batches:
                batches.end()
        lost = self.judge.wait_for_all(30) if not lost else lost
        figures, twice = self.judge.figures()
        figures["lost"] = len(lost)
        if lost and self.statements:
            self.notes["outbox"] = self.primary.psql(
                "SELECT coalesce(journal::text, 'free'), count(*), min(at), max(at) FROM holdfast.outbox GROUP BY 1")
            self.notes["refused"] = self.primary.psql(
                "SELECT outcome, reason, detail, count(*) FROM holdfast.outcomes WHERE attempts = 0 GROUP BY 1, 2, 3")
        if lost and not self.plan.loses:
            self.breach(f"{len(lost)} accepted are lost: {self.words(lost)}")
        if twice and not self.plan.loses:
            self.breach(f"{len(twice)} at-most-once arrived twice: {', '.join(twice[:5])}")
        figures["repeatsAllowed"] = 2 * self.options.window * self.openings()
        if figures["repeats"] > figures["repeatsAllowed"] and not self.plan.loses:
            self.breach(f"{figures['repeats']} repeats, where {figures['repeatsAllowed']} are possible")
        for copy, why in self.judge.unlisted.items():
            self.notes.setdefault("copiesNotRead", {})[str(copy)] = why
        if self.files:
            self.sent_through_files += self.files.taken
            if self.files.failed:
                self.notes["filesFailed"] = self.files.last_failure
        if self.statements:
            self.sent_through_statements += self.statements.taken
        return figures

    def words(self, ids):
        kinds = [f"{id_} ({'once' if id_ in self.judge.once else 'least'}, {self.judge.outcomes.get(id_, 'no outcome')})"
                 for id_ in ids[:5]]
        return ", ".join(kinds)

    def openings(self):
        """How often a journal was opened after another owner: each may repeat its window and what the mark was ahead."""
        lines = [host.log.read_text(errors="replace") for host in self.hosts if host.log.exists()]
        taken = sum(text.count("is taken over") for text in lines)
        reopened = sum(text.count("the journal is opened anew in") for text in lines)
        self.notes["takenOver"] = taken
        return max(self.owners_lost, taken) + reopened + self.owners_lost


class Skipped(Exception):
    """Can't be tried on this machine."""


def tell(words):
    print(words, file=sys.stderr, flush=True)
