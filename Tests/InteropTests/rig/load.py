"""What trials with h2load have in common: very many notifications, handed to a gateway in cleartext."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rig import TOPIC, Failure, program

BODY = '{"aps":{"alert":"Hello"}}'


def run(trial, options):
    """Runs a trial in a folder of its own, which goes away with it."""
    if shutil.which("h2load") is None:
        sys.exit("error: h2load is not installed (Debian: nghttp2-client)")
    try:
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            return trial(program(), Path(folder), options)
    except Failure as failure:
        sys.exit(f"error: {failure}")


def configure(folder, mock, port, *, journal, route="", more=""):
    """Writes holdfast.yaml of a gateway on this port: more keys of the journal and the route, and more sections."""
    (folder / "holdfast.yaml").write_text(f"""\
journal: {{path: push.journal, {journal}}}
routes:
  - topics: [{TOPIC}]
    endpoint: https://127.0.0.1:{mock.port}
    trust: mock/ca.pem
    signing-key: {{file: mock/AuthKey.p8, key-id: MOCKKEYID1, team-id: MOCKTEAMID}}
{route}
gateway:
  http2: {{listen: "127.0.0.1:{port}"}}
{more}
""")
    return folder / "holdfast.yaml"


def command(folder, *flags):
    """h2load, with the same payload in every request."""
    (folder / "body").write_text(BODY)
    return ["h2load", *flags, "-d", folder / "body", "-H", f"apns-topic: {TOPIC}"]


def hand_over(folder, port, count, tokens, connections, *headers):
    """To so many tokens in turn. Every one must be answered 200."""
    (folder / "uris").write_text("".join(f"http://127.0.0.1:{port}/3/device/{token:064x}\n" for token in range(1, tokens + 1)))
    flags = ["-n", str(count), "-c", str(connections), "-m", "500", "-i", folder / "uris"]
    fields = [word for header in headers for word in ("-H", header)]
    done = subprocess.run([*command(folder, *flags), *fields], capture_output=True, text=True)
    if f"{count} 2xx" not in done.stdout:
        raise Failure(f"h2load: {done.stdout[-600:]}{done.stderr[-600:]}")
