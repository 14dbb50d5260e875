// What is scheduled: how much for which hour, and the first of it.
import { get } from "./api.js";
import { bar } from "./chart.js";
import { block, h, replace, table } from "./dom.js";
import { ago, clock, count, plural, time } from "./format.js";
import { takeBack } from "./sweep.js";

export const isLive = true;

export function show(content, context) {
  return async () => {
    const answer = await get("schedule");
    const most = Math.max(...answer.hours.map((hour) => hour.count), 1);
    replace(content,
      h("p", { class: "note" }, `${plural(answer.total, "notification waits", "notifications wait")} for a time from which they may be delivered.`
        + (answer.isWhole ? "" : " Not all were looked at in the time that a request has.")),
      block("By hour", table("Scheduled notifications by hour", [
        { title: "From", kind: "time", cell: (hour) => clock(hour.from) },
        { title: "Count", kind: "number", cell: (hour) => count(hour.count) },
        { title: "Share", cell: (hour) => bar(hour.count / most) },
      ], answer.hours, "Nothing is scheduled.")),
      answer.entries.length > 0 && block("The first", table("The first scheduled notifications", [
        { title: "UID", kind: "number", cell: (row) => h("a", { href: `#/entry/${row.uid}`, "aria-label": `Notification ${row.uid}` }, String(row.uid)) },
        { title: "From", kind: "time", cell: (row) => time(row.scheduledFor) },
        { title: "That is", kind: "tight", cell: (row) => ago(row.scheduledFor) },
        { title: "Recipient", kind: "tight", cell: (row) => h("code", null, row.token ?? row["apns-channel-id"] ?? row.address ?? "") },
        { title: "Topic", kind: "name", cell: (row) => row["apns-topic"] },
        { title: "Tag", cell: (row) => row.tag },
        { title: "Change", kind: "tight", cell: (row) => h("button", {
          type: "button", class: "small", "data-key": `take-${row.uid}`, "aria-label": `Take back ${row.uid}`,
          onclick: () => takeBack(context, { uids: String(row.uid) }),
        }, "Take back") },
      ], answer.entries, "")));
  };
}
