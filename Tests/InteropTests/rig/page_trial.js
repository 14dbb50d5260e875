// Uses the operators' page in a real browser as an operator does. See page.py, which makes the world around it.
"use strict";
const http = require("node:http");
const { Browser } = require("./browser.js");
const { Steps, dialog } = require("./page_steps.js");

const plan = JSON.parse(process.argv[2]);
const views = ["", "lanes", "journal", "rejections", "campaigns", "blacklist", "schedule", "senders", "service", `entry/${plan.rejected}`];
const steps = new Steps(plan);
const { show, confirm, does, check } = steps;

// MARK: Steps

async function reads(page) {
  await page.until(`document.querySelector("main").innerText.includes("The last hour")`, "the overview is there");
  const place = await page.run(`document.getElementById("place").textContent`);
  check(place.includes("push.journal"), `the page names its journal: ${place}`);
  await page.until(`document.getElementById("live").textContent === "Live"`, "the page is live");
  const before = await page.run(`[...document.querySelectorAll(".chart path.one")].map((path) => path.getAttribute("d")).join()`);
  await page.until(`[...document.querySelectorAll(".chart path.one")].map((path) => path.getAttribute("d")).join() !== ${JSON.stringify(before)}`, "the charts move", 15);
  await page.until(`/Submitted, in the last hour. Now: submitted [0-9.,]+\\/s/.test(document.querySelector(".chart svg").getAttribute("aria-label"))`, "a chart says its figures");
  await page.until(`document.querySelector("main").innerText.includes("Unregistered")`, "the overview tells of rejections by reason");
}

async function isRefused(page) {
  await show(page, "lanes", plan.lane);
  await page.press(`Pause lane ${plan.lane}`);
  await page.until(`${dialog}?.innerText.includes("Sign in")`, "a change asks to sign in");
  await page.type("token", "a-wrong-token-of-nobody", dialog);
  await page.press("Sign in", dialog);
  await page.until(`${dialog}.querySelector(".fault").textContent.includes("not the token")`, "a wrong token is refused");
  await page.key("Escape", "Escape", 27);
  await page.until(`!${dialog}`, "Escape closes it");
  check(await page.run(`fetch("/api/lanes/pause", {method: "POST", headers: {"content-type": "application/json"}, body: '{"lane": "${plan.lane}"}'}).then((answer) => answer.status)`) === 401,
    "without a credential nothing is changed");
}

async function signsIn(page) {
  await page.press("Sign in", `document.getElementById("who")`);
  await page.type("token", plan.token, dialog);
  await page.press("Sign in", dialog);
  await page.until(`document.getElementById("who").innerText.includes("Signed in")`, "somebody is signed in");
  check(await page.run("document.cookie") === "", "no script reads the cookie");
  const { cookies } = await page.send("Network.getCookies");
  const cookie = cookies.find((one) => one.name.startsWith("holdfast-session"));
  check(cookie?.httpOnly && cookie.sameSite === "Strict" && cookie.value.length === 64, `the cookie is strict: ${JSON.stringify(cookie)}`);
  check(await page.run(`fetch("/api/lanes/pause", {method: "POST", headers: {"content-type": "application/json"}, body: '{"lane": "${plan.lane}"}'}).then((answer) => answer.status)`) === 403,
    "with the cookie alone nothing is changed");
}

/** A page of another site tries what a page can: a form, a simple request, one that needs leave, a frame, and to read. */
async function isNotLedFromElsewhere(browser, address) {
  const thief = http.createServer((request, response) => response.setHeader("Content-Type", "text/html").end("<!DOCTYPE html><title>x</title><body>"));
  await new Promise((resolve) => thief.listen(0, "127.0.0.1", resolve));
  const page = await browser.open(`http://localhost:${thief.address().port}/`);
  const body = JSON.stringify({ lane: plan.lane });
  const results = await page.run(`(async () => {
    const tries = [["text/plain", "no-cors"], ["application/json", "cors"]];
    const results = [];
    for (const [type, mode] of tries) {
      results.push(await fetch("${address}/api/lanes/pause", { method: "POST", mode, credentials: "include", headers: { "content-type": type }, body: ${JSON.stringify(body)} })
        .then((answer) => answer.type + answer.status, (error) => "refused"));
    }
    results.push(await fetch("${address}/api/status", { credentials: "include" }).then((answer) => "read", () => "refused"));
    const frame = document.createElement("iframe");
    frame.name = "frame";
    frame.src = "${address}/";
    document.body.append(frame);
    await new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 2000); });
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action: "${address}/api/lanes/pause", target: "frame", enctype: "text/plain" });
    const field = document.createElement("input");
    [field.name, field.value] = ['{"lane":"${plan.lane}","reason":"', '"}'];
    form.append(field);
    document.body.append(form);
    form.submit();
    await new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 2000); });
    return results;
  })()`);
  check(results[1] === "refused" && results[2] === "refused" && !results[0].includes("200"), `a page of another site is refused: ${results}`);
  await page.send("Page.close").catch(() => {});
  thief.closeAllConnections();
  thief.close();
}

async function pausesAndResumes(page) {
  await show(page, "lanes", plan.lane);
  const state = `document.querySelector('[data-key="lane-${plan.lane}"]').closest("tr").innerText`;
  await page.until(`${state}.includes("running")`, "the lane runs: nobody else has paused it");
  await page.press(`Pause lane ${plan.lane}`);
  await page.type("reason", "for the trial", dialog);
  await confirm(page, "Pause");
  await page.until(`${state}.includes("paused") && ${state}.includes("for the trial")`, "the page says that the lane is paused, and why");
  steps.tell("paused");
  await page.press(`Resume lane ${plan.lane}`);
  await page.until(`${state}.includes("running")`, "the page says that the lane runs");
  check((await page.run(`document.getElementById("said").textContent`)).includes("resumed"), "who can't see it hears that the lane is resumed");
  await show(page, "campaigns", "welcome");
  await page.press("Pause welcome");
  await confirm(page, "Pause");
  await page.until(`document.querySelector("main").innerText.includes("paused")`, "the campaign is paused");
  await page.press("Resume welcome");
  await page.until(`Boolean(document.querySelector('[data-key="Pause-welcome"]'))`, "the campaign runs");
  await page.press("Take back welcome");
  await confirm(page, "Take back");
  await page.until(`document.querySelector("main .result").innerText.includes("taken back")`, "what waits is taken back");
}

async function searches(page) {
  await show(page, "journal", "UID");
  await page.type("token", plan.bad);
  await page.press("Search");
  await page.until(`document.querySelectorAll("main tbody tr").length === 1`, "the search finds the one");
  await page.press(`Notification ${plan.rejected}`);
  await page.until(`document.querySelector("h1").textContent === "Notification ${plan.rejected}" && document.querySelector(".story")`, "it is explained");
  check(await page.run(`document.activeElement === document.querySelector("h1")`), "the heading of the new view has the focus");
  const story = await page.run(`document.querySelector(".story").innerText`);
  const squeeze = (text) => text.replace(/[\s`]+/g, "").replace(/\d+(s|min|h)ago/g, "");
  check(squeeze(story) === squeeze(plan.explanation), `the explanation is that of the tool: ${story}\nagainst ${plan.explanation}`);
  check(!(await page.text()).includes(plan.bad), "the token is shortened");
}

/** From page to page of what a search finds: none twice, none left out, and back. */
async function pages(page) {
  await show(page, "journal?tag=daily", "UID");
  const rows = `[...document.querySelectorAll("main tbody a")].map((link) => link.textContent)`;
  const first = await page.run(rows);
  await page.press("Next 100");
  await page.until(`location.hash.includes("skip=100") && !document.querySelector("[aria-busy]") && document.querySelector("main tbody a")`, "the next page is there");
  const second = await page.run(rows);
  check(first.length === 100 && second.length > 0, `a page has a hundred: ${first.length}, ${second.length}`);
  await page.press("Previous 100");
  await page.until(`!location.hash.includes("skip") && !document.querySelector("[aria-busy]") && document.querySelectorAll("main tbody a").length === 100`, "the first page is there again");
}

async function retries(page) {
  await show(page, "rejections", "BadCollapseId");
  await page.press("Send BadCollapseId of com.example.app again");
  await confirm(page, "Send again");
  await page.until(`document.querySelector("main .result").innerText.includes("1 rejection sent again")`, "the page says what was sent again");
}

async function blacklist(page) {
  await show(page, `blacklist?token=${plan.bad}`, "Unregistered");
  await page.press("Take off for com.example.app").catch(() => page.press("Take off for every topic"));
  await confirm(page, "Take off");
  await page.until(`document.querySelector("main .result").innerText.includes("1 entry taken off")`, "the token is off the blacklist");
}

/** From the keyboard alone: the menu, a view, and the way past the menu. */
async function keyboard(page) {
  await page.size(1600, 900, "light");
  await show(page, "");
  // Loaded anew, so that the keyboard begins at the beginning.
  await page.send("Page.reload");
  await page.until(`document.querySelector("main h2")`, "the page is there again");
  await page.key("Tab", "Tab", 9);
  check(await page.run(`document.activeElement.className`) === "skip", "the first key leads past the menu");
  await page.key("Enter", "Enter", 13);
  await page.until(`document.activeElement.id === "main"`, "it leads there");
  await page.run(`document.querySelector('[data-path="lanes"]').focus()`);
  await page.key("Enter", "Enter", 13);
  await page.until(`document.querySelector("h1").textContent === "Lanes" && document.activeElement === document.querySelector("h1")`, "a view is chosen with the keyboard");
}

async function away(page) {
  const who = `document.getElementById("who").innerText`;
  const restart = async () => {
    steps.tell("kill");
    await page.until(`!document.getElementById("away").hidden`, "the page says that the service is away");
    steps.tell("start");
    await page.until(`document.getElementById("away").hidden && document.getElementById("live").textContent === "Live"`, "the page is live again", 40);
  };
  await show(page, "");
  check((await page.run(who)).includes("Signed in"), "the session has lasted until now");
  await restart();
  await page.until(`!${who}.includes("Signed in")`, "the page says that the session has ended with the service");
  await signsInAgain(page, restart, who);
}

/** A question that was open over a restart is answered after signing in, with the reason that was typed before. */
async function signsInAgain(page, restart, who) {
  const last = `[...document.querySelectorAll("dialog[open]")].at(-1)`;
  const signIn = async () => {
    await page.type("token", plan.token, last);
    await page.press("Sign in", last);
  };
  await page.press("Sign in", `document.getElementById("who")`);
  await signIn();
  await page.until(`${who}.includes("Signed in")`, "somebody is signed in again");
  await show(page, "lanes", plan.lane);
  await page.press(`Pause lane ${plan.lane}`);
  await page.type("reason", "over the restart", dialog);
  await restart();
  await page.press("Pause", dialog);
  await page.until(`Boolean(${dialog}?.querySelector(".fault button"))`, "who is refused can sign in");
  await page.press("Sign in", `${dialog}.querySelector(".fault")`);
  await page.until(`document.querySelectorAll("dialog[open]").length === 2`, "the token is asked for");
  await signIn();
  await page.until(`document.querySelectorAll("dialog[open]").length === 1`, "the question is there again");
  check(await page.run(`${dialog}.querySelector("[name=reason]").value`) === "over the restart", "the reason is as it was typed");
  await confirm(page, "Pause");
  const state = `document.querySelector('[data-key="lane-${plan.lane}"]').closest("tr").innerText`;
  await page.until(`${state}.includes("paused") && ${state}.includes("over the restart")`, "the lane is paused, and the page shows it");
}

// MARK: The trial

async function main() {
  const browser = new Browser(plan.browser);
  try {
    const address = `http://127.0.0.1:${plan.port}`;
    const page = await browser.open(`${address}/`);
    await page.size(1600, 900, "light");
    const expected = [401, 401, 403];
    for (const step of [reads, isRefused, signsIn]) await does(step, page);
    await does(isNotLedFromElsewhere, browser, address);
    for (const step of [pausesAndResumes, searches, pages, retries, blacklist, keyboard]) await does(step, page);
    await does(steps.looks, page, views);
    const foreign = page.requests.filter((url) => !url.startsWith(`${address}/`) && !url.startsWith("about:"));
    check(foreign.length === 0, `nothing comes from elsewhere: ${foreign}`);
    // The browser itself tells of each refused request, and of nothing else.
    const refused = page.faults.filter((fault) => /status of 40[13]/.test(fault));
    check(refused.length === expected.length && page.faults.length === refused.length, `the console is clean: ${page.faults.join("\n")}`);
    if (plan.away) await does(away, page);
  } finally {
    await browser.close();
  }
  steps.end();
}

main().catch((error) => steps.fail(error));
