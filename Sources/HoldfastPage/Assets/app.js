// The page: which view is shown, who reads it, and whether it is live.
import { APIError, checkSession, refreshSession, session, signOut } from "./api.js";
import { askToSignIn } from "./dialog.js";
import { h, replace, sentence } from "./dom.js";
import { clock } from "./format.js";
import { connect, live } from "./live.js";
import { forget, here, placeWords } from "./place.js";
import * as blacklist from "./view-blacklist.js";
import * as campaigns from "./view-campaigns.js";
import * as entry from "./view-entry.js";
import * as fleet from "./view-fleet.js";
import * as journal from "./view-journal.js";
import * as lanes from "./view-lanes.js";
import * as overview from "./view-overview.js";
import * as rejections from "./view-rejections.js";
import * as schedule from "./view-schedule.js";
import * as senders from "./view-senders.js";
import * as service from "./view-service.js";

/** In the order of the menu; those without a name are reached from others. */
const views = [
  { path: "", name: "Overview", ...overview },
  { path: "fleet", name: "Fleet", ofFleet: true, ...fleet },
  { path: "lanes", name: "Lanes", ...lanes },
  { path: "journal", name: "Journal", ...journal },
  { path: "rejections", name: "Rejections", ...rejections },
  { path: "campaigns", name: "Campaigns", ...campaigns },
  { path: "blacklist", name: "Blacklist", ...blacklist },
  { path: "schedule", name: "Schedule", ...schedule },
  { path: "senders", name: "Senders", ...senders },
  { path: "service", name: "Service", ...service },
  { path: "entry", ...entry },
];

const part = (id) => document.getElementById(id);
let shown = null;
let isFirst = true;
/** Of a host that shares a database with others: its name, behind the title, so that tabs are told apart. */
let host = "";

function place() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return { view: views.find((view) => view.path === name) ?? views[0], rest, items: Object.fromEntries(new URLSearchParams(query)) };
}

// MARK: One view

/** What a view may use. `part` is what it changes when it is asked anew. */
function makeContext(root, { rest, items }) {
  const context = {
    rest, items, root,
    say(text) { part("said").textContent = text; shownNote(text); },
    fail(error) { shownNote(error.message); part("said").textContent = error.message; },
    go(path, values = {}) {
      const query = new URLSearchParams(values).toString();
      const hash = `#/${path}${query ? `?${query}` : ""}`;
      if (location.hash === hash) context.update(); else location.hash = hash;
    },
    update: () => Promise.resolve(),
  };
  // Who signs in while a question is open has the view drawn anew behind it.
  function shownNote(text) {
    replace((shown ?? context).root.querySelector(".result") ?? h("p"), text && h("p", { class: "state" }, text));
  }
  return context;
}

async function show() {
  const at = place();
  const root = h("div", { class: "view" });
  const title = at.view.title?.(at) ?? at.view.name;
  const content = h("div", { class: "view" });
  root.append(h("div", { class: "head" }, h("h1", { tabindex: "-1" }, title)), h("div", { class: "result" }), content);
  const context = makeContext(root, at);
  shown = context;
  entitle(title);
  for (const link of part("views").querySelectorAll("a")) {
    if (link.dataset.path === at.view.path) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  part("menu").textContent = `Menu: ${at.view.name ?? title}`;
  openMenu(false);
  replace(part("view"), root);
  if (!isFirst) root.querySelector("h1").focus();
  isFirst = false;
  if (!session.mayRead) return replace(content, locked());
  content.setAttribute("aria-busy", "true");
  const load = at.view.show(content, context);
  let waits = null;
  context.update = async () => {
    if (shown !== context) return shown?.update();
    // One question at a time; a further one waits for it.
    if (waits) { waits.again = true; return waits.done; }
    const own = { again: false };
    waits = own;
    own.done = (async () => {
      do {
        own.again = false;
        try {
          await load();
          arrived();
        } catch (error) {
          if (!(error instanceof APIError)) throw error;
          if (shown === context) failed(content, context, error);
        }
      } while (own.again && shown === context);
    })();
    await own.done;
    waits = null;
    content.removeAttribute("aria-busy");
  };
  content.append(h("p", { class: "state loading" }, "Loading …"));
  await context.update();
  content.querySelector(":scope > .loading")?.remove();
}

function entitle(title) { document.title = [title, host, "Holdfast"].filter(Boolean).join(" · "); }

function locked() {
  return h("div", { class: "state" }, h("p", null, session.canSignIn
    ? "This is read by operators. Sign in with the operators' token."
    : "This is read by operators, and nobody can sign in: the configuration has no admin.token-file."),
  session.canSignIn && h("button", { type: "button", class: "main", onclick: askToSignIn }, "Sign in"));
}

function failed(content, context, error) {
  if (error.status === 0) return away();
  if (error.status === 401) {
    session.mayRead = session.mayChange = false;
    showSession();
    return replace(content, locked());
  }
  content.querySelector(":scope > .loading")?.remove();
  // What was shown before stays, with what is wrong above it.
  context.root.querySelector(".error")?.remove();
  context.root.querySelector(".result").before(h("div", { class: "state error", role: "alert" }, h("p", null, error.message),
    h("button", { type: "button", onclick: () => { context.root.querySelector(".error")?.remove(); context.update(); } }, "Try again")));
}

// MARK: Away and back

let awaySince = null;

function away() {
  awaySince ??= new Date();
  const box = part("away");
  box.hidden = false;
  replace(box, sentence(`The service doesn't answer since ${clock(awaySince)}. What is shown is of then. It is asked again by itself. `
    + "If its process has ended, on its machine: `holdfast status`, and `systemctl start holdfast`."));
  clearTimeout(away.timer);
  away.timer = setTimeout(() => shown?.update(), 3000);
}

function arrived() {
  shown?.root.querySelector(".error")?.remove();
  if (!awaySince) return;
  awaySince = null;
  part("away").hidden = true;
  part("said").textContent = "The service answers again.";
  forget();
  showPlace().catch(() => {});
  connect();
}

// MARK: Around the view

function openMenu(isOpen) {
  part("menu").closest("nav").classList.toggle("open", isOpen);
  part("menu").setAttribute("aria-expanded", String(isOpen));
}

async function showPlace() {
  if (!session.mayRead) return replace(part("place"));
  const facts = await here();
  replace(part("place"), placeWords(facts));
  host = facts.fleetHost ?? "";
  entitle(part("view").querySelector("h1")?.textContent ?? "");
  for (const item of part("views").querySelectorAll("[data-of-fleet]")) item.hidden = !host;
}

function showSession() {
  replace(part("who"), session.mayChange
    ? [h("span", null, "Signed in"), h("button", { type: "button", class: "small", "data-key": "sign", onclick: async () => {
      await signOut();
    } }, "Sign out")]
    : [h("span", null, session.mayRead ? "Reading" : ""),
      h("button", { type: "button", class: "small", "data-key": "sign", onclick: askToSignIn }, "Sign in")]);
}

replace(part("views"), views.filter((view) => view.name).map((view) =>
  h("li", view.ofFleet ? { "data-of-fleet": "", hidden: true } : null, h("a", { href: `#/${view.path}`, "data-path": view.path }, view.name))));
part("menu").addEventListener("click", () => openMenu(part("menu").getAttribute("aria-expanded") !== "true"));
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); part("main").focus(); });
addEventListener("hashchange", show);
/** Null before the first word of it. */
let isLive = null;
document.addEventListener("session", () => {
  forget();
  showSession();
  showPlace().catch(() => {});
  show();
  // Who may not read has no events, either.
  if (isLive === false && session.mayRead) connect();
});

live.addEventListener("state", ({ detail }) => {
  replace(part("live"), detail);
  const wasLive = isLive;
  isLive = detail === "Live" || detail === "Every 10 s";
  // Sessions end with the service's process, and that may be another one now.
  if (isLive && wasLive === false) checkSession().catch(() => {});
  if (detail === "Connecting again") shown?.update();
});
let next = 0;
live.addEventListener("status", () => {
  // Every two seconds at most, and not while somebody has opened a question.
  const now = Date.now();
  if (now < next || document.hidden || document.querySelector("dialog[open]")) return;
  next = now + 2000;
  if (place().view.isLive) shown?.update();
});

try {
  await refreshSession();
  connect();
} catch (error) {
  replace(part("view"), h("p", { class: "state" }, error.message));
}
