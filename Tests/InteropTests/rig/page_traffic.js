// A sender for the trial of the operators' page: what comes as lines on its input goes to a gateway, over Node's http2.
"use strict";
const fs = require("node:fs");
const http2 = require("node:http2");
const readline = require("node:readline");

const [port, ca] = process.argv.slice(2);
let session = null;

function connected() {
  if (session && !session.closed && !session.destroyed) return session;
  session = http2.connect(`https://127.0.0.1:${port}`, { ca: fs.readFileSync(ca) });
  // The trial kills the gateway: the next line connects again.
  session.on("error", () => {});
  return session;
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { token, topic, ...fields } = JSON.parse(line);
  const request = connected().request({ ":method": "POST", ":path": `/3/device/${token}`, "apns-topic": topic, ...fields });
  request.on("error", () => {});
  request.on("response", (answer) => { if (answer[":status"] !== 200) process.stderr.write(`${token}: ${answer[":status"]}\n`); });
  request.resume();
  request.end('{"aps":{"alert":"Hi"}}');
}).on("close", () => session?.close());
