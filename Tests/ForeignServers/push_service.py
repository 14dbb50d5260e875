#!/usr/bin/env python3
"""A push service on Python's h2, which shares no code with ours, misbehaves as it is told, and keeps a ledger.

    push_service.py --certificate PEM --key PEM --port-file FILE --ledger FILE [--fault NAME] [--at N] [--count N]

It answers POST /3/device/<token> over TLS with ALPN h2, on 100 streams at most. A token whose last 16 digits make a number
that is 49 modulo 100 is always answered 410 Unregistered. The ledger has one line of JSON for each connection ("opened"), for
each request that it decided about ("taken": whether it would deliver it; "answer": what the sender was told, or null), and
for each time the fault struck ("fault"). A request that was refused or lies above a GOAWAY's last stream is not taken.

The faults strike at the request number --at on the service (or on the connection, where it says so), --count times:

    none                 everything is answered 200
    goaway               a connection takes --at requests, then GOAWAY: what is on its way was never processed
    goaway-twice         the same in two steps: first 2^31-1, then what it has seen, and what came in between is answered
    refused              --count requests from number --at on: RST_STREAM REFUSED_STREAM
    stream-limit         every --at requests of a connection: SETTINGS with a limit of 1, and 20 later of 100 again
    stall                a connection takes --at requests, then answers nothing any more, PING included
    busy                 from request number --at on, for --count seconds: 503 ServiceUnavailable with Retry-After
    pieces               every --at requests of a connection: 503 ServiceUnavailable; all error bodies come in DATA frames of one byte
    close-unanswered     a connection takes --at requests, takes 10 more, and closes without answering those
    settings-games       every 50 requests of a connection: another initial window, another header table, another frame size
    small-windows        the initial window is 100 bytes, and opened only as it is used
"""
import argparse
import asyncio
import json
import os
import ssl
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings

Codes = h2.settings.SettingCodes


class Service:
    """What all connections share."""

    def __init__(self, options):
        self.options = options
        self.requests = 0
        self.struck = 0
        self.busy_until = None
        self.connections = 0
        self.ledger = open(options.ledger, "a", buffering=1, encoding="utf-8")

    def write(self, **line):
        self.ledger.write(json.dumps(line) + "\n")

    def strike(self, **details):
        self.struck += 1
        self.write(fault=self.options.fault, **details)


class Connection(asyncio.Protocol):
    def __init__(self, service):
        self.service = service
        self.fault = service.options.fault
        self.at = service.options.at
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.waiting = {}  # stream: [headers, body], until the request is complete
        self.requests = 0
        self.since_limit = 0
        self.good = 0  # requests that are not for an unregistered token
        self.is_stalled = False
        self.withholds = False  # answers, until it closes
        self.is_leaving = False
        self.last_taken = None  # above it nothing is processed
        self.pieces = []  # answers that go out piece by piece

    # The transport

    def connection_made(self, transport):
        self.transport = transport
        self.service.connections += 1
        self.number = self.service.connections
        self.paused = False
        # Not update(): what that sets is pending, and not what initiate_connection() sends.
        settings = {Codes.MAX_CONCURRENT_STREAMS: 100}
        if self.fault == "small-windows":
            settings[Codes.INITIAL_WINDOW_SIZE] = 100
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values=settings)
        self.h2.initiate_connection()
        self.service.write(connection=self.number, opened=True)
        if self.fault == "small-windows":
            self.service.strike(connection=self.number)
        self.flush()

    def data_received(self, data):
        if self.is_stalled:
            return
        try:
            events = self.h2.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            # h2 is strict: what it will not have is our sender's mistake, and must be seen.
            self.service.write(protocolError=str(error), connection=self.number)
            self.flush()
            self.transport.close()
            return
        for event in events:
            if self.is_stalled or self.transport.is_closing():
                return
            self.take(event)
        self.flush()

    def pause_writing(self):
        self.paused = True

    def resume_writing(self):
        self.paused = False

    def connection_lost(self, error):
        self.is_stalled = True

    def flush(self):
        if not self.is_stalled and not self.transport.is_closing():
            self.transport.write(self.h2.data_to_send())

    # Requests

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.waiting[event.stream_id] = [dict(event.headers), b""]
        elif isinstance(event, h2.events.DataReceived):
            request = self.waiting.get(event.stream_id)
            if request is not None:
                request[1] += event.data
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            request = self.waiting.pop(event.stream_id, None)
            if request is not None and (self.last_taken is None or event.stream_id <= self.last_taken):
                self.service.requests += 1
                self.requests += 1
                self.request(event.stream_id, *request)
        elif isinstance(event, h2.events.StreamReset):
            self.waiting.pop(event.stream_id, None)
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.transport.close()

    def request(self, stream, headers, body):
        if int(headers.get(":path", "")[-16:], 16) % 100 == 49:
            # Later than every registration that a sender may know of.
            timestamp = {"timestamp": int(time.time() * 1000) + 123}
            return self.answer(stream, headers, body, 410, "Unregistered", extra=timestamp)
        handler = getattr(self, "on_" + self.fault.replace("-", "_"), None)
        if handler is None or not handler(stream, headers, body):
            self.answer(stream, headers, body)

    def note(self, stream, headers, body, taken, answer):
        token = headers.get(":path", "").rpartition("/")[2]
        self.service.write(
            connection=self.number, stream=stream, token=token, id=headers.get("apns-id"), taken=taken, answer=answer,
            # The sender puts the token into the payload as well: whose body is it?
            sound=token.encode() in body and headers.get(":method") == "POST", size=len(body))

    def answer(self, stream, headers, body, status=200, reason=None, more=(), extra=None):
        self.note(stream, headers, body, status == 200, status)
        fields = [(":status", str(status)), ("apns-id", headers.get("apns-id", ""))] + list(more)
        self.h2.send_headers(stream, fields, end_stream=reason is None)
        if reason is not None:
            text = json.dumps({"reason": reason, **(extra or {})}).encode()
            if self.fault == "pieces":
                self.piece(stream, text)
            else:
                self.h2.send_data(stream, text, end_stream=True)

    # Faults: true when the request has been dealt with

    def on_goaway(self, stream, headers, body):
        if self.requests < self.at or self.last_taken is not None or self.service.struck >= self.service.options.count:
            return False
        # Those up to here have been answered; what is on its way was never processed.
        self.last_taken = stream
        self.answer(stream, headers, body)
        self.service.strike(connection=self.number, lastStream=stream, unanswered=len(self.waiting))
        self.goaway_frame(stream)
        # What the sender still writes is read and dropped, until it closes: closing first could reset the connection
        # under its feet, and take answers away that it has not read yet.
        asyncio.get_running_loop().call_later(10, self.transport.close)
        return True

    def on_goaway_twice(self, stream, headers, body):
        if self.requests < self.at or self.is_leaving or self.service.struck >= self.service.options.count:
            return False
        self.is_leaving = True
        self.answer(stream, headers, body)
        self.service.strike(connection=self.number)
        self.goaway_frame(0x7FFFFFFF)
        asyncio.get_running_loop().call_later(0.1, self.second_goaway)
        return True

    def second_goaway(self):
        if self.transport.is_closing():
            return
        self.last_taken = self.h2.highest_inbound_stream_id
        self.goaway_frame(self.last_taken)
        asyncio.get_running_loop().call_later(10, self.transport.close)

    def goaway_frame(self, last):
        """Written by hand: after its own, h2 takes the requests that cross it for the sender's mistake."""
        self.flush()
        self.transport.write(
            b"\0\0\x08\x07\0" + bytes(4) + last.to_bytes(4, "big") + bytes(4))

    def on_refused(self, stream, headers, body):
        if not self.at <= self.service.requests or self.service.struck >= self.service.options.count:
            return False
        self.note(stream, headers, body, False, "REFUSED_STREAM")
        self.service.strike(connection=self.number, stream=stream)
        self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        return True

    def on_stream_limit(self, stream, headers, body):
        self.since_limit += 1
        if self.since_limit == self.at and self.service.struck < self.service.options.count:
            self.service.strike(connection=self.number)
            self.h2.update_settings({Codes.MAX_CONCURRENT_STREAMS: 1})
        elif self.since_limit == self.at + 20:
            self.since_limit = 0
            self.h2.update_settings({Codes.MAX_CONCURRENT_STREAMS: 100})
        return False

    def on_stall(self, stream, headers, body):
        if self.requests < self.at or self.service.struck >= self.service.options.count:
            return False
        # It took this one, and says nothing, not to a PING either.
        self.note(stream, headers, body, True, None)
        self.service.strike(connection=self.number)
        self.flush()
        self.is_stalled = True
        return True

    def on_busy(self, stream, headers, body):
        if self.service.requests < self.at:
            return False
        if self.service.busy_until is None:
            self.service.busy_until = time.monotonic() + self.service.options.count
        if time.monotonic() >= self.service.busy_until:
            return False
        self.service.strike(connection=self.number)
        self.answer(stream, headers, body, 503, "ServiceUnavailable", [("retry-after", "1")])
        return True

    def on_pieces(self, stream, headers, body):
        self.good += 1
        if self.good % self.at != 0 or self.service.struck >= self.service.options.count:
            return False
        self.service.strike(connection=self.number)
        self.answer(stream, headers, body, 503, "ServiceUnavailable")
        return True

    def piece(self, stream, text):
        """One byte, and the rest a turn of the loop later: other answers come in between."""
        if self.transport.is_closing() or self.is_stalled:
            return
        self.h2.send_data(stream, text[:1], end_stream=len(text) == 1)
        self.flush()
        if len(text) > 1:
            asyncio.get_running_loop().call_soon(self.piece, stream, text[1:])

    def on_close_unanswered(self, stream, headers, body):
        if self.requests <= self.at:
            return False
        if not self.withholds:
            if self.service.struck >= self.service.options.count:
                return False
            # It strikes with the first answer that it withholds: the run may end before the tenth, and what was
            # withheld by then is open too.
            self.withholds = True
            self.service.strike(connection=self.number)
        self.note(stream, headers, body, True, None)
        if self.requests >= self.at + 10:
            self.flush()
            self.transport.close()
        return True

    def on_settings_games(self, stream, headers, body):
        self.good += 1
        if self.good % 50 == 0:
            turn = self.good // 50
            self.service.strike(connection=self.number)
            self.h2.update_settings({
                Codes.INITIAL_WINDOW_SIZE: [65535, 300, 5000, 1 << 20][turn % 4],
                Codes.HEADER_TABLE_SIZE: [4096, 0, 200, 65536][turn % 4],
                Codes.MAX_FRAME_SIZE: [16384, 20000, 1 << 20, 16384][turn % 4],
                Codes.MAX_CONCURRENT_STREAMS: [100, 7, 1, 50][turn % 4],
            })
        return False


async def main():
    parser = argparse.ArgumentParser()
    for name in ("certificate", "key", "port-file", "ledger"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--fault", default="none")
    parser.add_argument("--at", type=int, default=300)
    parser.add_argument("--count", type=int, default=1 << 30)
    options = parser.parse_args()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    context.set_alpn_protocols(["h2"])
    service = Service(options)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(service), "127.0.0.1", 0, ssl=context)
    # The port file appears whole or not at all.
    with open(options.port_file + ".new", "w", encoding="utf-8") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    os.rename(options.port_file + ".new", options.port_file)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
