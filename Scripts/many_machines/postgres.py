"""PostgreSQL servers of a trial's own, in its directory, on the loopback."""
import glob
import os
import signal
import subprocess
import time

from rig import Failure, free_port, wait_until

OWNER, SERVICE, DATABASE = "holdfast_owner", "holdfast_service", "push"


def folder_of_programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
    if not found:
        raise Failure("PostgreSQL is not installed: run Scripts/bootstrap --tests")
    return os.path.dirname(found[-1])


def words(name, *arguments):
    """A command of PostgreSQL's. The server refuses to run as root, so root becomes the user of Debian's package."""
    prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []
    return [*prefix, f"{folder_of_programs()}/{name}", *map(str, arguments)]


def run(name, *arguments):
    # Not by pipes: a server that pg_ctl starts would keep them.
    done = subprocess.run(words(name, *arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/")
    if done.returncode != 0:
        raise Failure(f"{name}: {done.stderr[-500:]}{done.stdout[-500:]}")
    return done.stdout


class Server:
    SETTINGS = {
        "fsync": "on", "max_connections": "100", "shared_buffers": "64MB", "max_wal_senders": "8", "wal_level": "replica",
        "wal_retrieve_retry_interval": "200ms", "max_wal_size": "512MB", "log_min_messages": "warning"}

    def __init__(self, folder, name):
        self.folder, self.name, self.data = folder / name, name, folder / name / "data"
        self.port, self.process, self.flags = free_port(), None, []
        self.folder.mkdir(exist_ok=True)
        if os.getuid() == 0:
            subprocess.run(["chown", "postgres:", self.folder], check=True)

    def make(self):
        run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-instructions",
            "--wal-segsize=4")
        self.start()
        for statement in (f"CREATE ROLE {OWNER} LOGIN", f"CREATE ROLE {SERVICE} LOGIN", f"CREATE DATABASE {DATABASE} OWNER {OWNER}"):
            self.psql(statement, database="postgres")
        return self

    def follow(self, port, name, flags=()):
        """Becomes a standby of the server at a port, known to it by a name."""
        source = f"host=127.0.0.1 port={port} user=postgres application_name={name}"
        run("pg_basebackup", "-D", self.data, "-R", "-c", "fast", "-X", "stream", "-d", source)
        self.flags = list(flags)
        self.start()
        return self

    def start(self):
        settings = [word for pair in self.SETTINGS.items() for word in ("-c", "=".join(pair))]
        log = open(self.folder / "log", "ab")
        place = ["-D", self.data, "-p", self.port, "-k", self.folder, "-c", "listen_addresses=127.0.0.1"]
        command = words("postgres", *place, *settings, *self.flags)
        deadline = time.monotonic() + 60
        while True:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/")
            while self.process.poll() is None and time.monotonic() < deadline:
                if subprocess.run(words("pg_isready", "-q", "-h", self.folder, "-p", self.port)).returncode == 0:
                    return
                time.sleep(0.05)
            # After a kill -9, the former server's sessions need a moment to notice.
            if time.monotonic() > deadline:
                raise Failure(f"PostgreSQL did not start: {self.said()}")
            time.sleep(0.2)

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def said(self, limit=1500):
        return (self.folder / "log").read_text(errors="replace")[-limit:]

    def stop(self, mode="immediate"):
        run("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")
        self.process.wait()

    def kill(self):
        """Ends all of it as a machine that is gone does: nobody says goodbye to anybody."""
        for process in [self.process.pid, *children(self.process.pid)]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def end(self):
        if self.is_running:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()

    def promote(self):
        run("pg_ctl", "-D", self.data, "-w", "promote")

    def psql(self, sql, database=DATABASE, user="postgres", check=True, seconds=60):
        place = ["-h", str(self.folder), "-p", str(self.port), "-U", user, "-d", database]
        done = subprocess.run(
            ["psql", *place, "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql], capture_output=True, text=True, timeout=seconds,
            stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise Failure(f"{sql}: {done.stderr[-500:]}")
        return done.stdout.strip()

    def wait_for_standby(self, name, state):
        wait_until(
            f"the standby {name} is {state}",
            lambda: self.psql(f"SELECT sync_state FROM pg_stat_replication WHERE application_name = '{name}'") == state)


def children(process):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()]
