// The blacklist: tokens that nothing is sent to, why, and taking one off.
import { get, post } from "./api.js";
import { confirm, mayChange } from "./dialog.js";
import { h, replace, searchForm, table } from "./dom.js";
import { count, plural, time } from "./format.js";

export function show(content, context) {
  const { items } = context;
  const found = h("div", { class: "view" });
  const form = searchForm("Search the blacklist", [
    { name: "token", label: "Token", value: items.token, hint: "all digits, or the first", wide: true },
    { name: "address", label: "Address", value: items.address, hint: "of another service, such as fid:cXy1", wide: true },
    { name: "reason", label: "Reason", value: items.reason },
    { name: "topic", label: "Topic", value: items.topic },
  ], "Search", (values) => context.go("blacklist", values));
  // One that is named whole can be taken off; others are shown shortened, as everywhere.
  const isWhole = Boolean(items.address) || /^[0-9a-f]{64,}$/i.test(items.token ?? "");
  return async () => {
    const answer = await get("blacklist", { ...items, limit: 100 });
    if (!form.isConnected) replace(content, form, found);
    replace(found, h("p", { class: "note" }, `${plural(answer.total, "recipient is", "recipients are")} on the blacklist. Nothing is sent to them.`),
      table("Blacklist", [
        { title: "Recipient", kind: "tight", cell: (row) => h("code", null, row.token) },
        { title: "Reason", cell: (row) => row.reason },
        { title: "Since", kind: "time", cell: (row) => time(row.since) },
        { title: "Learnt", kind: "time", cell: (row) => time(row.learntAt) },
        { title: "Route", cell: (row) => row.route },
        { title: "Topic", kind: "name", cell: (row) => row.topic ?? "every topic" },
        { title: "Service", kind: "name", cell: (row) => row.endpoint ?? "every service" },
        { title: "Change", kind: "tight", cell: (row) => isWhole && h("button", {
          type: "button", class: "small", "data-key": `remove-${row.topic}-${row.endpoint}`,
          "aria-label": `Take off for ${row.topic ?? "every topic"}`, onclick: () => remove(row, items, context),
        }, "Take off") },
      ], answer.entries, Object.keys(items).length ? "No entry matches." : "The blacklist is empty."),
      answer.entries.length > 0 && !isWhole && h("p", { class: "note" }, "To take one off, search for its whole token, or its address."),
      answer.more && h("p", { class: "note" }, `The first ${count(answer.entries.length)} are shown: narrow the search to see others.`),
      !answer.isWhole && h("p", { class: "note" }, "Not the whole blacklist was looked at in the time that a request has."));
  };
}

async function remove(row, { token, address }, context) {
  if (!await mayChange()) return;
  const report = await confirm("Take off the blacklist", [
    `${row.token}, for ${row.topic ?? "every topic"} at ${row.endpoint ?? "every service"}.`,
    "What is submitted for it is sent again, until the service refuses it anew."], "Take off",
  () => post("blacklist/remove", {
    ...(address ? { address } : { token }), scoped: true, ...(row.topic ? { topic: row.topic } : {}), ...(row.endpoint ? { endpoint: row.endpoint } : {}),
  }));
  if (report) context.say(`${plural(report.removed, "entry", "entries")} taken off the blacklist.`);
  context.update();
}
