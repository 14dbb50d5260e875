"""The way to the database is cut."""
import time

from .of_hosts import kill
from .plan import scenario


@scenario("cut-off")
def cut_off(world):
    """A host is cut off from the database for 25 s, and not from the push service"""
    host = world.any_host()
    for proxy in host.proxies:
        proxy.stall()
    world.owners_lost += 1
    since = time.monotonic()
    # What is in flight is answered first; nothing of its own goes out later than its lease.
    world.expect_takeover(host, since, quiet=6)
    world.load(max(0, since + 25 - time.monotonic()))
    for proxy in host.proxies:
        proxy.stall(False)
    world.load(world.some(3, 6))


@scenario("connections-cut")
def connections_cut(world):
    """All connections to the database are reset, again and again"""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        for proxy in world.any_host().proxies:
            proxy.cut()
        world.load(world.some(0.02, 0.6))


@scenario("answers-cut")
def answers_cut(world):
    """Connections are reset between a commit and its answer, again and again"""
    before = sum(proxy.cuts for proxy in world.proxies)
    for proxy in world.proxies:
        proxy.cut_answers = 6
    world.load(15)
    for proxy in world.proxies:
        proxy.cut_answers = 0
    world.notes["answersCut"] = world.notes.get("answersCut", 0) + sum(proxy.cuts for proxy in world.proxies) - before
    world.load(2)


@scenario("answers-cut-and-kill")
def answers_cut_and_kill(world):
    """The same, with kill -9 of a host among it, which is started again at once"""
    for proxy in world.proxies:
        proxy.cut_answers = 6
    world.load(world.some(1, 4))
    host, since = kill(world)
    host.start()
    world.load(world.some(1, 4))
    for proxy in world.proxies:
        proxy.cut_answers = 0
    world.expect_takeover(host, since)
