// What the trials of the operators' page do again and again, in a real browser.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const dialog = "document.querySelector('dialog[open]')";

class Steps {
  problems = [];

  constructor(plan) { this.plan = plan; }

  check = (isRight, what) => { if (!isRight) this.problems.push(what); };

  /** What the program around does for a step, it does before it answers. */
  tell(word) { fs.writeSync(1, `step ${word}\n`); fs.readSync(0, Buffer.alloc(16)); }

  show = async (page, view, says) => {
    await page.run(`location.hash = ${JSON.stringify(`#/${view}`)}`);
    await page.until(`location.hash === ${JSON.stringify(`#/${view}`)} && !document.querySelector("main .loading") && !document.querySelector("[aria-busy]") && document.querySelector("main h2, main table, main form")`, `the view ${view || "overview"} is there`);
    if (says) await page.until(`document.querySelector("main").innerText.includes(${JSON.stringify(says)})`, `the view ${view} says ${says}`);
  };

  confirm = async (page, action) => {
    await page.until(`Boolean(${dialog})`, "a question is asked");
    await page.press(action, dialog);
    await page.until(`!${dialog}`, `${action} is done`);
  };

  does = async (step, ...what) => {
    const start = Date.now();
    await step(...what);
    process.stderr.write(`${step.name}: ${((Date.now() - start) / 1000).toFixed(1)} s\n`);
  };

  /** Each view at each size: nothing is wider than the screen, and nothing keeps anybody from using it. */
  looks = async (page, views) => {
    const [plan, axe] = [this.plan, this.plan.axe && fs.readFileSync(this.plan.axe, "utf8")];
    const sizes = [[360, "light"], [800, "dark"], [1600, "dark"]];
    if (!plan.quick) sizes.push([360, "dark"], [800, "light"], [1600, "light"]);
    for (const [width, scheme] of sizes) {
      await page.size(width, 900, scheme);
      for (const view of views) {
        await this.show(page, view);
        const name = `${view.replace(/\W+/g, "-") || "overview"}-${width}-${scheme}`;
        const wide = await page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        this.check(wide <= 0, `${name} is ${wide} px wider than the screen`);
        const cut = await page.run(`[...document.querySelectorAll(".scroll")].filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.firstChild.getAttribute("aria-label"))`);
        this.check(cut.length === 0, `${name}: tables are wider than the screen: ${cut}`);
        if (plan.shots) await page.shot(path.join(plan.shots, `${name}.png`));
        // The narrow and the wide form, and both schemes: all that differs.
        if (axe && !(plan.quick && width === 800)) await this.isAccessible(page, axe, name);
      }
    }
  };

  async isAccessible(page, axe, name) {
    await page.run(`typeof axe === "undefined" && (0, eval)(${JSON.stringify(axe)}), true`);
    const faults = await page.run(`axe.run(document, { resultTypes: ["violations"] }).then((result) => result.violations.map((fault) =>
      fault.id + ": " + fault.help + " " + fault.nodes.slice(0, 3).map((node) => node.target + " " + node.failureSummary).join(" | ")))`);
    for (const fault of faults) this.check(false, `${name}: ${fault}`);
  }

  end() {
    for (const problem of this.problems) process.stderr.write(`error: ${problem}\n`);
    process.exitCode = this.problems.length ? 1 : 0;
  }

  fail(error) {
    this.end();
    process.stderr.write(`error: ${error.stack}\n`);
    process.exitCode = 1;
  }
}

module.exports = { Steps, dialog };
