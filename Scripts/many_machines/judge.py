"""What was taken, what the push service has, and what is wrong between the two."""
import json
import subprocess
import threading
import time
from collections import Counter


class Judge:
    def __init__(self, world):
        self.world, self.lock = world, threading.Lock()
        # Those that were answered 200, and of what the ledger has, those that must be there once.
        self.least, self.once, self.once_taken, self.when = set(), set(), set(), []
        # Committed by SQL on a primary whose last commits may be lost: counted apart.
        self.unpromised = set()
        self.ledger, self.offset, self.arrivals = Counter(), 0, {}
        self.outcomes, self.cursors, self.ends, self.unlisted = {}, {}, {}, {}
        self.is_over = False
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def accepted(self, id_, guarantee, at):
        with self.lock:
            (self.once if guarantee == "once" else self.least).add(id_)
            self.when.append(at)

    def committed(self, id_):
        with self.lock:
            self.unpromised.add(id_)

    def accepted_between(self, first, last):
        with self.lock:
            return sum(first < at < last for at in self.when)

    # The ledger

    def follow(self):
        while not self.is_over:
            self.read()
            time.sleep(0.03)

    def read(self):
        path = self.world.mock.ledger_path
        if not path.exists():
            return
        with open(path, "rb") as file:
            file.seek(self.offset)
            bytes_ = file.read()
        whole = bytes_.rfind(b"\n") + 1
        self.offset += whole
        now = time.monotonic()
        for line in bytes_[:whole].decode().splitlines():
            words = line.split('"')
            id_ = words[3].lower()
            self.ledger[id_] += 1
            if words[7][2] == "1":
                self.once_taken.add(id_)
            self.arrivals.setdefault(words[7][:2], []).append(now)

    def first_arrival(self, prefix, after):
        """When the first one of a host's journal came after an instant."""
        times = self.arrivals.get(prefix, [])
        for at in times[-20000:]:
            if at > after:
                return at
        return None

    @property
    def missing(self):
        with self.lock:
            return [id_ for id_ in self.least | self.once if id_ not in self.ledger]

    # Outcomes

    def read_outcomes(self):
        """Of every copy of every host. A former owner's ends where it was lost."""
        for host in self.world.hosts:
            for copy in host.own_copies():
                self.read_copy(copy)

    def read_copy(self, copy):
        words = ["outcomes", "list", "--json", "--limit", "100000000", "--journal", copy]
        done = self.list(words, self.cursors.get(copy))
        if done.returncode != 0 and copy in self.cursors:
            # The copy was built anew.
            done = self.list(words, None)
        if done.returncode != 0:
            self.unlisted[copy] = done.stderr[-300:]
            return
        self.unlisted.pop(copy, None)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            if "next" in row:
                self.cursors[copy] = row["next"]
            elif "outcome" in row:
                self.note(row)
            else:
                self.world.breach(f"{copy}: {line}")

    def list(self, words, after):
        more = ["--after", str(after)] if after is not None else []
        return subprocess.run(
            [self.world.program, *words, *more], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)

    def note(self, row):
        uid, outcome = row["uid"], row["outcome"]
        if self.ends.setdefault(uid, outcome) != outcome and not self.world.plan.loses:
            self.world.breach(f"notification {uid} ended as {self.ends[uid]} and as {outcome}")
        self.outcomes[row["apns-id"].lower()] = outcome

    # The audit

    def wait_for_all(self, seconds):
        """Until all has arrived, or is known not to; what is still missing."""
        deadline = time.monotonic() + seconds
        quiet, last = time.monotonic(), -1
        while time.monotonic() < deadline:
            self.world.look()
            missing, size = self.missing, self.offset
            if size != last:
                quiet, last = time.monotonic(), size
            if not missing and time.monotonic() > quiet + 1:
                return []
            if all(id_ in self.once for id_ in missing) and time.monotonic() > quiet + 2:
                self.read_outcomes()
                missing = [id_ for id_ in self.missing if id_ not in self.outcomes]
                if not missing:
                    return []
            time.sleep(0.3)
        self.read_outcomes()
        return [id_ for id_ in self.missing if id_ in self.least or self.outcomes.get(id_) in (None, "confirmed")]

    def lost_unpromised(self):
        gone = lambda: [id_ for id_ in self.unpromised if id_ not in self.ledger and id_ not in self.outcomes]
        if gone():
            self.read_outcomes()
        return len(gone())

    def figures(self):
        apart = {"unpromised": len(self.unpromised), "unpromisedLost": self.lost_unpromised()} if self.unpromised else {}
        with self.lock:
            again = [id_ for id_, count in self.ledger.items() if count > 1]
            once_twice = [id_ for id_ in again if id_ in self.once_taken]
            repeats = sum(self.ledger[id_] - 1 for id_ in again if id_ not in self.once_taken)
            absent = [id_ for id_ in self.once if id_ not in self.ledger]
            return {
                "accepted": len(self.least) + len(self.once), "least": len(self.least), "once": len(self.once),
                "delivered": sum(self.ledger.values()), "repeats": repeats, "onceTwice": len(once_twice),
                "onceUnknown": sum(self.outcomes.get(id_) == "unknown" for id_ in absent), **apart}, once_twice

    def end(self):
        self.is_over = True
        self.thread.join()
        self.read()
