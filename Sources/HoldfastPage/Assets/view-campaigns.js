// Campaigns: what has one tag. Counted, paused, resumed and taken back.
import { get } from "./api.js";
import { block, facts, h, replace, searchForm, table, word } from "./dom.js";
import { ago, count, time } from "./format.js";
import { here } from "./place.js";
import { takeBack } from "./sweep.js";
import { pause, resume } from "./view-lanes.js";

export const isLive = true;
export const title = ({ items }) => (items.tag ? `Campaign ${items.tag}` : "Campaigns");

export function show(content, context) {
  return context.items.tag ? one(content, context) : several(content, context);
}

function several(content, context) {
  const list = h("div", { class: "view" });
  const form = searchForm("Look at a campaign", [{ name: "tag", label: "Tag" }], "Look at it", (values) => context.go("campaigns", values));
  return async () => {
    const answer = await get("campaigns");
    if (!form.isConnected) replace(content, h("p", { class: "note" }, "A campaign is what senders gave one tag. One that has ended is found by its tag."), form, list);
    replace(list, table("Campaigns in the journal", [
      { title: "Tag", kind: "name", cell: (row) => h("a", { href: `#/campaigns?${new URLSearchParams({ tag: row.tag })}` }, row.tag) },
      { title: "State", kind: "tight", cell: (row) => word(row.paused ? "paused" : "running") },
      { title: "Waiting", kind: "number", cell: (row) => count(row.waiting) },
      { title: "Scheduled", kind: "number", cell: (row) => count(row.states.scheduled ?? 0) },
      { title: "Rejected", kind: "number", cell: (row) => count(row.states.rejected ?? 0) },
      { title: "Oldest", kind: "time", cell: (row) => row.oldestAcceptedAt && ago(row.oldestAcceptedAt) },
      { title: "Because", kind: "long", cell: (row) => row.paused?.reason },
      { title: "Change", kind: "tight", cell: (row) => actions(row, context, "small") },
    ], answer.campaigns, "Nothing with a tag is in the journal."),
    answer.others > 0 && h("p", { class: "note" }, `${count(answer.others)} entries have further tags.`),
    !answer.isWhole && h("p", { class: "note" }, "Not all entries were looked at in the time that a request has."));
  };
}

function actions(row, context, size) {
  const button = (name, act) => h("button", {
    type: "button", class: size, "data-key": `${name}-${row.tag}`, "aria-label": `${name} ${row.tag}`, onclick: act,
  }, name);
  return h("span", { class: "acts" }, row.paused
    ? button("Resume", () => resume(context, "tags", { tag: row.tag }, `tag ${row.tag}`))
    : button("Pause", () => pause(context, "tags", { tag: row.tag }, `tag ${row.tag}`)),
  row.waiting > 0 && button("Take back", () => takeBack(context, { tag: row.tag.endsWith("*") ? `${row.tag.slice(0, -1)}\\*` : row.tag })));
}

function one(content, context) {
  const { tag } = context.items;
  return async () => {
    const [row, { fleetHost }] = await Promise.all([get("campaign", { tag }), here()]);
    const ended = Object.entries(row.ended).sort();
    const states = Object.entries(row.states).sort();
    replace(content, h("p", null, h("a", { href: "#/campaigns" }, "All campaigns")),
      block("State", facts([
        ["State", word(row.paused ? "paused" : "running")], ["Since", row.paused && time(row.paused.since)],
        ["Because", row.paused?.reason], ["Waiting", count(row.waiting)], ["Oldest", row.oldestAcceptedAt && ago(row.oldestAcceptedAt)],
      ]), actions(row, context), fleetHost && h("p", { class: "note" }, "This is this host's journal. ",
        h("a", { href: `#/fleet?${new URLSearchParams({ tag })}` }, "Pause it on all hosts"))),
      block("In the journal", table("Entries by state", [
        { title: "State", cell: ([state]) => state }, { title: "Count", kind: "number", cell: ([, value]) => count(value) },
      ], states, "Nothing with this tag is in the journal any more.")),
      block("Ended", table("Ended notifications by outcome", [
        { title: "Outcome", cell: ([outcome]) => h("a", { href: `#/journal?${new URLSearchParams({ tag, outcome })}` }, outcome) },
        { title: "Count", kind: "number", cell: ([, value]) => count(value) },
      ], ended, "The history has nothing with this tag.")),
      !row.isWhole && h("p", { class: "note" }, "Not everything was looked at in the time that a request has: the counts are lower bounds."));
  };
}
