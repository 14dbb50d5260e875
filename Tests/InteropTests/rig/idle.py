"""A crowd of idle clients: what a gateway's memory is with them, and when they have gone. See Scripts/gateway-idle."""
import argparse
import asyncio
import json
import resource
import ssl
import struct
import sys
import time

from rig import Failure, Trial, program

# How many connect at a time: what is measured is a crowd, not a rush.
TOGETHER = 50
# How long the gateway may take to give memory back.
PATIENCE = 20


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header field without index or Huffman code; for lengths below 127."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def request(number):
    headers = b"".join(literal(name, value) for name, value in (
        (b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"localhost"),
        (b":path", b"/3/device/%064x" % number), (b"apns-topic", b"com.example.app"), (b"apns-push-type", b"alert")))
    return frame(1, 4, 1, headers) + frame(0, 1, 1, b'{"aps":{"alert":"Hi"}}')


async def client(number, port, context, sends):
    """Connects, sends one notification where it is to, and waits for its answer; then it is idle."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0) + (request(number) if sends else b""))
    while True:
        head = await asyncio.wait_for(reader.readexactly(9), 60)
        length = int.from_bytes(head[:3], "big")
        await reader.readexactly(length)
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
        # The answer ends its stream; the first SETTINGS end the wait of one that sends nothing.
        if kind == 4 and not flags & 1:
            writer.write(frame(4, 1, 0))
            if not sends:
                return writer
        if stream == 1 and flags & 1:
            return writer


async def measure(trial, count, sends):
    gateway = trial.gateway
    context = ssl.create_default_context(cafile=gateway.ca)
    context.set_alpn_protocols(["h2"])
    gate = asyncio.Semaphore(TOGETHER)

    async def one(number):
        async with gate:
            return await client(number, gateway.ports["http2"], context, sends)

    before = gateway.resident_kib
    crowd = await asyncio.gather(*[one(number) for number in range(count)])
    await asyncio.sleep(2)
    inside = gateway.resident_kib
    for writer in crowd:
        writer.transport.abort()
    start, after = time.monotonic(), inside
    while time.monotonic() - start < PATIENCE:
        await asyncio.sleep(0.5)
        after = min(after, gateway.resident_kib)
    return {"connections": count, "notifications": count if sends else 0, "beforeMiB": before // 1024,
            "withThemMiB": inside // 1024, "afterMiB": after // 1024,
            "perConnectionKiB": round((inside - before) / count, 1),
            "givenBack": round((inside - after) / max(inside - before, 1), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < options.connections + 200:
        raise Failure(f"{options.connections} connections need as many descriptors, and {hard} are the hard limit")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    results = []
    for sends in (False, True):
        with Trial(program(), http2=f", connections: {options.connections + 100}") as trial:
            results.append(asyncio.run(measure(trial, options.connections, sends)))
    if options.json:
        print(json.dumps(results))
        return
    for one in results:
        print("{connections} connections over TLS, {notifications} notifications: {beforeMiB} MiB before, {withThemMiB} with "
              "them ({perConnectionKiB} KiB each), {afterMiB} when they had gone ({givenBack:.0%} given back)".format(**one))


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"gateway-idle: {failure}")
