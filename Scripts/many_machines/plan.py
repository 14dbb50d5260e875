"""What a trial does, by its name."""
from dataclasses import dataclass

ALL = {}


@dataclass
class Plan:
    run: object
    words: str
    # "sync", "async" or none.
    standby: str = ""
    # Each round has servers and hosts of its own.
    is_fresh: bool = False
    # The size of the file system with the database.
    disk: str = ""
    clocks: bool = False
    # Nobody has what is lost: it is counted, and no breach.
    loses: bool = False
    # Bytes of a payload, where many are wanted.
    bytes: int = 0
    rate: int = 0
    delay: int = -1


def scenario(name, **more):
    def note(run):
        ALL[name] = Plan(run, run.__doc__, **more)
        return run
    return note
