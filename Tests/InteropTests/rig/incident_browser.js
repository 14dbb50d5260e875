// A browser that does one thing after another, as lines of JSON on its input say, and answers each with a line. See incident_ways.py.
"use strict";
const readline = require("node:readline");
const { Browser } = require("./browser.js");

const dialog = "document.querySelector('dialog[open]')";
const said = `document.querySelector("main .result").innerText`;
let page = null;

/** Opens the page, and signs in as operators are at their desks. */
async function open(browser, { port, token }) {
  page = await browser.open(`http://127.0.0.1:${port}/`);
  await page.size(1400, 900, "light");
  await page.until(`document.querySelector("main h2")`, "the page is there");
  await page.press("Sign in", `document.getElementById("who")`);
  await page.type("token", token, dialog);
  await page.press("Sign in", dialog);
  await page.until(`document.getElementById("who").innerText.includes("Signed in")`, "somebody is signed in");
}

/** Shows a view, anew, until it says all of it. Returns its text. */
async function look({ view, says, seconds }) {
  await page.run(`location.hash = ${JSON.stringify(`#/${view}`)}`);
  await page.until(`location.hash === ${JSON.stringify(`#/${view}`)} && !document.querySelector("main .loading") && !document.querySelector("[aria-busy]") && document.querySelector("main h2, main table, main form")`, `the view ${view || "overview"} is there`);
  return hears({ says, seconds });
}

async function hears({ says = [], seconds = 20 }) {
  for (const words of says) {
    await page.until(`document.querySelector("main").innerText.toLowerCase().includes(${JSON.stringify(words.toLowerCase())})`, `the page says ${words}`, seconds);
  }
  return page.run(`document.querySelector("main").innerText`);
}

/** Presses, answers the question if there is one, and waits for what the page says then. */
async function press({ name, confirm, reason, says }) {
  await page.press(name);
  if (confirm) {
    await page.until(`Boolean(${dialog})`, "a question is asked");
    if (reason) await page.type("reason", reason, dialog);
    await page.press(confirm, dialog);
    await page.until(`!${dialog}`, `${confirm} is done`, 120);
  }
  await page.until(`${said}.length > 0`, `the page says what came of ${name}`);
  for (const words of says ?? []) {
    await page.until(`${said}.toLowerCase().includes(${JSON.stringify(words.toLowerCase())})`, `the page says ${words}`, 120);
  }
  return page.run(said);
}

async function follow({ name, says }) {
  await page.press(name, "document.querySelector('main')");
  return hears({ says });
}

const live = () => page.until(`document.getElementById("away").hidden && document.getElementById("live").textContent === "Live"`, "the page is live again", 60);
const commands = ({ part }) => page.run(`[...document.querySelectorAll('main section[aria-label=${JSON.stringify(part)}] pre')].map((pre) => pre.innerText).join("\\n")`);

async function search({ fields, action, says }) {
  for (const [name, value] of Object.entries(fields)) await page.type(name, value);
  await page.press(action);
  return hears({ says });
}

async function close() {
  await page.send("Page.close").catch(() => {});
  page = null;
}

async function main() {
  const browser = new Browser(process.argv[2]);
  const acts = { open: (order) => open(browser, order), look, press, follow, live, commands, search, hears, close, shot: ({ file }) => page.shot(file) };
  const run = async (line) => {
    const { act, ...order } = JSON.parse(line);
    try {
      return { result: (await acts[act](order)) ?? null };
    } catch (error) {
      return { error: error.message };
    }
  };
  try {
    for await (const line of readline.createInterface({ input: process.stdin })) {
      process.stdout.write(`${JSON.stringify(await run(line))}\n`);
    }
  } finally {
    await browser.close();
  }
}

main();
