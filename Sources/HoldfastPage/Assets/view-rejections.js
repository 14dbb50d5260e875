// Rejections: why, how many, and sending them again or deleting them by what they have in common.
import { get } from "./api.js";
import { block, h, replace, searchForm, sentence, table } from "./dom.js";
import { ago, count } from "./format.js";
import { pager, size } from "./pager.js";
import { discard, retry } from "./sweep.js";
import { resultTable } from "./view-journal.js";

/** Where the pages before this one began. */
let before = [];

export function show(content, context) {
  const { after, ...items } = context.items;
  if (after === undefined) before = [];
  const [groups, list] = [h("div", { class: "parts" }), h("div", { class: "parts" })];
  const form = searchForm("Choose rejections", [
    { name: "reason", label: "Reason", value: items.reason },
    { name: "topic", label: "Topic", value: items.topic },
    { name: "tag", label: "Tag", value: items.tag, hint: "with * for a beginning" },
    { name: "token", label: "Token", value: items.token, hint: "all digits, or the first" },
    { name: "address", label: "Address", value: items.address, hint: "such as fid:cXy1" },
    { name: "producer", label: "Producer", value: items.producer },
  ], "Choose", (values) => context.go("rejections", values));
  return async () => {
    const [summary, entries] = await Promise.all([get("rejections", items), get("entries", { ...items, state: "rejected", limit: size + 1, ...(after === undefined ? {} : { after }) })]);
    if (!form.isConnected) replace(content, form, block("By reason", groups), block("One by one", list));
    const filter = Object.keys(items).length ? items : { all: true };
    replace(groups, groupTable(summary, items, context),
      summary.total > 0 && h("div", { class: "acts" }, h("button", { type: "button", "data-key": "retry", onclick: () => retry(context, filter) },
        `Send ${all(summary)} again`), h("button", { type: "button", "data-key": "discard", onclick: () => discard(context, filter) }, `Delete ${all(summary)}`)),
      !summary.isWhole && h("p", { class: "note" }, "Not all rejections were looked at in the time that a request has."));
    const shown = entries.entries.slice(0, size);
    // One more was asked for than is shown; with fewer there is more only where the time was up.
    const next = entries.entries.length > size ? shown[size - 1].uid : entries.entries.length < size ? entries.next : undefined;
    replace(list, resultTable({ found: shown }, "There are no such rejections."), pages(next, after, items, context));
  };
}

function pages(next, after, items, context) {
  const go = (to) => context.go("rejections", to === undefined ? items : { ...items, after: to });
  return pager(after !== undefined && (() => go(before.pop())), next !== undefined && (() => {
    before.push(after);
    go(next);
  }));
}

const all = (summary) => `all ${summary.isWhole ? "" : "more than "}${count(summary.total)}`;

function groupTable(summary, items, context) {
  return table("Rejections by reason and topic", [
    { title: "Reason", kind: "name", cell: (group) => h("a", { href: `#/rejections?${new URLSearchParams({ ...items, reason: group.reason })}` }, group.reason) },
    { title: "Topic", kind: "name", cell: (group) => group.topic },
    { title: "Count", kind: "number", cell: (group) => count(group.count) },
    { title: "Newest", kind: "time", cell: (group) => ago(group.newestAt) },
    { title: "Meaning", kind: "long", cell: (group) => [upper(group.meaning), ". ", group.advice && h("small", null, sentence(`What to do: ${group.advice}.`))] },
    { title: "Change", kind: "tight", cell: (group) => {
      const filter = { ...items, reason: group.reason, ...(group.topic ? { topic: group.topic } : {}) };
      const key = `${group.reason}-${group.topic}`;
      return h("span", { class: "acts" },
        h("button", { type: "button", class: "small", "data-key": `retry-${key}`, "aria-label": `Send ${group.reason} of ${group.topic} again`, onclick: () => retry(context, filter) }, "Send again"),
        h("button", { type: "button", class: "small", "data-key": `discard-${key}`, "aria-label": `Delete ${group.reason} of ${group.topic}`, onclick: () => discard(context, filter) }, "Delete"));
    } },
  ], summary.groups, "There are no such rejections.");
}

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
