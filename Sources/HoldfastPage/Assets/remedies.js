// What the page itself can do about a condition: the same as its command, or as the runbook's.
import { h } from "./dom.js";
import { takeBack } from "./sweep.js";
import { act, reload, resume, tryButton } from "./view-lanes.js";

/** Kinds that end when the route has tried again, if their cause has. */
const tried = new Set(["service-away", "wrong-server", "throttled", "parked", "lane-stopped", "topic-set-aside", "mass-bad-tokens"]);

/** Buttons for a condition; null where the page can do nothing. */
export function remedies(condition, context) {
  const { kind, about, subject, route, journal } = condition;
  // The page's buttons are for the host's own journal.
  if (journal) return null;
  const button = (name, change) => act(`${kind}-${about}-${subject ?? ""}-${name}`, name, change);
  const buttons = [];
  if (tried.has(kind) && route) {
    buttons.push(tryButton(route, `${kind}-${about}-${subject ?? ""}-try`, tryName(condition), context));
  }
  // Of a certificate: the route's own, and not its service's.
  if (kind === "credentials-refused" || (kind === "token-key-trouble" && route) || (kind === "certificate-expiring" && route && subject === route)) {
    buttons.push(button("Read credentials again", () => reload(context)));
  }
  if (kind === "lane-paused") buttons.push(button(`Resume lane ${subject}`, () => resume(context, "lanes", { lane: subject }, `lane ${subject}`)));
  if (kind === "tag-paused") buttons.push(button(`Resume tag ${subject}`, () => resume(context, "tags", { tag: subject }, `tag ${subject}`)));
  if (about === "topic" && tried.has(kind)) {
    buttons.push(button(`Take back topic ${subject}`, () => takeBack(context, { topic: subject, lane: route })));
  }
  if (kind === "route-missing") buttons.push(button(`Take back lane ${subject}`, () => takeBack(context, { lane: subject })));
  return buttons.length > 0 ? h("p", { class: "acts" }, buttons) : null;
}

/** The names of buttons tell them apart, for who hears them. */
function tryName({ about, subject, route }) {
  return about === "route" ? `Try route ${route} now` : `Try ${about} ${subject} now`;
}
