"""Bad neighbours: while each kind of them misbehaves on its connections, good senders must get all their answers, and the
gateway must not grow. See Scripts/gateway-neighbours. Raw sockets, frames written by hand; only the header fields of answers
are read by a library (hpack)."""
import argparse
import json
import random
import select
import socket
import ssl
import struct
import sys
import threading
import time
from collections import Counter

import hpack

from rig import Failure, Trial, program, wait_until

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
CODES = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
         "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM"]
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# No connection is looked at for longer.
PATIENCE = 20
# How much more memory the gateway may have than before, in MiB.
GROWTH = 256


class Ended(Exception):
    """How a connection ended, in a word."""


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header field without index or Huffman code; for lengths below 127."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def request(number=0xBAD):
    return b"".join(literal(name, value) for name, value in (
        (b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"localhost"),
        (b":path", b"/3/device/%064x" % number), (b"apns-topic", b"com.example.app"), (b"apns-push-type", b"alert")))


class Raw:
    """A connection that writes whatever it is told, and finds out how it ended."""

    def __init__(self, stop, port, ca=None, protocols=()):
        self.stop = stop
        self.until = time.monotonic() + PATIENCE
        self.read = b""
        # Whether it does not read while it writes.
        self.is_deaf = False
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        try:
            if ca:
                context = ssl.create_default_context(cafile=ca)
                if protocols:
                    context.set_alpn_protocols(list(protocols))
                self.socket = context.wrap_socket(self.socket, server_hostname="127.0.0.1")
            self.socket.setblocking(False)
        except OSError as problem:
            raise Ended(f"TLS: {type(problem).__name__}") from None

    def write(self, data):
        """Writes all of it, reading meanwhile; raises when the other side has ended the connection."""
        view = memoryview(data)
        while view:
            self.take(0)
            try:
                view = view[self.socket.send(view):]
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                self.wait_for_room()
            except OSError:
                # What was said before it is still to be read.
                self.end()

    def wait_for_room(self):
        if self.stop.is_set() or time.monotonic() > self.until:
            raise Ended("went on")
        select.select([self.socket], [self.socket], [], 0.1)

    def take(self, seconds):
        """Reads what is there; raises at the end."""
        if self.is_deaf:
            return
        if seconds and not (isinstance(self.socket, ssl.SSLSocket) and self.socket.pending()):
            select.select([self.socket], [], [], seconds)
        try:
            while data := self.socket.recv(65536):
                self.read += data
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except ssl.SSLError as problem:
            raise Ended(self.last_word() or f"TLS: {problem.reason}") from None
        except OSError:
            raise Ended(self.last_word() or "reset") from None
        raise Ended(self.last_word() or "closed")

    def last_word(self):
        return None

    def end(self):
        """Waits until the other side ends it."""
        self.is_deaf = False
        while not self.stop.is_set() and time.monotonic() < self.until:
            self.take(0.1)
        raise Ended(self.last_word() or "went on")

    def close(self):
        self.socket.close()


class Client(Raw):
    """The same with HTTP/2's beginning, and an eye for what is answered."""

    def __init__(self, stop, port, ca, protocols=("h2",), settings=b""):
        super().__init__(stop, port, ca, protocols)
        self.write(PREFACE + frame(SETTINGS, 0, 0, settings))

    def last_word(self):
        statuses, decoder, place = [], hpack.Decoder(), 0
        while place + 9 <= len(self.read):
            size, kind = int.from_bytes(self.read[place:place + 3], "big"), self.read[place + 3]
            payload = self.read[place + 9:place + 9 + size]
            place += 9 + size
            if kind == GOAWAY and (code := int.from_bytes(payload[4:8], "big")) != 0:
                return "GOAWAY " + (CODES[code] if code < len(CODES) else str(code))
            if kind == HEADERS:
                statuses.append(dict(decoder.decode(payload))[":status"])
        return ", ".join(sorted(set(statuses))) or None


# Each kind of neighbour, on one connection.

def slowloris(it):
    client = Client(it.stop, it.http2, it.ca)
    block = frame(HEADERS, END_HEADERS, 1, request()) + frame(DATA, END_STREAM, 1, b"{}")
    for byte in block:
        client.write(bytes([byte]))
        client.take(0)
        if it.stop.wait(0.2):
            raise Ended("went on")
    client.end()


def half_open_tls(it):
    raw = Raw(it.stop, it.dice.choice([it.http2, it.binary]))
    # The beginning of a ClientHello.
    raw.write(bytes.fromhex("1603010200010001fc0303"))
    raw.end()


def silent(it):
    Raw(it.stop, it.dice.choice([it.http2, it.binary])).end()


def rapid_resets(it):
    client = Client(it.stop, it.http2, it.ca)
    for stream in range(1, 1 << 20, 2):
        client.write(frame(HEADERS, END_HEADERS, stream, request()) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8)))
    client.end()


def continuations(it):
    client = Client(it.stop, it.http2, it.ca)
    client.write(frame(HEADERS, 0, 1, request()))
    while True:
        client.write(frame(CONTINUATION, 0, 1, literal(b"x-more", b"y" * 100)))


def settings(it):
    client = Client(it.stop, it.http2, it.ca)
    while True:
        client.write(frame(SETTINGS, 0, 0) * 100)


def pings(it):
    client = Client(it.stop, it.http2, it.ca)
    while True:
        client.write(frame(PING, 0, 0, b"12345678") * 100)


def oversized_body(it):
    client = Client(it.stop, it.http2, it.ca)
    client.write(frame(HEADERS, END_HEADERS, 1, request()))
    # As much as the windows allow, which is more than a payload may have.
    for _ in range(3):
        client.write(frame(DATA, 0, 1, b"x" * 16384))
    client.write(frame(DATA, END_STREAM, 1, b"x" * 10000))
    wait_until("an answer", lambda: client.take(0.05) or client.last_word() or it.stop.is_set())
    raise Ended(client.last_word() or "went on")


def oversized_fields(it):
    client = Client(it.stop, it.http2, it.ca)
    client.write(frame(HEADERS, 0, 1, request() + literal(b"x-more", b"y" * 120) * 100))
    client.write(frame(CONTINUATION, END_HEADERS, 1, literal(b"x-more", b"y" * 120) * 100))
    client.end()


def oversized_frame(it):
    client = Client(it.stop, it.http2, it.ca)
    client.write(b"\xff\xff\xff" + struct.pack(">BBI", DATA, 0, 1) + b"x" * 100_000)
    client.end()


def endless_requests(it):
    """Requests that begin and never end, as many as the limit allows and more."""
    client = Client(it.stop, it.http2, it.ca)
    for stream in range(1, 4001, 2):
        client.write(frame(HEADERS, END_HEADERS, stream, request()) + frame(DATA, 0, stream, b"{"))
    client.end()


def slow_reader(it):
    """Asks, and reads nothing."""
    client = Client(it.stop, it.http2, it.ca)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.is_deaf = True
    block = b"".join(literal(n, v) for n, v in ((b":method", b"GET"), (b":scheme", b"https"), (b":path", b"/")))
    for stream in range(1, 400_001, 2):
        client.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, block))
    client.end()


def wrong_protocol(it):
    raw = Raw(it.stop, it.http2, it.ca, ("http/1.1",))
    raw.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    raw.end()


def garbage_for_tls(it):
    raw = Raw(it.stop, it.dice.choice([it.http2, it.binary]))
    raw.write(it.dice.randbytes(4096))
    raw.end()


def garbage_for_http2(it):
    client = Client(it.stop, it.http2, it.ca)
    while True:
        client.write(it.dice.randbytes(4096))


def garbage_for_binary(it):
    raw = Raw(it.stop, it.binary, it.ca)
    raw.write(it.dice.randbytes(4096))
    raw.end()


def oversized_binary(it):
    """A frame of four gigabytes, in drops."""
    raw = Raw(it.stop, it.binary, it.ca)
    raw.write(struct.pack(">BI", 2, 0xFFFFFFFF))
    while True:
        raw.write(struct.pack(">BH", 2, 65535) + b"x" * 65535)


def slow_binary(it):
    raw = Raw(it.stop, it.binary, it.ca)
    for byte in struct.pack(">BIIH", 1, 7, 0, 32) + bytes(32) + struct.pack(">H", 2) + b"{}":
        raw.write(bytes([byte]))
        raw.take(0)
        if it.stop.wait(0.2):
            raise Ended("went on")
    raw.end()


# The last words that each is to get. Those without any are closed; slow ones may go on for as long as a trial takes.
CALM = {"GOAWAY ENHANCE_YOUR_CALM"}
KINDS = {
    slowloris: set(),
    half_open_tls: set(),
    silent: set(),
    rapid_resets: CALM,
    continuations: CALM,
    settings: CALM,
    pings: CALM,
    oversized_body: {"413"},
    oversized_fields: CALM,
    oversized_frame: {"GOAWAY FRAME_SIZE_ERROR"},
    endless_requests: set(),
    slow_reader: CALM | {"405"},
    wrong_protocol: set(),
    garbage_for_tls: set(),
    garbage_for_http2: {f"GOAWAY {code}" for code in CODES[1:]},
    garbage_for_binary: set(),
    oversized_binary: set(),
    slow_binary: set(),
}


class Misbehaviour:
    """One kind of neighbour, on several connections, over and over until it is stopped."""

    def __init__(self, kind, trial, seed, connections):
        self.kind = kind
        self.stop = threading.Event()
        self.http2, self.binary, self.ca = trial.gateway.ports["http2"], trial.gateway.ports["binary"], trial.gateway.ca
        self.dice = random.Random(f"{seed}.{kind.__name__}")
        self.ends = Counter()
        # Connections, so far.
        self.begun = 0
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(connections)]
        for thread in self.threads:
            thread.start()

    def work(self):
        while not self.stop.is_set():
            self.begun += 1
            try:
                self.kind(self)
                end = "went on"
            except Ended as ended:
                end = str(ended)
            except OSError as problem:
                # Not so much as a connection, or no TLS.
                end = type(problem).__name__
            if not (self.stop.is_set() and end == "went on"):
                self.ends[end] += 1

    def end(self):
        """None is left when it returns."""
        self.stop.set()
        for thread in self.threads:
            thread.join(PATIENCE)


def main():
    options = parse()
    failures = []
    with Trial(program(), limits="  handshake-limit: 2s\n  write-limit: 2s\n  idle-limit: 3s\n") as it:
        # What it takes to serve anybody at all is there before it is measured.
        send(it, 1, options.count)
        kinds = [kind for kind in KINDS if kind.__name__ in options.kinds]
        for place, together in enumerate([kinds] if options.together else [[kind] for kind in kinds]):
            for row in trial(it, together, (place + 1) * 1_000_000, options):
                failures += judge(row)
                print(json.dumps(row) if options.json else line(row), flush=True)
        audit = it.audit()
        failures += [f"{audit['lost']} were answered 200 and lost"] if audit["lost"] or audit["untold"] else []
    for failure in failures:
        print(f"error: seed {options.seed}: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


def parse():
    names = [kind.__name__ for kind in KINDS]
    parser = argparse.ArgumentParser(prog="Scripts/gateway-neighbours")
    parser.add_argument("--count", type=int, default=500, help="notifications of each good sender (500)")
    parser.add_argument("--connections", type=int, default=20, help="that misbehave at a time (20)")
    parser.add_argument("--together", action="store_true", help="all kinds at once, instead of one after the other")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--json", action="store_true", help="one object a line for each kind")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(names)}; all without")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(names):
        parser.error(f"no such neighbour: {', '.join(sorted(unknown))}")
    options.kinds = options.kinds or names
    return options


def send(it, first, count):
    """Two good senders, one for each protocol."""
    it.send("node", first, count)
    it.send("binary", first + count, count)
    it.finish()


def trial(it, kinds, first, options):
    before = it.gateway.resident_kib
    began = time.monotonic()
    bad = [Misbehaviour(kind, it, options.seed, options.connections) for kind in kinds]
    # In the middle of it, not before it has begun.
    wait_until("neighbours are there", lambda: all(one.begun for one in bad))
    send(it, first, options.count)
    seconds = time.monotonic() - began
    # Those that are to be cut off for their slowness have their time.
    wait_until("neighbours were dealt with", lambda: all(one.ends for one in bad) or time.monotonic() - began > 8)
    after = it.gateway.resident_kib
    for one in bad:
        one.end()
    for one in bad:
        yield {"neighbour": one.kind.__name__, "ends": dict(one.ends), "seconds": round(seconds, 1),
               "grownMiB": round((after - before) / 1024, 1), "residentMiB": round(after / 1024)}


def judge(row):
    kind = next(kind for kind in KINDS if kind.__name__ == row["neighbour"])
    words, ends = KINDS[kind], row["ends"].keys()
    # Who writes on after the other side has closed is told so by a reset, which may overtake the last word; one that is so
    # busy with its kind that it does not come to the end of its handshake is turned away.
    others = {"closed", "reset"} if words else {"closed", "reset", "went on"}
    problems = [
        f"{row['neighbour']}: it ended with {end}" for end in ends
        if end not in words | others and not end.startswith("TLS: ")]
    if words and not words & ends:
        problems.append(f"{row['neighbour']}: none of them got a last word")
    if row["grownMiB"] > GROWTH:
        problems.append(f"{row['neighbour']}: the gateway grew by {row['grownMiB']} MiB")
    return problems


def line(row):
    ends = ", ".join(f"{end} × {count}" for end, count in sorted(row["ends"].items())) or "went on"
    return f"{row['neighbour']:20} {row['seconds']:5} s {row['grownMiB']:7} MiB  {ends}"


try:
    main()
except Failure as failure:
    sys.exit(f"error: {failure}")
