"""A sender of the binary protocol, as they were written before 2021: README.md has the arguments, and these follow them:

    --command 0|1|2|mixed     how notifications are written; default mixed, in turn
    --cleartext               without TLS, for loopback; CA is not looked at
    --refused FILE            the numbers of refused notifications go there, one a line, and are not written again; without
                              it, one that is refused ends the sender

Silence is success in this protocol, and an error answers for all: what was written before the notification it names was
taken, and what was written behind it was not. A sender that wants proof writes a notification that cannot be taken, one
without a token: the error about it, the barrier's answer, proves everything before it. This one writes a barrier behind
each CONCURRENCY notifications, puts their numbers into TOLD when it is answered, and what it has no proof of it writes again
on another connection. (A notification has no name here that a repeat could be known by: what is written again may arrive twice.)

At the end it prints a line of JSON: how many notifications it wrote, how many of them again, and on how many connections.
"""
import argparse
import json
import select
import socket
import ssl
import struct
import sys
import time

from sending import DEADLINE, payload, token

# No expiry was ever longer than its sender lived; what is written again is the same.
EXPIRY = int(time.time()) + 86400
# Statuses of error responses.
PROCESSING_ERROR, MISSING_TOKEN, INVALID_TOKEN_SIZE, SHUTDOWN, UNKNOWN = 1, 2, 5, 10, 255
COMMANDS = {"0": [0], "1": [1], "2": [2], "mixed": [0, 1, 2]}


def simple(number):
    """Command 0, which has no identifier: an error cannot name it."""
    data, body = bytes.fromhex(token(number)), payload(number)
    return struct.pack(">BH", 0, len(data)) + data + struct.pack(">H", len(body)) + body


def enhanced(identifier, data, body):
    """Command 1."""
    return (
        struct.pack(">BIIH", 1, identifier, EXPIRY, len(data)) + data + struct.pack(">H", len(body)) + body
    )


def framed(identifier, number):
    """Command 2: items of an id, a length and data, in a frame."""
    items = b""
    for item, data in (
        (1, bytes.fromhex(token(number))),
        (2, payload(number)),
        (3, struct.pack(">I", identifier)),
        (4, struct.pack(">I", EXPIRY)),
        (5, struct.pack(">B", 10)),
    ):
        items += struct.pack(">BH", item, len(data)) + data
    return struct.pack(">BI", 2, len(items)) + items


class Ended(Exception):
    """The connection is over; `status` is None where it had no last word."""

    def __init__(self, status=None, identifier=None):
        self.status, self.identifier = status, identifier


class Connection:
    def __init__(self, orders):
        self.data = b""
        self.socket = socket.create_connection((orders.host, orders.port), timeout=DEADLINE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not orders.cleartext:
            context = ssl.create_default_context(cafile=orders.ca)
            self.socket = context.wrap_socket(self.socket, server_hostname=orders.host)

    def write(self, data):
        """Looks for an answer first: hundreds of writes can succeed after the one that was refused."""
        if select.select([self.socket], [], [], 0)[0]:
            self.look()
        try:
            self.socket.sendall(data)
        except OSError:
            # A reset can be faster than the answer that was written before it, which may still be there.
            self.answer()

    def look(self):
        """Takes what has come, which with TLS need not be data."""
        self.socket.setblocking(False)
        try:
            self.read()
        except (BlockingIOError, ssl.SSLWantReadError):
            pass
        except OSError:
            raise Ended() from None
        finally:
            self.socket.settimeout(DEADLINE)

    def answer(self):
        """Waits for the last word, however many reads it takes. Never returns."""
        try:
            while True:
                self.read()
        except OSError:
            raise Ended() from None

    def read(self):
        more = self.socket.recv(6 - len(self.data))
        if not more:
            raise Ended()
        self.data += more
        if len(self.data) < 6:
            return
        command, status, identifier = struct.unpack(">BBI", self.data)
        if command != 8:
            sys.exit(f"the gateway said {self.data.hex()}, which is no error response")
        raise Ended(status, identifier)

    def close(self):
        self.socket.close()


class Sender:
    def __init__(self, orders):
        self.orders = orders
        self.identifier = 0
        self.waiting = list(range(orders.first, orders.first + orders.count))
        # Written and not proven, in order: identifier and number.
        self.unproven = []
        self.figures = {"written": 0, "again": 0, "connections": 0}
        self.seen = set()

    def next_identifier(self):
        self.identifier = self.identifier % 0xFFFFFFFF + 1
        return self.identifier

    def write(self, connection):
        """Writes as much as goes between two proofs, and the barrier behind it."""
        commands = COMMANDS[self.orders.command]
        for number in self.waiting[: self.orders.concurrency]:
            identifier = self.next_identifier()
            command = commands[number % len(commands)]
            if command == 0:
                data = simple(number)
            elif command == 1:
                data = enhanced(identifier, bytes.fromhex(token(number)), payload(number))
            else:
                data = framed(identifier, number)
            self.unproven.append((identifier if command else None, number))
            self.figures["written"] += 1
            self.figures["again"] += number in self.seen
            self.seen.add(number)
            connection.write(data)
        self.barrier = self.next_identifier()
        connection.write(enhanced(self.barrier, b"", b'{"aps":{}}'))
        connection.answer()

    def conclude(self, ended, told):
        """What the end of a connection proves. Everything else goes again, in its order."""
        proven = 0
        places = {identifier: place for place, (identifier, _) in enumerate(self.unproven) if identifier}
        if ended.status in (MISSING_TOKEN, INVALID_TOKEN_SIZE) and ended.identifier in (self.barrier, 0):
            proven = len(self.unproven)
        elif ended.identifier in places:
            place = places[ended.identifier]
            proven = place + 1 if ended.status == SHUTDOWN else place
            if ended.status not in (SHUTDOWN, PROCESSING_ERROR, UNKNOWN):
                refused = self.unproven.pop(place)[1]
                if not self.orders.refused:
                    sys.exit(f"{refused} was refused: status {ended.status}")
                self.waiting.remove(refused)
                with open(self.orders.refused, "a") as file:
                    file.write(f"{refused}\n")
        elif ended.status not in (None, SHUTDOWN, PROCESSING_ERROR, UNKNOWN):
            sys.exit(f"a notification was refused that cannot be named: status {ended.status}")
        for _, number in self.unproven[:proven]:
            told.write(f"{number}\n")
        self.waiting = self.waiting[proven:]
        self.unproven = []
        return proven

    def run(self):
        with open(self.orders.told, "a", buffering=1) as told:
            while self.waiting:
                self.barrier = None
                try:
                    connection = Connection(self.orders)
                except OSError as problem:
                    print(f"can't connect: {problem}", file=sys.stderr)
                    time.sleep(0.1)
                    continue
                self.figures["connections"] += 1
                try:
                    self.write(connection)
                except Ended as ended:
                    if not self.conclude(ended, told):
                        time.sleep(0.1)
                finally:
                    connection.close()
        print(json.dumps(self.figures))


def main():
    parser = argparse.ArgumentParser()
    for name, kind in (
        ("host", str), ("port", int), ("ca", str), ("topic", str), ("first", int), ("count", int),
        ("concurrency", int), ("told", str),
    ):
        parser.add_argument(name, type=kind)
    parser.add_argument("--command", choices=COMMANDS, default="mixed")
    parser.add_argument("--cleartext", action="store_true")
    parser.add_argument("--refused")
    Sender(parser.parse_args()).run()


main()
