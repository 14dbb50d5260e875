"""Servers of the database that are stopped, killed, full and in use."""
import subprocess
import time

from rig import wait_until

from . import postgres
from .of_hosts import kill, kill_late
from .plan import scenario


@scenario("immediate-stop")
def immediate_stop(world):
    """PostgreSQL is stopped at once (-m immediate), and started again"""
    world.primary.stop("immediate")
    world.load(world.some(0, 8))
    world.primary.start()
    world.load(world.some(3, 6))


@scenario("promote-sync", standby="sync", is_fresh=True)
def promote_sync(world):
    """kill -9 of the primary, and promotion of its synchronous standby"""
    world.primary.kill()
    world.load(world.some(0, 4))
    world.standby.promote()
    world.primary = world.standby
    world.load(world.some(8, 12))


@scenario("promote-sync-and-kill", standby="sync", is_fresh=True)
def promote_sync_and_kill(world):
    """The same, with kill -9 of a host at the same instant, which stays away"""
    world.primary.kill()
    kill(world)
    world.standby.promote()
    world.primary = world.standby
    world.load(world.some(15, 18))


@scenario("promote-async", standby="async", is_fresh=True)
def promote_async(world):
    """kill -9 of the primary, and promotion of an asynchronous standby that lacks its last commits: hosts put them back"""
    promote_behind(world, lambda: None)
    world.load(15)
    expect_words(world)
    for host in world.hosts:
        if "the journal is opened anew in" in host.said(100_000):
            world.breach(f"{host.name} has thrown its engine away, with what was on the wire")


@scenario("promote-async-and-kill", standby="async", is_fresh=True)
def promote_async_and_kill(world):
    """The same, with kill -9 of a host at the same instant, which is started again at once"""
    killed = []
    promote_behind(world, lambda: killed.append(kill(world)[0]))
    killed[0].start()
    world.load(15)
    expect_words(world)


@scenario("promote-async-new-host", standby="async", is_fresh=True, loses=True)
def promote_async_new_host(world):
    """The same without any host that was there: a new one has no copies, so what is lost is counted, and no breach"""
    def kill_all():
        for host in world.hosts:
            host.kill()
        world.owners_lost += len(world.hosts)
    promote_behind(world, kill_all)
    world.add_host().start()
    world.load(25)


def promote_behind(world, meanwhile):
    world.links[0].stall()
    world.load(world.some(1, 4))
    world.primary.kill()
    meanwhile()
    world.links[0].cut()
    world.standby.promote()
    world.primary = world.standby


def expect_words(world):
    """Somebody says that commits are gone."""
    told = [line for host in world.hosts for line in host.said(100_000).splitlines() if "lost" in line and "commits" in line
            or "rolled back" in line]
    world.notes["told"] = len(told)
    if not told:
        world.breach("commits of the primary are gone, and no host says so")


@scenario("standby-away", standby="sync")
def standby_away(world):
    """The synchronous standby is away for 30 s: nothing is accepted meanwhile"""
    world.standby.stop("immediate")
    first = time.time() + 1
    world.load(30)
    taken = world.judge.accepted_between(first, time.time())
    if taken:
        world.breach(f"{taken} were accepted while the standby was away")
    world.standby.start()
    world.load(world.some(4, 6))


@scenario("standby-away-and-kill", standby="sync")
def standby_away_and_kill(world):
    """The same for 8 s, with kill -9 of a host meanwhile, which is started again at once"""
    world.standby.stop("immediate")
    world.load(world.some(0, 5))
    host, since = kill(world)
    host.begin()
    world.load(world.some(1, 4))
    world.standby.start()
    wait_until(f"{host.name} serves", lambda: host.is_serving or not host.is_running, 60)
    world.load(world.some(3, 5))


@scenario("long-transaction")
def long_transaction(world):
    """A transaction is open throughout, and pg_dump runs again and again, over kill -9 of a host"""
    open_ = world.primary_session("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class; SELECT pg_sleep(600);")
    try:
        end, dumps = time.monotonic() + 15, 0
        host = since = None
        while time.monotonic() < end:
            words = postgres.words("pg_dump", "-h", world.primary.folder, "-p", world.primary.port, "-U", "postgres", "push")
            dump = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
            while dump.poll() is None:
                world.load(0.1)
            dumps += dump.returncode == 0
            if host is None:
                host, since = kill(world)
        world.expect_takeover(host, since)
        world.notes["dumps"] = world.notes.get("dumps", 0) + dumps
    finally:
        open_.kill()
        open_.wait()


@scenario("disk-full", disk="400m", is_fresh=True)
def disk_full(world):
    """The database's file system is full for some seconds"""
    ballast = world.folder / "disk" / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass
    first = time.time()
    world.load(world.some(6, 12))
    world.notes["acceptedWhileFull"] = world.judge.accepted_between(first + 1, time.time())
    ballast.unlink()
    world.notes["serverDied"] = not world.primary.is_running
    if not world.primary.is_running:
        world.primary.start()
    world.load(world.some(5, 8))


@scenario("clocks-apart", clocks=True)
def clocks_apart(world):
    """Wall clocks of the hosts an hour apart, and kill -9 of one, which is started again after 20 s"""
    kill_late(world)


@scenario("slots-turned", bytes=3500, rate=900, delay=30)
def slots_turned(world):
    """More than 64 MB of log for each journal, beside an open transaction: slots turn, tables stay bounded"""
    sizes = []
    epochs = "SELECT string_agg(slot::text, ',' ORDER BY id) FROM holdfast.journals"
    total = ("SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
             "WHERE n.nspname = 'holdfast' AND c.relkind = 'r' AND c.relname ~ '^(log|checkpoint)_'")
    open_ = world.primary_session("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class; SELECT pg_sleep(600);")
    turns, last = 0, world.primary.psql(epochs)
    end = time.monotonic() + 90
    try:
        while time.monotonic() < end:
            world.load(1)
            sizes.append(int(world.primary.psql(total)))
            now = world.primary.psql(epochs)
            turns += sum(a != b for a, b in zip(last.split(","), now.split(",")))
            last = now
        host, since = kill(world)
        world.expect_takeover(host, since)
    finally:
        open_.kill()
        open_.wait()
    world.notes.update(turns=turns, mostMegabytes=max(sizes) >> 20)
    if turns < len(world.hosts):
        world.breach(f"slots turned {turns} times in 90 s")
    # Two slots of 64 MB and what comes while they turn, and a checkpoint of what waits.
    if max(sizes) > len(world.hosts) * (300 << 20):
        world.breach(f"tables grew to {max(sizes) >> 20} MB")
