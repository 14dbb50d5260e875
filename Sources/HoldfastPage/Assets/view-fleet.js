// The fleet: the journals of all hosts, and orders to all of them.
import { get, post } from "./api.js";
import { confirm, mayChange } from "./dialog.js";
import { block, h, replace, sentence, table, word } from "./dom.js";
import { ago, clock, count, plural, span, time } from "./format.js";
import { journalWords } from "./place.js";
import { act } from "./view-lanes.js";

export const isLive = true;

export function show(content, context) {
  const [head, journals, orders] = [h("div", { class: "parts" }), h("div", { class: "parts" }), h("div", { class: "parts" })];
  return async () => {
    const fleet = await get("fleet");
    if (!head.isConnected) {
      replace(content, block("State", head), block("Journals", journals), block("Orders to the whole fleet", orders, orderForms(context)));
    }
    replace(head, lead(fleet));
    replace(journals, journalTable(fleet), closedNote(fleet));
    replace(orders, orderTable(fleet, context));
  };
}

function lead(fleet) {
  const bad = fleet.journals.filter((journal) => journal.severity === "fault").length;
  const some = fleet.journals.some((journal) => journal.severity === "warning");
  const held = fleet.orders.length > 0 || fleet.journals.some((journal) => journal.severity === "notice");
  const words = bad > 0 ? `Not healthy: something is wrong with ${plural(bad, "journal")} of ${count(fleet.journals.length)}.`
    : some ? "Something to look at." : held ? "Healthy. Operators hold something up." : "Healthy: nothing is held up.";
  return [
    fleet.trouble && h("p", { class: "state", role: "status" }, sentence(`The database does not say more: ${fleet.trouble}. What is shown is of ${fleet.lookedAt ? clock(fleet.lookedAt) : "before"}.`)),
    h("p", null, h("strong", null, words)),
    h("p", { class: "note" }, `${plural(fleet.hosts, "host shares", "hosts share")} the rates of routes. `
      + `This page is that of host ${fleet.host}, which accepts into journal ${fleet.journal}.`),
  ];
}

function closedNote({ closed }) {
  return closed > 0 && h("p", { class: "note" }, `${plural(closed, "journal was", "journals were")} delivered to the end and closed. What has ended in them is known only to the hosts that have their copies.`);
}

function journalTable(fleet) {
  return table("Journals of the fleet", [
    { title: "Journal", kind: "name", cell: (row) => [row.journal, row.isOwn && h("small", null, "this host's own")] },
    { title: "Host", kind: "name", cell: (row) => [row.host, row.takenFrom && h("small", null, `taken over from ${row.takenFrom}`)] },
    { title: "State", kind: "tight", cell: (row) => word(stateWord(row)) },
    { title: "Waiting", kind: "number", cell: (row) => count(row.unconfirmed) },
    { title: "Oldest", kind: "time", cell: (row) => row.oldestAcceptedAt && ago(row.oldestAcceptedAt) },
    { title: "Because", kind: "long", cell: (row) => reasons(row).map((line, index) => [index > 0 && h("br"), sentence(line)]) },
  ], fleet.journals, "The database has no journal yet.");
}

function stateWord(row) {
  if (row.state === "silent") return "away";
  if (row.state === "free") return "away, no owner";
  if (row.error) return "away, no answer";
  if (row.lanes?.some((lane) => lane.state === "stopped")) return "stopped";
  if (row.severity === "fault") return "fault";
  if (row.severity === "warning") return "warning";
  if (row.severity === "notice") return "paused in part";
  return row.answeredAt ? "running" : "not asked yet";
}

function reasons(row) {
  const lines = [];
  if (row.state === "silent") lines.push(`No sign of life from its host for ${span(row.silentSeconds)}: another host takes it over.`);
  if (row.state === "free") lines.push(`Given up${row.freeSeconds === undefined ? "" : ` ${span(row.freeSeconds)} ago`}, and not delivered to the end: a host that runs takes it over.`);
  if (row.error) lines.push(row.error);
  if (row.answeredAt && (row.state !== "owned" || row.error)) lines.push(`What waits is of ${clock(row.answeredAt)}.`);
  for (const condition of row.conditions ?? []) lines.push(condition.what);
  lines.push(...still(row, "stopped"), ...still(row, "paused"));
  for (const tag of row.pausedTags ?? []) {
    lines.push(`Tag ${tag.tag ?? tag["tag-base64"]} is paused${since(tag)}${tag.held ? `, and holds ${count(tag.held)}` : ""}${because(tag)}`);
  }
  return lines;
}

/** Lanes that stand still, together where they do so for one reason. */
function still(row, state) {
  const groups = new Map();
  for (const lane of (row.lanes ?? []).filter((one) => one.state === state)) {
    const key = lane.reason ?? "";
    groups.set(key, [...groups.get(key) ?? [], lane]);
  }
  return [...groups.values()].map((lanes) => `${lanes.length === 1 ? `Lane ${lanes[0].lane} is` : `${count(lanes.length)} lanes are`} ${state}${since(lanes[0])}${because(lanes[0])}`);
}

const since = (held) => (held.since ? ` since ${ago(held.since).replace(" ago", "")}` : "");
const because = (held) => (held.reason ? `: ${held.reason}` : "");

// MARK: Orders

function orderTable(fleet, context) {
  return table("Orders in force", [
    { title: "Order", kind: "number", cell: (row) => String(row.order) },
    { title: "About", kind: "name", cell: subject },
    { title: "State", kind: "tight", cell: (row) => word(row.state) },
    { title: "Since", kind: "time", cell: (row) => time(row.since) },
    { title: "By", kind: "name", cell: (row) => row.by },
    { title: "Because", kind: "long", cell: (row) => row.reason },
    { title: "Change", kind: "tight", cell: (row) => change(row, context) },
  ], fleet.orders, "Nothing is paused for the whole fleet.");
}

function subject(order) {
  if (order.lanes) return order.lanes === "*" ? "all lanes" : `lanes ${order.lanes}`;
  return `tag ${order.tag ?? order["tag-base64"]}`;
}

/** A tag that is no text has no button: the command has none either. */
function change(order, context) {
  if (!order.lanes && order.tag === undefined) return null;
  const [what, body] = order.lanes ? ["lanes", order.lanes === "*" ? { all: true } : { lanes: order.lanes }] : ["tags", { tag: order.tag }];
  const [name, action] = order.state === "paused" ? ["Resume", resume] : ["Pause", pause];
  return act(`order-${order.order}`, `${name} ${subject(order)} on all hosts`, () => action(context, what, body, subject(order)), name);
}

function orderForms(context) {
  const { tag } = context.items;
  return h("div", { class: "parts" },
    h("p", { class: "note" }, "What is paused here is paused on all hosts, also on those that come later, until it is resumed here."),
    form("Pause a tag on all hosts", "Tag", "tag", tag, "Pause tag", (value) => pause(context, "tags", { tag: value }, `tag ${value}`)),
    form("Pause lanes on all hosts", "Lanes, by the beginning of their names", "lanes", "", "Pause lanes",
      (value) => pause(context, "lanes", { lanes: value }, `lanes ${value}`),
      h("button", { type: "button", "data-key": "pause-all", onclick: () => pause(context, "lanes", { all: true }, "all lanes") }, "Pause all lanes")));
}

function form(label, field, name, value, action, submit, further) {
  return h("form", { class: "fields", "aria-label": label, onsubmit: (event) => {
    event.preventDefault();
    const text = event.target.elements[name].value.trim();
    if (text) submit(text);
  } }, h("label", { class: "wide" }, field, h("input", {
    name, value: value ?? "", required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false", "data-key": `fleet-${name}`,
  })), h("div", { class: "acts" }, h("button", null, action), further));
}

async function pause(context, what, body, name) {
  if (!await mayChange()) return;
  const done = await confirm(`Pause ${name} on all hosts`, ["Nothing of it goes out on any host until it is resumed for the whole fleet, also on hosts that come later."],
    "Pause on all hosts", (reason) => post(`fleet/${what}/pause`, { ...body, ...(reason ? { reason } : {}) }), true);
  if (done) context.say(told(name, "paused", done));
  context.update();
}

async function resume(context, what, body, name) {
  if (!await mayChange()) return;
  const done = await confirm(`Resume ${name} on all hosts`, ["What waits for it goes in its order, on all hosts."], "Resume on all hosts",
    () => post(`fleet/${what}/resume`, body));
  if (done) context.say(told(name, "resumed", done));
  context.update();
}

/** Who has not carried it out is named. */
function told(name, state, { journals, silent }) {
  const first = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const verb = name.startsWith("tag") ? "is" : "are";
  const words = [`${first} ${verb} ${state} in ${plural(journals.length, "journal")}.`];
  for (const silence of silent) words.push(`Not yet in ${journalWords(silence)}, which carries it out as soon as a host can: ${silence.error}.`);
  return words.join(" ");
}
