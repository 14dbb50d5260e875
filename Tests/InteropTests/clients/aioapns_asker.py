"""aioapns, telling what it was answered, request by request. README.md has the arguments."""
import asyncio
import json
import logging
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol


async def main():
    host, port, ca, plan, concurrency, answers, key, key_id, team_id = sys.argv[1:]
    logging.getLogger("aioapns").setLevel(logging.CRITICAL)
    APNsProductionClientProtocol.APNS_SERVER = host
    APNsProductionClientProtocol.APNS_PORT = int(port)
    with open(key) as file:
        key = file.read()
    with open(plan) as file:
        requests = [json.loads(line) for line in file]

    async def work(client, waiting, out):
        for request in waiting:
            headers = request["headers"]
            result = await client.send_notification(
                NotificationRequest(
                    device_token=request["path"].removeprefix("/3/device/"), message=json.loads(request["body"]),
                    notification_id=headers.get("apns-id"), push_type=PushType.ALERT,
                    priority=headers.get("apns-priority"), collapse_key=headers.get("apns-collapse-id"),
                    apns_topic=headers["apns-topic"]))
            told = {"number": request["number"], "status": int(result.status), "id": result.notification_id}
            if result.description:
                told["reason"] = result.description
            out.write(json.dumps(told) + "\n")

    with open(answers, "w") as out:
        # It gives up a connection, and what is under way on it, after a thousand streams.
        for start in range(0, len(requests), 900):
            context = ssl.create_default_context(cafile=ca)
            # The mock wants it; the gateway does not.
            context.set_alpn_protocols(["h2"])
            client = APNs(
                key=key, key_id=key_id, team_id=team_id, topic="unused", max_connections=1,
                ssl_context=context)
            waiting = iter(requests[start : start + 900])
            await asyncio.gather(*(work(client, waiting, out) for _ in range(int(concurrency))))


asyncio.run(main())
