// How it stands: what is wrong, how much waits, and the last hour.
import { get } from "./api.js";
import { chart, spark } from "./chart.js";
import { block, h, replace, sentence, table, word } from "./dom.js";
import { ago, bytes, count, due, measure, span } from "./format.js";
import { live } from "./live.js";
import { remedies } from "./remedies.js";
import { retry } from "./sweep.js";
import { act } from "./view-lanes.js";

export const isLive = true;

export function show(content, context) {
  const [conditions, figures, charts, reasons] = [h("div", { class: "parts" }), h("div"), h("div", { class: "charts" }), h("div")];
  let hour = null;
  const draw = () => replace(charts, hourCharts(hour));
  const listener = ({ detail }) => {
    if (!content.isConnected) return live.removeEventListener("sample", listener);
    if (!hour || document.hidden) return;
    hour.current = detail;
    draw();
  };
  live.addEventListener("sample", listener);
  return async () => {
    const [status, service, samples] = await Promise.all([get("status"), get("service"), get("samples")]);
    hour = samples;
    if (!conditions.isConnected) {
      replace(content, block("State", conditions), block("Journal", figures), block("The last hour", charts), block("Rejected in the last hour, by reason", reasons));
    }
    replace(conditions, conditionList(status, service, context));
    replace(figures, figureList(status));
    draw();
    replace(reasons, reasonTable(hour, context));
  };
}

// Conditions that count refusals, where a notification that is submitted again counts again.
const refusing = ["journal-full", "disk-refusing", "database-away"];

/** What is wrong, worst first. A service that is not ready for another cause says so, too. */
function conditionList(status, service, context) {
  const items = [...(status.conditions ?? [])];
  if (!items.some((item) => item.severity === "fault")) {
    items.unshift(...service.obstacles.map((what) => ({ severity: "fault", what })));
  }
  const lead = items.some((item) => item.severity === "fault") ? "Not healthy: somebody has to act."
    : items.some((item) => item.severity === "warning") ? "Something to look at."
      : items.some((item) => item.kind?.endsWith("-paused")) ? "Healthy. Operators hold something up."
        : items.length > 0 ? "Healthy. Something to know." : "Healthy: nothing is held up.";
  return [h("p", null, h("strong", null, lead)), items.length > 0 && h("ul", { class: "conditions" }, items.map((item) =>
    h("li", { class: item.severity }, h("p", null, word(item.severity), item.kind ? ` ${item.kind}` : "", item.since ? ` since ${ago(item.since).replace(" ago", "")}` : "",
      item.affected ? `, ${count(item.affected)} ${refusing.includes(item.kind) ? "refusals" : "notifications"}` : "",
      due(item.nextTry) ? `, next try ${due(item.nextTry)}` : ""),
    h("p", { class: "what" }, sentence(item.what)), item.next && h("p", null, sentence(item.next)),
    item.command && h("p", null, h("code", null, item.command)), item.kind && remedies(item, context))))];
}

function figureList(status) {
  const oldest = status.lanes.map((lane) => lane.oldestAcceptedAt).filter(Boolean).sort()[0];
  const rows = [
    ["Waiting", count(status.unconfirmed), oldest ? `the oldest ${span((Date.now() - Date.parse(oldest)) / 1000)}` : null],
    ["Deferred", count(status.deferred), "of them, for a time"],
    ["Scheduled", count(status.scheduled ?? 0), "of them, for later"],
    ["Rejections", count(status.rejections), "refused for good"],
    ["Blacklist", count(status.blacklist), "tokens"],
    ["Accepted", count(status.totals.accepted), "ever"],
    ["Confirmed", count(status.totals.confirmed), "ever"],
    ["In use", bytes(status.usedBytes), status.limitBytes ? `of ${bytes(status.limitBytes)}` : null],
    ["Quarantined", status.quarantined ? count(status.quarantined) : null, "can't be read"],
  ];
  return h("dl", { class: "figures" }, rows.filter(([, value]) => value !== null).map(([name, value, note]) =>
    h("div", null, h("dt", null, name), h("dd", null, value, note && h("small", null, note)))));
}

function all(hour) { return hour.current ? [...hour.samples, hour.current] : hour.samples; }

function hourCharts(hour) {
  const samples = all(hour);
  if (samples.length === 0) return h("p", { class: "state" }, "Nothing was measured yet. The first figures come in a second.");
  const perSecond = (key) => (sample) => (sample.seconds > 0 ? sample[key] / sample.seconds : 0);
  const rate = (value) => `${measure(value)}/s`;
  const rejected = (sample) => Object.values(sample.rejected).reduce((sum, value) => sum + value, 0);
  return [
    chart("Submitted", samples, [{ name: "submitted", value: perSecond("submitted"), words: rate }]),
    chart("Confirmed", samples, [{ name: "confirmed", value: perSecond("confirmed"), words: rate }]),
    chart("Rejected", samples, [{ name: "rejected", value: (sample) => (sample.seconds > 0 ? rejected(sample) / sample.seconds : 0), words: rate }]),
    chart("Waiting", samples, [{ name: "waiting", value: (sample) => sample.unconfirmed, words: (value) => count(Math.round(value)) }]),
    chart("Oldest in its turn", samples, [{ name: "oldest", value: (sample) => sample.oldestSeconds ?? 0, words: span }]),
    chart("Accepted to confirmed", samples, [
      { name: "half within", value: (sample) => sample.latency?.p50 ?? null, words: span },
      { name: "99 % within", value: (sample) => sample.latency?.p99 ?? null, words: span },
    ]),
    chart("Connections", samples, [
      { name: "of senders", value: (sample) => sample.senderConnections, words: count },
      { name: "to push services", value: (sample) => sample.serviceConnections, words: count },
    ]),
  ];
}

function reasonTable(hour, context) {
  const sums = {};
  const samples = all(hour);
  for (const sample of samples) {
    for (const [reason, value] of Object.entries(sample.rejected)) sums[reason] = (sums[reason] ?? 0) + value;
  }
  return table("Rejections of the last hour by reason", [
    { title: "Reason", kind: "name", cell: ([reason]) => h("a", { href: `#/rejections?${new URLSearchParams({ reason })}` }, reason) },
    { title: "Count", kind: "number", cell: ([, value]) => count(value) },
    { title: "Course", cell: ([reason]) => spark(samples.map((sample) => sample.rejected[reason] ?? 0)) },
    { title: "Change", kind: "tight", cell: ([reason]) => act(`retry-${reason}`, `Send ${reason} again`, () => retry(context, { reason }), "Send again") },
  ], Object.entries(sums).sort((one, other) => other[1] - one[1]), "Nothing was rejected.");
}
