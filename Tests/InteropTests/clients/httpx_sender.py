"""httpx with HTTP/2, as a sender of its own making would use it. README.md has the arguments."""
import asyncio
import ssl

import httpx

from sending import DEADLINE, Answer, Orders, apns_id, payload, send_all, token


async def main():
    orders = Orders.read()
    # One pool; without a limit of its own httpx opens connections as it likes when one has no stream free.
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
                f"/3/device/{token(number)}",
                content=payload(number),
                headers={"apns-topic": orders.topic, "apns-push-type": "alert", "apns-id": apns_id(number)},
            )
            return Answer(response.status_code, response.text, float(response.headers.get("retry-after", 0.2)))

        await send_all(orders, send)


asyncio.run(main())
