// A browser that we did not write, driven over its DevTools protocol by a pipe: no driver and no library in between.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

class Browser {
  constructor(program) {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-browser-"));
    const flags = ["--headless=new", "--remote-debugging-pipe", `--user-data-dir=${this.folder}`, "--no-first-run", "--disable-gpu",
      "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--no-proxy-server",
      "--disable-default-apps", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars", "--lang=en-US"];
    // Root has no sandbox to be put into.
    if (process.getuid() === 0) flags.push("--no-sandbox");
    this.child = spawn(program, [...flags, "about:blank"], { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
    this.said = "";
    this.child.stderr.on("data", (data) => { this.said = (this.said + data).slice(-4000); });
    this.waiting = new Map();
    this.listeners = [];
    this.number = 0;
    let rest = "";
    this.child.stdio[4].on("data", (data) => {
      const parts = (rest + data).split("\0");
      rest = parts.pop();
      for (const part of parts) this.take(JSON.parse(part));
    });
    this.child.on("exit", () => {
      for (const { reject } of this.waiting.values()) reject(new Error(`the browser ended: ${this.said}`));
      this.waiting.clear();
    });
  }

  take(message) {
    if (message.id === undefined) return this.listeners.forEach((listener) => listener(message));
    const { resolve, reject, method } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) reject(new Error(`${method}: ${message.error.message}`));
    else resolve(message.result);
  }

  send(method, params = {}, sessionId) {
    const id = this.number += 1;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, method });
      this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  async open(url) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    await page.begin(url);
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.send("Browser.close").catch(() => {});
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000))]);
    if (this.child.exitCode === null) this.child.kill("SIGKILL");
    await ended;
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, session) {
    Object.assign(this, { browser, session, requests: [], faults: [] });
    browser.listeners.push((message) => { if (message.sessionId === session) this.hear(message); });
  }

  send(method, params) { return this.browser.send(method, params, this.session); }

  hear({ method, params }) {
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Runtime.exceptionThrown") this.faults.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
      this.faults.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
    }
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) this.faults.push(`${params.entry.text} ${params.entry.url ?? ""}`);
  }

  async begin(url) {
    for (const part of ["Network", "Runtime", "Log", "Page"]) await this.send(`${part}.enable`);
    await this.go(url);
  }

  async go(url) {
    await this.send("Page.navigate", { url });
    await this.until(`document.readyState === "complete"`, url);
  }

  async size(width, height, scheme) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send("Emulation.setEmulatedMedia", { features: [
      { name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }] });
  }

  /** What a script gives, in the page. */
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${exceptionDetails.exception?.description ?? exceptionDetails.text} in ${expression.slice(0, 200)}`);
    return result.value;
  }

  async until(expression, what = expression, seconds = 20) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const result = await this.run(expression).catch((error) => (/context|navigat/i.test(error.message) ? null : Promise.reject(error)));
      if (result) return result;
      if (Date.now() > end) throw new Error(`waited ${seconds} s in vain until ${what}; the page says: ${await this.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  text() { return this.run("document.body.innerText"); }

  /** Presses a button or a link by its name, as who hears it knows it. */
  async press(name, within = "document") {
    const find = `[...${within}.querySelectorAll("button, a")].find((element) => (element.getAttribute("aria-label") ?? element.textContent).trim() === ${JSON.stringify(name)} && !element.disabled)`;
    await this.until(`Boolean(${find})`, `there is ${name} to press`);
    await this.run(`${find}.click()`);
  }

  /** Writes into the field of a form. */
  type(name, value, within = "document") {
    return this.run(`(() => { const field = ${within}.querySelector('[name=${JSON.stringify(name)}]'); field.focus(); field.value = ${JSON.stringify(value)};
      field.dispatchEvent(new Event("input", { bubbles: true })); })()`);
  }

  key(key, code = key, number = 0) {
    const part = { key, code, windowsVirtualKeyCode: number };
    return this.send("Input.dispatchKeyEvent", { type: "keyDown", ...part, ...(key === "Enter" ? { text: "\r" } : {}) })
      .then(() => this.send("Input.dispatchKeyEvent", { type: "keyUp", ...part }));
  }

  async shot(file) {
    const { cssContentSize: size } = await this.send("Page.getLayoutMetrics");
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true,
      clip: { x: 0, y: 0, width: size.width, height: Math.min(size.height, 6000), scale: 1 } });
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }
}

module.exports = { Browser };
