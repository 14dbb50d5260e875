"""Sends through the gateway with Google's own library, unmodified: firebase_sender.py ACCOUNT PORT CALL FIRST COUNT [TOKEN]

ACCOUNT is the file of a service account; PORT is the gateway's on this machine; CALL is send, send_each or send_each_async.
Google's host names lead to the gateway, as a resolver would have it. Each message has its number in its data, under
holdfast-id. Prints one line of JSON: the names that were told, and the classes of errors.
"""
import asyncio
import json
import socket
import sys

account, port, call, first, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
token = sys.argv[6] if len(sys.argv) > 6 else None

NAMES = ("fcm.googleapis.com", "oauth2.googleapis.com")
resolve, connect = socket.getaddrinfo, socket.socket.connect


def here(host, *arguments, **named):
    if isinstance(host, bytes):
        host = host.decode()
    return resolve("127.0.0.1" if host in NAMES else host, *arguments, **named)


def through(self, address):
    # The gateway of the test can't listen on 443.
    if isinstance(address, tuple) and address[1] == 443:
        address = ("127.0.0.1", port)
    return connect(self, address)


socket.getaddrinfo, socket.socket.connect = here, through

import firebase_admin  # noqa: E402
from firebase_admin import credentials, messaging  # noqa: E402

app = firebase_admin.initialize_app(credentials.Certificate(account))


def message(number):
    return messaging.Message(
        token=token or f"device-{number}", data={"holdfast-id": f"m-{number}", "text": "Grüße жж"},
        notification=messaging.Notification(title=f"number {number}"),
        android=messaging.AndroidConfig(priority="high", ttl=3600))


messages = [message(number) for number in range(first, first + count)]
names, errors = [], []


def note(response):
    if response.success:
        names.append(response.message_id)
    else:
        errors.append(type(response.exception).__name__)


if call == "send":
    for one in messages:
        try:
            names.append(messaging.send(one))
        except Exception as error:
            errors.append(type(error).__name__)
elif call == "dry_run":
    names.append(messaging.send(messages[0], dry_run=True))
elif call == "send_each":
    for start in range(0, count, 500):
        for response in messaging.send_each(messages[start:start + 500]).responses:
            note(response)
else:
    async def all_of_them():
        for start in range(0, count, 500):
            for response in (await messaging.send_each_async(messages[start:start + 500])).responses:
                note(response)

    asyncio.run(all_of_them())

print(json.dumps({"names": names, "errors": errors, "version": firebase_admin.__version__}))
