// A sender for trials: what comes as lines on its input goes to a gateway, over Node's http2. With `tell` as the third argument it
// writes a line for each answer: the token and the status, 0 for none. Without a CA it speaks without TLS.
"use strict";
const fs = require("node:fs");
const http2 = require("node:http2");
const readline = require("node:readline");

const [port, ca, tells] = process.argv.slice(2);
let session = null;

function connected() {
  if (session && !session.closed && !session.destroyed) return session;
  session = ca ? http2.connect(`https://127.0.0.1:${port}`, { ca: fs.readFileSync(ca) }) : http2.connect(`http://127.0.0.1:${port}`);
  // The trial kills the gateway: the next line connects again.
  session.on("error", () => {});
  return session;
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { token, topic, ...fields } = JSON.parse(line);
  const request = connected().request({ ":method": "POST", ":path": `/3/device/${token}`, "apns-topic": topic, ...fields });
  const tell = (status) => {
    if (tells) process.stdout.write(`${token} ${status}\n`);
    else if (status !== 200 && status !== 0) process.stderr.write(`${token}: ${status}\n`);
  };
  request.on("error", () => tell(0));
  request.on("response", (answer) => tell(answer[":status"]));
  request.resume();
  request.end('{"aps":{"alert":"Hi"}}');
}).on("close", () => session?.close());
