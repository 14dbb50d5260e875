// Hands notifications over to one host, never one of them twice, and prints those that were answered 200:
// `ID GUARANTEE MILLISECONDS` a line. Ends when its input does. The third digit of a token tells the guarantee.
//
//     node sender.js PORT PREFIX RATE STREAMS BYTES
const http2 = require("node:http2");
const crypto = require("node:crypto");
const [port, prefix, rate, streams, bytes] = process.argv.slice(2);
const payload = JSON.stringify({ aps: { alert: "x".repeat(Number(bytes)) } });
let session = null, open = 0, due = 0, isEnding = false, count = 0, last = Date.now();

function connect() {
  if (isEnding) return;
  const made = http2.connect(`http://127.0.0.1:${port}`);
  made.on("connect", () => { session = made; });
  made.on("error", () => {});
  made.on("goaway", () => { if (session === made) session = null; made.close(); });
  made.on("close", () => { if (session === made) session = null; setTimeout(connect, 100); });
}

function send() {
  const id = crypto.randomUUID();
  const once = count++ % 2 === 1;
  const request = session.request({
    ":method": "POST", ":path": `/3/device/${prefix}${once ? 1 : 0}${crypto.randomBytes(31).toString("hex").slice(1)}`, "apns-id": id,
    "apns-topic": "com.example.app", "apns-push-type": "alert",
    ...(once ? { "holdfast-guarantee": "at-most-once" } : {}) });
  open++;
  request.on("response", (headers) => {
    if (headers[":status"] === 200) process.stdout.write(`${id} ${once ? "once" : "least"} ${Date.now()}\n`);
    // Not now: a pause for all.
    else due = Math.min(due, -Number(rate) / 5);
  });
  request.on("error", () => {});
  request.on("close", () => { open--; });
  request.setTimeout(30000, () => request.close(http2.constants.NGHTTP2_CANCEL));
  request.resume();
  request.end(payload);
}

setInterval(() => {
  const now = Date.now();
  due = Math.min(due + (now - last) * rate / 1000, rate / 5);
  last = now;
  while (!isEnding && session && due >= 1 && open < Number(streams)) { due--; send(); }
  if (isEnding && open === 0) process.exit(0);
}, 10);
process.stdin.on("end", () => { isEnding = true; setTimeout(() => process.exit(0), 10000); });
process.stdin.resume();
connect();
