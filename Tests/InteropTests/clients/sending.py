"""What the senders in Python share: the contract of README.md, but for the sending itself."""
import asyncio
import json
import sys
from dataclasses import dataclass

# How long an answer may take. A gateway that was killed never gives one, and some clients do not notice.
DEADLINE = 20.0


@dataclass
class Orders:
    """The arguments of a sender."""
    host: str
    port: int
    ca: str
    topic: str
    first: int
    count: int
    concurrency: int
    told: str
    key: str = ""
    key_id: str = ""
    team_id: str = ""

    @classmethod
    def read(cls):
        arguments = sys.argv[1:]
        if len(arguments) not in (8, 11):
            sys.exit(f"usage: {sys.argv[0]} HOST PORT CA TOPIC FIRST COUNT CONCURRENCY TOLD [KEY KEY-ID TEAM-ID]")
        host, port, ca, topic, first, count, concurrency, told, *key = arguments
        return cls(host, int(port), ca, topic, int(first), int(count), int(concurrency), told, *key)


@dataclass
class Answer:
    status: int
    text: str = ""
    retry_after: float = 0.2


def token(number):
    return f"{number:064x}"


def apns_id(number):
    """One for each notification, so that what is sent again can be seen to be the same."""
    return f"00000000-0000-4000-8000-{number:012x}"


def message(number):
    return {"aps": {"alert": f"Number {number}", "sound": "default"}}


def payload(number):
    return json.dumps(message(number), separators=(",", ":")).encode()


async def send_all(orders, send):
    """Sends every notification until it is told 200; `send(number)` gives an Answer, or raises where there is none."""
    numbers = iter(range(orders.first, orders.first + orders.count))
    with open(orders.told, "a", buffering=1) as told:

        async def work():
            # The iterator is shared: each worker takes the next number when it is done with its own.
            for number in numbers:
                await send_one(number, send)
                told.write(f"{number}\n")

        workers = [asyncio.create_task(work()) for _ in range(orders.concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()


async def send_one(number, send):
    while True:
        try:
            answer = await asyncio.wait_for(send(number), DEADLINE)
        except Exception as problem:  # Told nothing, however the client calls that: it goes again, as it is.
            print(f"{number}: {type(problem).__name__} {problem}", file=sys.stderr)
            await asyncio.sleep(0.1)
            continue
        if answer.status == 200:
            return
        if answer.status not in (429, 500, 503):
            sys.exit(f"{number} was refused: {answer.status} {answer.text}")
        await asyncio.sleep(min(answer.retry_after, 5))
