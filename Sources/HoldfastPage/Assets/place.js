// Which service this is: its journal, its host, and whether it is one of a fleet.
import { get } from "./api.js";

let asked = null;

/** The facts of `/api/service`, asked for once in a session. `fleetHost` is there where hosts share a database. */
export function here() {
  asked ??= get("service").catch((error) => { asked = null; throw error; });
  return asked;
}

/** Somebody else reads now, or the service was away: it may be another one. */
export function forget() { asked = null; }

/** The place in words, for the heading. */
export function placeWords(facts) {
  if (facts.fleetHost) return `host ${facts.fleetHost}, ${facts.journalName ? `journal ${facts.journalName}` : "no journal is open"}`;
  return `${facts.journalName ? `journal ${facts.journalName}` : facts.journal ?? "no journal is open"} on ${facts.host}`;
}

/** A journal and the host that has it: `beta`, or `beta#2 on gamma`. */
export function journalWords({ journal, host }) {
  return !host || host === journal ? journal : `${journal} on ${host}`;
}
