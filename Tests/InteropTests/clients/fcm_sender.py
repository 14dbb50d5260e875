"""httpx with HTTP/2, as a sender of Google's interface (HTTP v1). README.md has the arguments; TOPIC is the project.

A message has its id in its data, under holdfast-id. GUARANTEE in the environment asks for it, such as at-most-once.
"""
import asyncio
import json
import os
import ssl

import httpx

from sending import DEADLINE, Answer, Orders, apns_id, send_all


def body(number):
    data = {"holdfast-id": apns_id(number), "number": str(number)}
    return json.dumps({"message": {"fid": f"device-{number}", "data": data}}).encode()


async def main():
    orders = Orders.read()
    own = {"holdfast-guarantee": os.environ["GUARANTEE"]} if "GUARANTEE" in os.environ else {}
    limits = httpx.Limits(max_connections=4, max_keepalive_connections=4)
    async with httpx.AsyncClient(
        base_url=f"https://{orders.host}:{orders.port}",
        http1=False,
        http2=True,
        verify=ssl.create_default_context(cafile=orders.ca),
        timeout=DEADLINE,
        limits=limits,
    ) as client:

        async def send(number):
            response = await client.post(
                f"/v1/projects/{orders.topic}/messages:send",
                content=body(number),
                headers={"content-type": "application/json", "holdfast-id": apns_id(number), **own},
            )
            return Answer(response.status_code, response.text, float(response.headers.get("retry-after", 0.2)))

        await send_all(orders, send)


asyncio.run(main())
