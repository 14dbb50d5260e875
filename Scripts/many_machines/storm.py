"""All faults at once, again and again."""
import time

from .plan import scenario

SECONDS = 90


class Storm:
    """What goes wrong now, and when it is mended."""

    def __init__(self, world):
        self.world, self.mends, self.counts = world, [], {}
        # Hosts that are stopped or cut off already.
        self.struck = set()

    def begin(self, name, mend, seconds):
        self.counts[name] = self.counts.get(name, 0) + 1
        self.mends.append((time.monotonic() + seconds, mend))

    def mend(self, everything=False):
        due = [one for one in self.mends if everything or one[0] <= time.monotonic()]
        self.mends = [one for one in self.mends if one not in due]
        for _, mend in due:
            mend()

    def host(self):
        free = [host for host in self.world.hosts if host.is_running and host not in self.struck]
        return self.world.dice.choice(free) if free else None

    def kill(self):
        host = self.host()
        if host:
            host.kill()
            self.world.owners_lost += 1
            self.begin("killed", host.begin, self.world.dice.choice([0, 0, self.world.some(0, 20)]))

    def freeze(self):
        self.strike("stopped", lambda host: host.freeze(), lambda host: host.thaw(), self.world.some(0, 16))

    def cut_off(self):
        def stall(host, on):
            for proxy in host.proxies:
                proxy.stall(on)
        self.strike("cutOff", lambda host: stall(host, True), lambda host: stall(host, False), self.world.some(0, 16))

    def strike(self, name, begin, end, seconds):
        host = self.host()
        if host is None:
            return
        begin(host)
        self.struck.add(host)
        self.world.owners_lost += 1

        def mend():
            self.struck.discard(host)
            end(host)
        self.begin(name, mend, seconds)

    def reset(self):
        host = self.host()
        for proxy in host.proxies if host else []:
            proxy.cut()
        self.begin("reset", lambda: None, 0)

    def cut_answers(self):
        host = self.host()
        if host is None:
            return
        for proxy in host.proxies:
            proxy.cut_answers = 6

        def mend():
            for proxy in host.proxies:
                proxy.cut_answers = 0
        self.begin("answersCut", mend, self.world.some(0.5, 3))

    def stop_server(self):
        server = self.world.primary
        if not server.is_running:
            return
        server.stop("immediate")
        self.begin("serverStopped", server.start, self.world.some(0, 4))


@scenario("storm")
def storm(world):
    """For 90 s all of these at random instants, several at once: kill -9 and SIGSTOP of hosts, hosts cut off, connections reset
    also between a commit and its answer, PostgreSQL stopped at once"""
    storm = Storm(world)
    faults = [storm.kill] * 4 + [storm.freeze] * 3 + [storm.cut_off] * 2 + [storm.reset] * 3
    faults += [storm.cut_answers] * 2 + [storm.stop_server]
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        world.dice.choice(faults)()
        # A takeover needs a host that nothing befalls for as long.
        world.load(world.some(0, world.dice.choice([1, 4, 4, 15])))
        storm.mend()
    storm.mend(everything=True)
    for name, count in storm.counts.items():
        world.notes[name] = world.notes.get(name, 0) + count
    world.load(5)
