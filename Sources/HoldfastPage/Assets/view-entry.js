// One notification: where it stands, why, and what comes next.
import { get } from "./api.js";
import { block, facts, h, replace, sentence } from "./dom.js";
import { bytes, time } from "./format.js";
import { discard, retry, takeBack } from "./sweep.js";

export const title = ({ rest }) => `Notification ${rest[0] ?? ""}`;

export function show(content, context) {
  const uid = context.rest[0] ?? "";
  return async () => {
    const entry = await get("entry", { uid });
    replace(content,
      block(entry.summary ? upper(entry.summary) : "Where it stands",
        h("div", { class: "story" }, (entry.explanation ?? []).map((line) => h("p", null, sentence(line)))), actions(entry, context)),
      block("Facts", factList(entry)));
  };
}

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function actions(entry, context) {
  if (entry.journal) return elsewhere(entry);
  const filter = { uids: String(entry.uid) };
  const button = (name, change) => h("button", { type: "button", "data-key": name, onclick: () => change(context, filter) }, name);
  if (entry.state === "rejected") return h("div", { class: "acts" }, button("Send again", retry), button("Delete", discard));
  if (["never-sent", "possibly-sent", "deferred", "scheduled"].includes(entry.state)) {
    return h("div", { class: "acts" }, button("Take back", takeBack));
  }
  return null;
}

/** This page changes its own host's journal. The commands find the journal by the UID. */
function elsewhere({ uid, state, journal, host }) {
  const command = state === "rejected" ? `To send it again: \`holdfast rejections retry ${uid}\`.`
    : ["never-sent", "possibly-sent", "deferred", "scheduled"].includes(state) ? `To take it back: \`holdfast journal drop ${uid}\`.` : "";
  return h("p", { class: "note" }, sentence(`It is in journal ${journal} of host ${host}, whose page changes it. ${command}`));
}

function factList(entry) {
  const code = (text) => text && h("code", null, text);
  return facts([
    ["UID", String(entry.uid)], ["Journal", entry.journal], ["Host", entry.journal && entry.host], ["State", entry.outcome ?? entry.state], ["Lane", entry.lane], ["Producer", entry.producer],
    ["Tag", entry.tag], ["Token", code(entry.token)], ["Channel", code(entry["apns-channel-id"])], ["Address", code(entry.address)],
    ["Topic", entry["apns-topic"]], ["apns-id", code(entry["apns-id"])], ["apns-unique-id", code(entry["apns-unique-id"])],
    ["Push type", entry["apns-push-type"]], ["Priority", entry["apns-priority"]], ["Expiration", entry["apns-expiration"] && time(entry["apns-expiration"])],
    ["Collapse id", entry["apns-collapse-id"]], ["Accepted", time(entry.acceptedAt)], ["Sent", time(entry.sentAt)],
    ["Ended", time(entry.endedAt ?? entry.rejectedAt)], ["Due", time(entry.dueAt)], ["Scheduled for", time(entry.scheduledFor)],
    ["Attempts", entry.attempts], ["Reason", entry.reason], ["Status", entry.status],
    ["Retry of", entry.retryOf && h("a", { href: `#/entry/${entry.retryOf}` }, String(entry.retryOf))],
    ["Payload", entry.payloadBytes && bytes(entry.payloadBytes)],
  ]);
}
