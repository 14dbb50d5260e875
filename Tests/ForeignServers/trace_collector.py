#!/usr/bin/env python3
"""A collector of spans that behaves as it is told, with an HTTP server that Holdfast's authors did not write.

    trace_collector.py --log FILE --mode FILE

Prints `listening PORT`. The file of the mode is read for each request: `ok`, `hang`, `nonsense`, or a status. Each request that is
answered 200 becomes a line in the log: its path, and its body as it came.
"""
import argparse
import http.server
import json
import threading
import time

lock = threading.Lock()


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert self.headers["content-type"] == "application/json"
        with open(self.server.options.mode) as file:
            mode = file.read().strip()
        if mode == "hang":
            time.sleep(3600)
        if mode == "nonsense":
            self.wfile.write(b"\x00\xff not HTTP at all\r\n\r\n" * 100)
            self.close_connection = True
            return
        status = 200 if mode == "ok" else int(mode)
        if status == 200:
            with lock, open(self.server.options.log, "a") as file:
                file.write(json.dumps({"path": self.path, "body": body}) + "\n")
        answer = b"{}"
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


parser = argparse.ArgumentParser()
parser.add_argument("--log", required=True)
parser.add_argument("--mode", required=True)
options = parser.parse_args()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
server.daemon_threads = True
server.options = options
print("listening", server.server_port, flush=True)
server.serve_forever()
