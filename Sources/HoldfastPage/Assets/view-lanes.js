// Lanes, routes and topics: their state in words, and pausing and resuming them.
import { get, post } from "./api.js";
import { confirm, mayChange } from "./dialog.js";
import { block, h, replace, table, word } from "./dom.js";
import { ago, count, due, plural, time } from "./format.js";
import { takeBack } from "./sweep.js";

export const isLive = true;

export function show(content, context) {
  return async () => {
    const [lanes, status] = await Promise.all([get("lanes"), get("status")]);
    replace(content,
      h("p", { class: "note" }, "A lane is what goes in one order: a route, an urgency and a guarantee. What is paused waits; "
        + "notifications that are on their way get their answers."),
      block("Lanes", laneTable(lanes.lanes, context)), block("Routes", routeTable(lanes.routes, context)),
      block("Topics set aside", topicTable(lanes, context)), block("Paused tags", tagTable(status.pausedTags ?? [], context)),
      block("Credentials", h("p", { class: "note" }, "Keys and certificates are read from their files again. Lanes that "
        + "stopped for the old ones run again."), h("div", { class: "acts" }, h("button", {
        type: "button", "data-key": "credentials", onclick: () => reload(context),
      }, "Read credentials again"))));
  };
}

function laneTable(lanes, context) {
  return table("Lanes", [
    { title: "Lane", kind: "name", cell: (lane) => lane.lane },
    { title: "State", kind: "tight", cell: (lane) => word(lane.isServed === false ? `${lane.state}, no route` : lane.state) },
    { title: "Waiting", kind: "number", cell: (lane) => count(lane.unconfirmed) },
    { title: "Deferred", kind: "number", cell: (lane) => count(lane.deferred) },
    { title: "Scheduled", kind: "number", cell: (lane) => count(lane.scheduled ?? 0) },
    { title: "In flight", kind: "number", cell: (lane) => lane.route && count(lane.route.inFlight) },
    { title: "Because", kind: "long", cell: because },
    { title: "Change", kind: "tight", cell: (lane) => laneActions(lane, context) },
  ], lanes, "There are no lanes yet: nothing was accepted.");
}

function because(lane) {
  const parts = [lane.reason, lane.since && `since ${ago(lane.since).replace(" ago", "")}`,
    due(lane.nextProbe) && `one is tried ${due(lane.nextProbe)}`, lane.heldByTag && `${count(lane.heldByTag)} held by paused tags`];
  return parts.filter(Boolean).join("; ");
}

function laneActions(lane, context) {
  const change = lane.state === "running" ? pause : resume;
  const name = lane.state === "running" ? "Pause" : "Resume";
  return h("button", {
    type: "button", class: "small", "data-key": `lane-${lane.lane}`, "aria-label": `${name} lane ${lane.lane}`,
    onclick: () => change(context, "lanes", { lane: lane.lane }, `lane ${lane.lane}`),
  }, name);
}

export async function pause(context, what, body, name) {
  if (!await mayChange()) return;
  const done = await confirm(`Pause ${name}`, ["Nothing of it goes out until it is resumed, also after a restart."], "Pause",
    (reason) => post(`${what}/pause`, { ...body, ...(reason ? { reason } : {}) }), true);
  if (done) context.say(`${name.charAt(0).toUpperCase()}${name.slice(1)} is paused.`);
  context.update();
}

export async function resume(context, what, body, name) {
  if (!await mayChange()) return;
  try {
    await post(`${what}/resume`, body);
    context.say(`${name.charAt(0).toUpperCase()}${name.slice(1)} is resumed.`);
  } catch (error) { context.fail(error); }
  context.update();
}

function routeTable(routes, context) {
  return table("Routes", [
    { title: "Route", kind: "name", cell: (route) => route.route },
    { title: "State", kind: "tight", cell: (route) => word(route.isAway ? "away" : route.holding ? "holding" : "delivering") },
    { title: "Service", kind: "name", cell: (route) => route.endpoint },
    { title: "Connection", cell: (route) => route.connection },
    { title: "In flight", kind: "number", cell: (route) => count(route.inFlight) },
    { title: "Suspect", kind: "number", cell: (route) => count(route.suspects) },
    { title: "Because", kind: "long", cell: (route) => route.holding },
    { title: "Change", kind: "tight", cell: (route) => tryButton(route.route, `route-${route.route}`, `Try route ${route.route} now`, context, "Try now") },
  ], routes, "The configuration has no routes.");
}

/** Has a route try at once what it waits for: its connection, a throttle, what stopped by itself. */
export function tryButton(route, key, name, context, words = name) {
  return act(key, name, async () => {
    if (!await mayChange()) return;
    try {
      await post("routes/connect", { route });
      context.say(`Route ${route} tries at once.`);
    } catch (error) { context.fail(error); }
    context.update();
  }, words);
}

/** A small button; `words` are shown where the name is clear from what is around it. */
export function act(key, name, onclick, words = name) {
  return h("button", { type: "button", class: "small", "data-key": key, "aria-label": words === name ? null : name, onclick }, words);
}

function topicTable({ routes }, context) {
  const rows = routes.flatMap((route) => (route.topics ?? []).map((topic) => ({ ...topic, route: route.route })));
  return table("Topics set aside", [
    { title: "Topic", kind: "name", cell: (topic) => topic.topic },
    { title: "Route", cell: (topic) => topic.route },
    { title: "State", cell: () => word("set aside") },
    { title: "Since", kind: "time", cell: (topic) => time(topic.since) },
    { title: "Because", kind: "long", cell: (topic) => topic.reason },
    { title: "Next try", kind: "time", cell: (topic) => due(topic.nextProbe) },
    { title: "Change", kind: "tight", cell: (topic) => topicActions(topic, context) },
  ], rows, "Every topic goes.");
}

function topicActions({ topic, route }, context) {
  return h("span", { class: "acts" }, tryButton(route, `topic-${route}-${topic}`, `Try topic ${topic} now`, context, "Try now"),
    act(`back-${route}-${topic}`, `Take back topic ${topic}`, () => takeBack(context, { topic, lane: route }), "Take back"));
}

function tagTable(tags, context) {
  return table("Paused tags", [
    { title: "Tag", kind: "name", cell: (tag) => tag.tag },
    { title: "Since", kind: "time", cell: (tag) => time(tag.since) },
    { title: "Held", kind: "number", cell: (tag) => count(tag.held) },
    { title: "Because", kind: "long", cell: (tag) => tag.reason },
    { title: "Change", kind: "tight", cell: (tag) => tag.tag && h("button", {
      type: "button", class: "small", "data-key": `tag-${tag.tag}`, "aria-label": `Resume tag ${tag.tag}`,
      onclick: () => resume(context, "tags", { tag: tag.tag }, `tag ${tag.tag}`),
    }, "Resume") },
  ], tags, "No tag is paused. Campaigns are paused on their own page.");
}

export async function reload(context) {
  if (!await mayChange()) return;
  try {
    const { routes } = await post("credentials/reload");
    const failed = routes.filter((route) => route.failure).map((route) => `${route.route}: ${route.failure}`);
    context.say(failed.length ? failed.join("; ") : `Credentials of ${plural(routes.length, "route")} were read again.`);
  } catch (error) { context.fail(error); }
  context.update();
}
