// The service's facts: what it is, where, and what it keeps.
import { get } from "./api.js";
import { block, facts, h, replace, sentence, table, word } from "./dom.js";
import { bytes, count, span, time } from "./format.js";

export const isLive = true;

export function show(content) {
  return async () => {
    const [service, status] = await Promise.all([get("service"), get("status")]);
    const lines = [...service.obstacles.map((text) => ["fault", text]), ...service.warnings.map((text) => ["warning", text])];
    replace(content,
      block("State", facts([["Senders are served", word(service.isReady ? "ready" : "not ready")]]),
        lines.length > 0 && h("ul", { class: "conditions" }, lines.map(([severity, text]) =>
          h("li", { class: severity }, h("p", null, word(severity)), h("p", { class: "what" }, sentence(text)))))),
      block("Process", facts([
        ["Version", service.version], ["Host", service.host], ["Process", String(service.process)],
        ["Started", [time(service.startedAt), `, ${span((Date.now() - Date.parse(service.startedAt)) / 1000)} ago`]],
        ["Configuration", service.configuration && h("code", null, service.configuration)],
        ["Taken up again", count(service.reloads)], ["Refused to take up", count(service.failedReloads)],
        ["Journal opened anew", count(service.reopened)],
        ...service.listeners.map((listener) => [`Listens for ${listener.listener}`, listener.address]),
      ])),
      block("Journal", facts([
        ["Name", service.journalName], ["Host in the fleet", service.fleetHost], ["Directory", h("code", null, service.journal ?? "")],
        ["In use", `${bytes(status.usedBytes)}${status.limitBytes ? ` of ${bytes(status.limitBytes)}` : ""}`],
        ["After a crash now", `${count(status.afterCrash.sentAgain)} sent again, ${count(status.afterCrash.unknown)} given up as unknown`],
        ["Quarantined", count(status.quarantined)], ["History", history(status.history)],
      ]), service.journalName && h("p", { class: "note" }, "The other views show and change this host's journal. ",
      h("a", { href: "#/fleet" }, "The fleet"), " has the journals of all hosts.")),
      block("Copies", copies(service)), block("Readers of outcomes", readers(status)));
  };
}

/** The commands that copy and move a journal; they write files, which a page has no business to do. */
function copies({ journal, journalName }) {
  if (journalName) {
    return h("p", { class: "note" }, sentence("The journal is kept in PostgreSQL, whose backups are its own. To move to another machine, start "
      + "`holdfast serve` there with the same configuration, and stop it here."));
  }
  if (!journal) return h("p", { class: "state" }, "No journal is open.");
  const folder = journal.slice(0, journal.lastIndexOf("/") + 1);
  const commands = (lines) => h("pre", { tabindex: "0" }, lines.join("\n"));
  return [
    h("p", { class: "note" }, sentence("To back up while it runs, on its machine. What waits in the copy goes again when it is put in the "
      + "place of this journal: it is for a machine that is lost.")),
    commands([`holdfast journal backup --journal ${shellWord(journal)} /var/backups/push-$(date +%F).journal`]),
    h("p", { class: "note" }, sentence("To move to another machine that has the configuration: stop the service for good, copy the journal at "
      + "rest, and start there. Never copy it while it is in use, and never run both.")),
    commands(["systemctl disable --now holdfast", `rsync -a ${shellWord(journal)} NEW-MACHINE:${shellWord(folder)}`,
      "ssh NEW-MACHINE systemctl enable --now holdfast"]),
  ];
}

/** A word of a shell. */
const shellWord = (text) => (/^[A-Za-z0-9_.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function history(history) {
  if (!history) return null;
  return history.isKept ? `${count(history.count)} ended notifications, ${bytes(history.bytes)}` : "off (journal.history)";
}

function readers(status) {
  const own = Object.fromEntries((status.ownReaders ?? []).map((reader) => [reader.reader, reader]));
  return table("Readers of outcomes", [
    { title: "Reader", kind: "name", cell: (row) => row.reader },
    { title: "Behind", kind: "number", cell: (row) => count(own[row.reader]?.unread ?? row.lag) },
    { title: "Missed", kind: "number", cell: (row) => count(row.missed ?? 0) },
    { title: "Trouble", kind: "long", cell: (row) => own[row.reader]?.trouble ?? own[row.reader]?.notice },
  ], status.history?.readers ?? [], "Nobody reads outcomes.");
}
