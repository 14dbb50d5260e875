// The journal and its history: what became of a push.
import { get } from "./api.js";
import { h, replace, searchForm, sentence, table, word } from "./dom.js";
import { count, plural, time } from "./format.js";
import { pager, size } from "./pager.js";
import { here, journalWords } from "./place.js";

/** The most that the service passes over. */
const greatestSkip = 10_000;
const outcomes = ["", "confirmed", "rejected", "expired", "unknown", "withdrawn", "superseded"];

export function show(content, context) {
  const found = h("div", { class: "view" });
  const { hosts, ...items } = context.items;
  const searched = (ofFleet) => searchForm("Search for notifications", [
    { name: "token", label: "Token", value: items.token, hint: "all digits, or the first", wide: true },
    { name: "address", label: "Address", value: items.address, hint: "of another service, such as fid:cXy1", wide: true },
    { name: "apns-id", label: "apns-id", value: items["apns-id"], wide: true },
    { name: "tag", label: "Tag", value: items.tag, hint: "with * for a beginning" },
    { name: "topic", label: "Topic", value: items.topic },
    { name: "producer", label: "Producer", value: items.producer },
    { name: "outcome", label: "Outcome", value: items.outcome, choices: outcomes },
    { name: "since", label: "Since", value: items.since, hint: "10m, 1h, 7d or a time" },
    { name: "uid", label: "UID", value: items.uid },
    ofFleet && { name: "hosts", label: "Where", value: hosts, choices: ["", "all"], words: { "": "this host's journal", all: "all hosts" } },
  ].filter(Boolean), "Search", (values) => context.go("journal", values));
  let form = null;
  return async () => {
    form ??= searched(Boolean((await here()).fleetHost));
    if (!form.isConnected) replace(content, form, found);
    if (hosts === "all") return replace(found, fleetResults(await get("fleet/find", { ...items, skip: "", limit: size })));
    const answer = await get("find", { ...items, limit: size });
    replace(found, resultTable(answer), pages(answer, context), remarks(answer, items).map((remark) => h("p", { class: "note" }, remark)));
  };
}

/** What all hosts have found, and who could not be asked, first. */
function fleetResults(answer) {
  const names = (places) => places.map(journalWords).join(", ");
  const notes = [
    answer.more && "More match: narrow the search to see the rest.",
    !answer.isWhole && "Not everything was looked at in the time that a search has: narrow it, or use `holdfast journal find --fleet`.",
    answer.unreadable > 0 && `${count(answer.unreadable)} outcomes can't be read, since a journal is damaged: holdfast journal verify says where.`,
    answer.withoutHistory.length > 0 && `Nothing is added to the history of ${names(answer.withoutHistory)}, since journal.history is off there: of what ends only rejections are found.`,
    answer.asked.length > 0 && `Searched: ${names(answer.asked)}.`,
  ].filter(Boolean);
  return [
    answer.silent.length > 0 && h("div", { class: "state", role: "alert" }, h("p", null, h("strong", null, `${plural(answer.silent.length, "journal was", "journals were")} not searched.`)),
      answer.silent.map((silence) => h("p", null, sentence(`${journalWords(silence)}: ${silence.error}.`)))),
    resultTable(answer, answer.silent.length > 0 ? "Nothing matches in the journals that were searched." : undefined),
    notes.map((note) => h("p", { class: "note" }, sentence(note))),
  ];
}

function pages({ more }, context) {
  const { skip, ...items } = context.items;
  const at = Number(skip ?? 0);
  const go = (to) => () => context.go("journal", to > 0 ? { ...items, skip: to } : items);
  return pager(at > 0 && go(Math.max(at - size, 0)), more && at + size <= greatestSkip && go(at + size));
}

/** Rows of `/api/find` and `/api/entries`. */
export function resultTable({ found }, empty = "Nothing matches. What has ended is found for as long as journal.history keeps it.") {
  return table("Notifications", [
    { title: "UID", kind: "number", cell: (row) => [
      h("a", { href: `#/entry/${row.uid}`, "aria-label": `Notification ${row.uid}` }, String(row.uid)),
      row.journal && h("small", null, `${row.journal} on ${row.host}`)] },
    { title: "State", kind: "tight", cell: (row) => word(row.outcome ?? row.state) },
    { title: "Recipient", kind: "tight", cell: (row) => h("code", null, row.token ?? row["apns-channel-id"] ?? row.address ?? "") },
    { title: "Topic", kind: "name", cell: (row) => row["apns-topic"] },
    { title: "Tag", cell: (row) => row.tag },
    { title: "Accepted", kind: "time", cell: (row) => time(row.acceptedAt) },
    { title: "Ended", kind: "time", cell: (row) => time(row.endedAt ?? row.rejectedAt) },
    { title: "Note", kind: "long", cell: (row) => [row.reason, row.status && `status ${row.status}`,
      row.attempts > 1 && `${row.attempts} attempts`, row.dueAt && "due later", row.scheduledFor && "scheduled"].filter(Boolean).join(", ") },
  ], found, empty);
}

function remarks({ more, isWhole, unreadable, history }, { skip }) {
  return [
    more && Number(skip ?? 0) + size > greatestSkip && "More match: narrow the search to see the rest.",
    !isWhole && "Not everything was looked at in the time that a search has: narrow it, or use `holdfast journal find`.",
    unreadable > 0 && `${count(unreadable)} outcomes can't be read, since the journal is damaged: holdfast journal verify says where.`,
    !history.isKept && "Nothing is added to the history, since journal.history is off: of what ends only rejections are found.",
    history.isKept && history.oldestAt && `The history has ${count(history.count)} ended notifications.`,
  ].filter(Boolean);
}
