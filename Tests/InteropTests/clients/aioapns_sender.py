"""aioapns, the APNs client for asyncio. README.md has the arguments.

It has no argument for the service's address: that is an attribute of its protocol. It retries by itself when a connection is
lost, with the same apns-id, five times; what it then gives up is sent again here.
"""
import asyncio
import logging
import ssl

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

from sending import Answer, Orders, apns_id, message, send_all, token


async def main():
    orders = Orders.read()
    # Of a closed connection it logs a line for each request that was under way.
    logging.getLogger("aioapns").setLevel(logging.CRITICAL)
    APNsProductionClientProtocol.APNS_SERVER = orders.host
    APNsProductionClientProtocol.APNS_PORT = orders.port
    with open(orders.key) as file:
        key = file.read()
    client = APNs(
        key=key,
        key_id=orders.key_id,
        team_id=orders.team_id,
        topic=orders.topic,
        max_connections=2,
        ssl_context=ssl.create_default_context(cafile=orders.ca),
    )

    async def send(number):
        result = await client.send_notification(
            NotificationRequest(
                device_token=token(number),
                message=message(number),
                notification_id=apns_id(number),
                push_type=PushType.ALERT,
            )
        )
        return Answer(int(result.status), result.description or "")

    await send_all(orders, send)


asyncio.run(main())
