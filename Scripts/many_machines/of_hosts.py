"""Hosts that are killed and stopped."""
import subprocess
import time

from .plan import scenario


def kill(world):
    host = world.any_host()
    host.kill()
    world.owners_lost += 1
    return host, time.monotonic()


@scenario("kill-restart")
def kill_restart(world):
    """kill -9 of a host, which is started again at once"""
    host, since = kill(world)
    host.start()
    world.expect_takeover(host, since)
    world.load(world.some(1, 4))


@scenario("kill-late")
def kill_late(world):
    """kill -9 of a host, which is started again after 20 s"""
    host, since = kill(world)
    world.expect_takeover(host, since)
    world.load(max(0, since + 20 - time.monotonic()))
    host.start()
    world.load(world.some(1, 4))


@scenario("kill-never")
def kill_never(world):
    """kill -9 of a host, which stays away"""
    host, since = kill(world)
    world.expect_takeover(host, since)
    world.load(world.some(1, 3))


@scenario("read-while-starting")
def read_while_starting(world):
    """kill -9 of a host, which is started again while somebody reads its copy, again and again"""
    host, since = kill(world)
    host.begin()
    end = time.monotonic() + 30
    while not host.is_serving and host.is_running and time.monotonic() < end:
        subprocess.run(
            [world.program, "journal", "status", "--journal", host.copies / "own.journal", "--json"],
            capture_output=True, stdin=subprocess.DEVNULL)
    world.expect_takeover(host, since)
    world.load(1)


@scenario("recover-on-a-copy")
def recover_on_a_copy(world):
    """kill -9 of a host, and somebody runs `holdfast recover` and `holdfast send` with its configuration"""
    host, since = kill(world)
    taken = []
    for words in (["recover"], ["send", "--token", "b0" + "0" * 62, "--topic", "com.example.app", "--alert", "Lost?"]):
        done = subprocess.run(
            [world.program, *words, "--config", host.folder / "holdfast.yaml", "--give-up-after", "3s"],
            capture_output=True, text=True, stdin=subprocess.DEVNULL)
        taken.append(f"{words[0]}: {done.returncode} {(done.stderr or done.stdout)[-200:]}")
    world.notes["tool"] = taken
    world.expect_takeover(host, since + 5)
    world.load(2)


@scenario("kill-two")
def kill_two(world):
    """kill -9 of two hosts of three, the second within the takeover of the first; one comes back"""
    first, since = kill(world)
    world.load(world.some(0, 13))
    second, later = kill(world)
    world.expect_takeover(first, max(since, later))
    world.expect_takeover(second, later)
    second.start()
    world.load(world.some(1, 3))


@scenario("two-takers")
def two_takers(world):
    """kill -9 of a host, and the looks of the two others reach the database at the same instant"""
    host, since = kill(world)
    world.load(max(0, since + world.some(8.5, 10) - time.monotonic()))
    others = [proxy for one in world.hosts if one is not host for proxy in one.proxies]
    end = time.monotonic() + 6
    while time.monotonic() < end and not world.judge.first_arrival(host.prefix, since + 0.5):
        for proxy in others:
            proxy.stall()
        world.load(1.2)
        for proxy in others:
            proxy.stall(False)
        world.load(0.4)
    # Each stall may cost a look.
    world.expect_takeover(host, since, limit=21)
    world.load(1)


def freeze(world, seconds):
    host = world.any_host()
    host.freeze()
    world.owners_lost += 1
    since = time.monotonic()
    if seconds > 15:
        world.expect_takeover(host, since)
    world.load(max(0, since + seconds - time.monotonic()))
    host.thaw()
    world.load(world.some(2, 5))


@scenario("freeze-short")
def freeze_short(world):
    """SIGSTOP of an owner for one and a half of the time that it may hand out, then SIGCONT"""
    freeze(world, 7.5)


@scenario("freeze-edge")
def freeze_edge(world):
    """SIGSTOP of an owner until about the instant of its takeover, then SIGCONT"""
    freeze(world, world.some(9.5, 13))


@scenario("freeze-long")
def freeze_long(world):
    """SIGSTOP of an owner for 30 s, then SIGCONT"""
    freeze(world, 30)
