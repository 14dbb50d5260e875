"""Stands between a host and a database, and fails when it is told to."""
import random
import selectors
import socket
import struct
import threading

# By which a host's connections for commits are known: it is in their first message.
COMMITS = b"holdfast log of journal"


class Side:
    def __init__(self, sock):
        self.sock, self.other, self.waiting, self.is_client, self.for_commits = sock, None, bytearray(), False, False
        self.is_doomed, self.begun = False, False


class Proxy:
    """One thread for all connections to one server."""

    def __init__(self, port, seed=0):
        self.target, self.dice = port, random.Random(seed)
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(100)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.is_stalled, self.cut_wanted, self.is_over = False, False, False
        # One in so many requests of a commit's connection loses its answer; 0 for none.
        self.cut_answers, self.cuts = 0, 0
        self.sides = set()
        self.wake, self.awake = socket.socketpair()
        self.selector = selectors.DefaultSelector()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def poke(self):
        self.wake.send(b"x")

    def stall(self, value=True):
        """Passes nothing on, and closes nothing, until it is told otherwise."""
        self.is_stalled = value
        self.poke()

    def cut(self):
        """Resets every connection."""
        self.cut_wanted = True
        self.poke()

    def end(self):
        self.is_over = True
        self.poke()
        self.thread.join()

    # The thread's own.

    def run(self):
        self.selector.register(self.awake, selectors.EVENT_READ, None)
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        while not self.is_over:
            for key, events in self.selector.select():
                if key.fileobj is self.awake:
                    self.awake.recv(1000)
                    self.told()
                elif key.fileobj is self.listener:
                    self.accept()
                elif key.data in self.sides:
                    self.move(key.data, events)
        for side in list(self.sides):
            self.close(side)
        self.listener.close()

    def told(self):
        if self.cut_wanted:
            self.cut_wanted = False
            for side in list(self.sides):
                self.close(side)
        for side in self.sides:
            self.watch(side)

    def accept(self):
        client, _ = self.listener.accept()
        server = socket.socket()
        try:
            server.connect(("127.0.0.1", self.target))
        except OSError:
            reset(client)
            server.close()
            return
        pair = Side(client), Side(server)
        pair[0].other, pair[1].other, pair[0].is_client = pair[1], pair[0], True
        for side in pair:
            side.sock.setblocking(False)
            side.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sides.add(side)
            self.selector.register(side.sock, selectors.EVENT_READ, side)
            self.watch(side)

    def watch(self, side):
        """Reads while the other side takes what is read."""
        events = 0
        if not self.is_stalled:
            events = selectors.EVENT_READ if len(side.other.waiting) < 1 << 20 else 0
            events |= selectors.EVENT_WRITE if side.waiting else 0
        known = side.sock in self.selector.get_map()
        if events and known:
            self.selector.modify(side.sock, events, side)
        elif events:
            self.selector.register(side.sock, events, side)
        elif known:
            self.selector.unregister(side.sock)

    def move(self, side, events):
        if self.is_stalled:
            return
        try:
            if events & selectors.EVENT_READ and not self.read(side):
                return
            if side.waiting:
                del side.waiting[:side.sock.send(side.waiting)]
        except BlockingIOError:
            pass
        except OSError:
            self.close(side)
            return
        self.watch(side)
        self.watch(side.other)

    def read(self, side):
        bytes_ = side.sock.recv(1 << 16)
        client = side if side.is_client else side.other
        if not bytes_ or (not side.is_client and client.is_doomed):
            self.cuts += bool(bytes_)
            self.close(side)
            return False
        if side.is_client:
            if not side.begun and COMMITS in bytes_:
                side.for_commits = True
            elif side.for_commits and side.begun and self.cut_answers and len(bytes_) > 200:
                client.is_doomed |= self.dice.randrange(self.cut_answers) == 0
            side.begun = len(bytes_) > 8 or side.begun
        side.other.waiting += bytes_
        try:
            del side.other.waiting[:side.other.sock.send(side.other.waiting)]
        except BlockingIOError:
            pass
        return True

    def close(self, side):
        for one in (side, side.other):
            if one in self.sides:
                self.sides.remove(one)
                if one.sock in self.selector.get_map():
                    self.selector.unregister(one.sock)
                reset(one.sock)


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()
