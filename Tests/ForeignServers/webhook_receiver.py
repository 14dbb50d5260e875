#!/usr/bin/env python3
"""A receiver of webhooks that behaves as it is told, with an HTTP server that Holdfast's authors did not write.

    webhook_receiver.py --log FILE --mode FILE --secret SECRET [--port PORT] [--cert FILE --key FILE]

Prints `listening PORT`. The file of the mode is read for each request: one word, of those in `answer`. Each request becomes one
line of JSON in the log, on disk before it is answered: whether its signature is good, what it holds, and whether the receiver
has stored it.
"""
import argparse
import base64
import hashlib
import hmac
import http.server
import json
import os
import ssl
import threading
import time

lock = threading.Lock()


def is_signed(headers, body, secret):
    """Standard Webhooks: HMAC-SHA-256 over id, timestamp and body."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(wanted, one) for one in headers["webhook-signature"].split(" "))


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        mode = self.mode()
        message = json.loads(body)
        stored = mode in ("ok", "slow", "big", "taken-close", "taken-500", "no-content") or (
            mode.startswith("most-") and len(message["outcomes"]) <= int(mode[5:])) or (
            mode.startswith("refuses-") and int(mode[8:]) not in [o["cursor"] for o in message["outcomes"]])
        line = {
            "path": self.path, "mode": mode, "stored": stored, "at": time.time(),
            "connection": "%s:%d" % self.client_address,
            "signed": is_signed(self.headers, body, self.server.options.secret),
            "header-id": self.headers["webhook-id"], "type": self.headers["content-type"],
            "id": message["id"], "attempt": message["attempt"], "missed": message["missed"],
            "possible-duplicate": message["possible-duplicate"],
            "outcomes": [[o["cursor"], o["apns-id"], o["outcome"], o["producer"]] for o in message["outcomes"]],
        }
        with lock, open(self.server.options.log, "a") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.answer(mode, stored)

    def mode(self):
        # It is being written while it is empty.
        while True:
            with open(self.server.options.mode) as file:
                mode = file.read().strip()
            if mode:
                return mode
            time.sleep(0.01)

    def answer(self, mode, stored):
        if mode == "never":
            time.sleep(3600)
        elif mode in ("close", "taken-close"):
            self.close_connection = True
        elif mode == "half":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it")
            self.close_connection = True
        elif mode == "nonsense":
            self.wfile.write(b"\x00\x01 who knows\r\n\r\n" * 50)
            self.close_connection = True
        elif mode == "endless-head":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 1_000_000)
            self.close_connection = True
        elif mode == "redirect":
            self.reply(301, {"Location": "http://127.0.0.1:%d/elsewhere" % self.server.server_address[1]})
        elif mode == "429":
            self.reply(429, {"Retry-After": "1"})
        elif mode.startswith("most-"):
            self.reply(200 if stored else 413)
        elif mode.startswith("refuses-"):
            self.reply(200 if stored else 400)
        elif mode == "taken-500":
            self.reply(500)
        elif mode == "big":
            self.reply(200, body=b"x" * 1_000_000)
        elif mode == "no-content":
            self.reply(204)
        elif mode == "slow":
            time.sleep(0.3)
            self.reply(200)
        elif mode.isdigit():
            self.reply(int(mode))
        elif mode == "ok":
            self.reply(200)
        else:
            raise SystemExit(f"there is no mode {mode}")

    def reply(self, status, headers={}, body=b"fine\n"):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    for name in ("--log", "--mode", "--secret"):
        parser.add_argument(name, required=True)
    parser.add_argument("--cert")
    parser.add_argument("--key")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Receiver)
    server.daemon_threads = True
    server.options = options
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("listening", server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
