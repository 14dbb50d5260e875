// Uses the operators' pages of two hosts of a fleet in a real browser. See fleet_page.py, which makes the world around it.
"use strict";
const path = require("node:path");
const { Browser } = require("./browser.js");
const { Steps, dialog } = require("./page_steps.js");

const plan = JSON.parse(process.argv[2]);
const steps = new Steps(plan);
const { show, confirm, does, check } = steps;
const main = `document.querySelector("main").innerText`;
/** The row of a journal in the view Fleet. */
const row = (name) => `[...document.querySelectorAll("main table")][0]?.querySelectorAll("tbody tr").values().find((row) => row.cells[0].innerText.startsWith("${name}"))?.innerText`;
let uid = "";

async function namesItsPlace(page, name) {
  // A page that nobody sees asks for nothing.
  await page.send("Page.bringToFront");
  await page.until(`document.getElementById("place").textContent === "host ${name}, journal ${name}"`, `the page names host and journal ${name}`);
  await page.until(`document.title === "Overview · ${name} · Holdfast"`, "the tab names the host");
  await page.press("Fleet", `document.getElementById("views")`);
  await page.until(`document.querySelector("h1").textContent === "Fleet" && ${row("alpha")}?.includes("running") && ${row("beta")}?.includes("running")`, "both journals are there");
  check((await page.run(main)).includes("2 hosts share the rates of routes"), "the number of hosts is said");
  check((await page.run(row(name))).includes("this host's own"), "the host's own journal is marked");
}

async function pausesForAll(page) {
  await page.send("Page.bringToFront");
  await page.press("Sign in", `document.getElementById("who")`);
  await page.type("token", plan.token, dialog);
  await page.press("Sign in", dialog);
  await page.until(`document.getElementById("who").innerText.includes("Signed in")`, "somebody is signed in");
  await page.until(row("beta"), "the view is there again");
  await page.type("tag", "sale");
  await page.press("Pause tag");
  await page.until(`Boolean(${dialog})`, "a question is asked");
  await page.type("reason", "wrong price", dialog);
  await confirm(page, "Pause on all hosts");
  await page.until(`document.querySelector("main .result").innerText.includes("Tag sale is paused in 2 journals.")`, "the page says where it is paused");
  await page.until(`/tag sale\\s+paused/.test(${main}) && ${main}.includes("at the page of alpha")`, "the order is listed, with who gave it");
  steps.tell("submit");
  await page.until(`/\\b${plan.count}\\b/.test(${row("beta")}) && ${row("beta")}.includes("Tag sale is paused") && ${row("beta")}.includes("wrong price")`, "what waits on the other host is counted");
}

async function tellsTheOther(page) {
  await page.send("Page.bringToFront");
  await page.until(`${main}.includes("tag sale") && ${main}.includes("at the page of alpha")`, "the other host's page has the order, too");
}

async function finds(page) {
  await show(page, "journal", "UID");
  await page.type("token", plan.wanted);
  await page.type("hosts", "all");
  await page.press("Search");
  await page.until(`document.querySelectorAll("main tbody tr").length === 1 && document.querySelector("main tbody tr").innerText.includes("beta")`, "the other host's entry is found");
  check((await page.run(main)).includes("Searched: alpha, beta."), "who was asked is said");
  uid = await page.run(`document.querySelector("main tbody a").textContent`);
  await page.press(`Notification ${uid}`);
  await page.until(`document.querySelector(".story")?.innerText.includes("wrong price")`, "it is explained by its owner");
  const text = await page.run(main);
  check(text.includes("It is in journal beta of host beta") && text.includes(`holdfast journal drop ${uid}`), `it says where it is: ${text}`);
  check(!(await page.run(`[...document.querySelectorAll("main button")].map((button) => button.textContent)`)).includes("Take back"), "another host's entry is not changed here");
}

async function looks(page) {
  await steps.looks(page, ["", "fleet", "journal?hosts=all&tag=sale", `entry/${uid}`, "service", "campaigns?tag=sale"]);
}

async function saysWhoIsGone(page) {
  await page.size(1600, 900, "light");
  await show(page, "fleet", "beta");
  steps.tell("kill");
  const start = Date.now();
  await page.until(`${row("beta")}?.includes("away")`, "the page says that a host is gone", 10);
  process.stderr.write(`said after ${((Date.now() - start) / 1000).toFixed(1)} s\n`);
  check((await page.run(main)).includes("Not healthy: something is wrong with 1 journal of 2."), "what is wrong comes first");
  check((await page.run(`document.querySelector("main tbody tr").innerText`)).startsWith("beta"), "its journal comes first");
  await picture(page, "gone");
  await show(page, "journal?hosts=all&tag=sale");
  check((await page.run(main)).includes("1 journal was not searched."), "what could not be asked is named");
  await show(page, "fleet", "beta");
  await page.until(`${row("beta")}.includes("taken over from beta") && /\\b${plan.count}\\b/.test(${row("beta")})`, "its journal is with the other host", 40);
  await picture(page, "taken");
}

/** As wide as a telephone and as a desk. */
async function picture(page, name) {
  if (!plan.shots) return;
  for (const width of [360, 1600]) {
    await page.size(width, 900, "light");
    await page.shot(path.join(plan.shots, `fleet-${name}-${width}.png`));
  }
}

async function resumesForAll(page) {
  await page.press("Resume tag sale on all hosts");
  await confirm(page, "Resume on all hosts");
  await page.until(`${main}.includes("Nothing is paused for the whole fleet.")`, "no order is in force");
  steps.tell("delivered");
}

async function trial() {
  const browser = new Browser(plan.browser);
  try {
    const [alpha, beta] = [plan.alpha, plan.beta].map((port) => `http://127.0.0.1:${port}`);
    const page = await browser.open(`${alpha}/`);
    const other = await browser.open(`${beta}/`);
    for (const one of [page, other]) await one.size(1600, 900, "light");
    await does(namesItsPlace, page, "alpha");
    await does(namesItsPlace, other, "beta");
    await does(pausesForAll, page);
    await does(tellsTheOther, other);
    await other.send("Page.close").catch(() => {});
    await page.send("Page.bringToFront");
    for (const step of [finds, looks, saysWhoIsGone, resumesForAll]) await does(step, page);
    const foreign = page.requests.filter((url) => !url.startsWith(`${alpha}/`) && !url.startsWith("about:"));
    check(foreign.length === 0, `nothing comes from elsewhere: ${foreign}`);
    check(page.faults.length === 0, `the console is clean: ${page.faults.join("\n")}`);
  } finally {
    await browser.close();
  }
  steps.end();
}

trial().catch((error) => steps.fail(error));
