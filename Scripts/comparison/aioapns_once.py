"""Sends each notification once with aioapns, as its README shows, and notes what it was told of each.

    aioapns_once.py HOST PORT CA KEY TOPIC COUNT CONCURRENCY TOLD
"""
import asyncio
import logging
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

host, port, authority, key, topic, count, concurrency, told_path = sys.argv[1:]


async def main():
    # Of a closed connection it logs a line for each request that was under way.
    logging.getLogger("aioapns").setLevel(logging.CRITICAL)
    # It has no argument for the service's address.
    APNsProductionClientProtocol.APNS_SERVER = host
    APNsProductionClientProtocol.APNS_PORT = int(port)
    with open(key) as file:
        secret = file.read()
    tls = ssl.create_default_context(cafile=authority)
    # A context of one's own has to name the protocol, or the service ends the connection.
    tls.set_alpn_protocols(["h2"])
    client = APNs(
        key=secret, key_id="MOCKKEYID1", team_id="MOCKTEAMID", topic=topic, max_connections=1,
        ssl_context=tls)
    numbers = iter(range(1, int(count) + 1))

    async def work(told):
        for number in numbers:
            request = NotificationRequest(
                device_token=f"{number:064x}", message={"aps": {"alert": f"Number {number}"}}, push_type=PushType.ALERT)
            try:
                result = await client.send_notification(request)
                told.write(f"{number} {result.status} {result.description or ''}\n")
            except Exception as problem:
                told.write(f"{number} none {type(problem).__name__}\n")

    with open(told_path, "w", buffering=1) as told:
        await asyncio.gather(*[work(told) for _ in range(int(concurrency))])


asyncio.run(main())
